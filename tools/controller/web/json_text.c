// SPDX-License-Identifier: GPL-2.0-only
/* Writes JSON: see json_text.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

#include "json_text.h"

#define CAPACITY_FIRST 1024

void json_text__clear(struct json_text *text)
{
	free(text->bytes);
	*text = (struct json_text){};
}

static void append(struct json_text *text, const char *bytes, size_t length)
{
	size_t capacity = text->capacity ?: CAPACITY_FIRST;
	char *grown;

	if (text->has_failed)
		return;
	while (capacity - text->length < length && capacity <= SIZE_MAX / 2)
		capacity *= 2;
	if (capacity != text->capacity) {
		grown = capacity - text->length < length ? NULL : realloc(text->bytes, capacity);
		if (!grown) {
			text->has_failed = true;
			return;
		}
		text->bytes = grown;
		text->capacity = capacity;
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

void json_text__put(struct json_text *text, const char *literal)
{
	append(text, literal, strlen(literal));
}

static bool is_escaped(unsigned char byte)
{
	return byte < 0x20 || byte == 0x7f || strchr("\"\\<>&", byte);
}

void json_text__string(struct json_text *text, const char *string)
{
	const unsigned char *at = (const unsigned char *)string;
	size_t left = strlen(string), length;
	char escaped[8];

	append(text, "\"", 1);
	while (left) {
		length = dart_escape__character(at, left);
		if (!length || (length == 1 && is_escaped(*at))) {
			/* Bytes that are not UTF-8 become \xHH, as everywhere: see escape.h. */
			snprintf(escaped, sizeof(escaped), length ? "\\u%04x" : "\\\\x%02x", *at);
			json_text__put(text, escaped);
			length = 1;
		} else {
			append(text, (const char *)at, length);
		}
		at += length;
		left -= length;
	}
	append(text, "\"", 1);
}

void json_text__number(struct json_text *text, double number)
{
	char digits[32];

	if (!isfinite(number)) {
		json_text__put(text, "null");
		return;
	}
	snprintf(digits, sizeof(digits), "%.15g", number);
	if (strtod(digits, NULL) != number)
		snprintf(digits, sizeof(digits), "%.17g", number);
	json_text__put(text, digits);
}

void json_text__rounded(struct json_text *text, double number)
{
	char digits[32];

	if (!isfinite(number)) {
		json_text__put(text, "null");
		return;
	}
	snprintf(digits, sizeof(digits), "%.5g", number);
	json_text__put(text, digits);
}

void json_text__integer(struct json_text *text, int64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, number);
	json_text__put(text, digits);
}

void json_text__time(struct json_text *text, int64_t time_us)
{
	char digits[32];

	if (time_us % 1000)
		snprintf(digits, sizeof(digits), "%" PRId64 ".%03d", time_us / 1000,
			 abs((int)(time_us % 1000)));
	else
		snprintf(digits, sizeof(digits), "%" PRId64, time_us / 1000);
	json_text__put(text, digits);
}
