/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON (RFC 8259) as it is written, for answers of many thousand numbers.  All other JSON of the
 * controller is made by jansson, except values of samples (value.h of libdart), which are printed
 * for each scrape: jansson would build a tree in memory first, ten times as large as the text.
 * Texts may be hostile: quotes, control characters and what HTML gives a meaning (< > &) are
 * escaped as JSON has it, and bytes that are not UTF-8 become \xHH (escape.h of libdart).
 */
#ifndef CONTROLLER_JSON_TEXT_H
#define CONTROLLER_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeros are an empty text.  After a failed allocation all calls do nothing. */
struct json_text {
	char *bytes; /* without a NUL */
	size_t length;
	size_t capacity;
	bool has_failed;
};

/* Keeps the memory for the next text. */
static inline void json_text__reset(struct json_text *text)
{
	text->length = 0;
}

void json_text__clear(struct json_text *text);
/* As it is: punctuation and names that are known to be harmless. */
void json_text__put(struct json_text *text, const char *literal);
void json_text__string(struct json_text *text, const char *string);
/* The shortest decimal number that reads as the same double; null if it is not finite. */
void json_text__number(struct json_text *text, double number);
/* With five significant digits: enough for a plot. */
void json_text__rounded(struct json_text *text, double number);
void json_text__integer(struct json_text *text, int64_t number);
/* Microseconds, as milliseconds with up to three decimals. */
void json_text__time(struct json_text *text, int64_t time_us);

#endif /* CONTROLLER_JSON_TEXT_H */
