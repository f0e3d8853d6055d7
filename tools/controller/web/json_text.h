/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes JSON (RFC 8259), for answers with many thousands of numbers. jansson makes all other JSON
 * of the controller, except values of samples (value.h of libdart), which are printed for each
 * scrape: jansson would first build a tree in memory, ten times as large as the text.  Texts may be
 * hostile: quotes, control characters and the characters with a meaning in HTML (< > &) get JSON's
 * escapes, and bytes that are not UTF-8 become \xHH (escape.h of libdart).
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

/* Empties the text, and keeps its memory for the next one. */
static inline void json_text__reset(struct json_text *text)
{
	text->length = 0;
}

void json_text__clear(struct json_text *text);
/* Appends @literal unescaped: punctuation, and names that are known to be harmless. */
void json_text__put(struct json_text *text, const char *literal);
void json_text__string(struct json_text *text, const char *string);
/* Appends the shortest decimal number that reads as the same double; null if it is not finite. */
void json_text__number(struct json_text *text, double number);
/* Appends five significant digits, which are enough for a plot. */
void json_text__rounded(struct json_text *text, double number);
void json_text__integer(struct json_text *text, int64_t number);
/* Appends microseconds as milliseconds with up to three decimals. */
void json_text__time(struct json_text *text, int64_t time_us);

#endif /* CONTROLLER_JSON_TEXT_H */
