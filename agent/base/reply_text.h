/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of a reply that may have many thousands of elements, written while they are walked: a
 * tree of them would take ten times the memory of the text, and the loop of dartd waits meanwhile.
 * The text is JSON in ASCII, byte for byte as dart_json__dumps() prints it with JSON_COMPACT.
 */
#ifndef REPLY_TEXT_H
#define REPLY_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of a member of many objects as it is written before its value, such as ,"name": */
struct reply_key {
	char text[24];	/* without escapes; copied with the zeros after it */
	size_t length;
};

/* @before: the comma or bracket before the member. */
#define REPLY_KEY(before, name)                                                     \
	{                                                                           \
		before "\"" name "\":", sizeof(before "\"" name "\":") - 1          \
	}

/* Zeros are an empty text.  After a failed allocation reply_text__end() fails. */
struct reply_text {
	char *bytes;	/* without a NUL */
	size_t length;
	size_t capacity;
	bool has_failed;
};

/* Writes {"ok": true, "version": V, @key: as far as the value, which follows. */
void reply_text__begin(struct reply_text *text, const char *key);
/*
 * Ends the reply and its line.  Returns the line, which the caller frees, and its @length; NULL if
 * out of memory.  The text is empty then.
 */
char *reply_text__end(struct reply_text *text, size_t *length);
void reply_text__clear(struct reply_text *text);

/* Appends @length bytes unescaped: punctuation and quoted names of members. */
void reply_text__append(struct reply_text *text, const char *bytes, size_t length);
void reply_text__put(struct reply_text *text, const char *literal);
/* Appends a member with its @key; @string is UTF-8. */
void reply_text__string(struct reply_text *text, const struct reply_key *key, const char *string);
void reply_text__integer(struct reply_text *text, const struct reply_key *key, uint64_t number);
/* Appends @json, whose reference it takes; NULL counts as out of memory. */
void reply_text__json(struct reply_text *text, json_t *json);

#endif /* REPLY_TEXT_H */
