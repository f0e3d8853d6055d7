/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON with integers up to 2^64 - 1.  Jansson's end at 2^63 - 1: a larger one is a string in
 * memory, U+E000 and its digits, which the functions below print as an integer and make of an
 * integer that they read.  No string of dartd contains U+E000.
 */
#ifndef DART_JSON_H
#define DART_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * As json_dumps(), which leaves out what it finds no memory for, and succeeds: this returns the
 * whole text, or NULL.  The caller frees it.
 */
static inline char *dart_json__print(const json_t *json, size_t flags)
{
	const size_t length = json_dumpb(json, NULL, 0, flags);
	char *text = length ? malloc(length + 1) : NULL;

	if (text && json_dumpb(json, text, length, flags) == length) {
		text[length] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

/* A new reference; NULL if out of memory. */
json_t *dart_json__unsigned(uint64_t value);
/* The digits of one above 2^63 - 1; NULL for any other value. */
const char *dart_json__digits(const json_t *json);

/* As dart_json__print() with JSON_ENSURE_ASCII. */
char *dart_json__dumps(const json_t *json, size_t flags);
/* As json_loadb(). */
json_t *dart_json__loadb(const char *text, size_t length, size_t flags, json_error_t *error);

#endif /* DART_JSON_H */
