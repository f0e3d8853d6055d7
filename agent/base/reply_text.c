// SPDX-License-Identifier: GPL-2.0-only
/* Writes the text of a long reply: see reply_text.h. */
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>
#include <libdart/json_plain.h>

#include "reply_text.h"

#define CAPACITY_FIRST 4096
/* Digits of 2^64 - 1. */
#define DIGITS_MAX 20

void reply_text__clear(struct reply_text *text)
{
	free(text->bytes);
	*text = (struct reply_text){ };
}

/* Makes room for @length more bytes; returns false if out of memory. */
static bool grow(struct reply_text *text, size_t length)
{
	size_t capacity = text->capacity ?: CAPACITY_FIRST;
	char *grown;

	if (text->has_failed)
		return false;
	while (capacity - text->length < length && capacity <= SIZE_MAX / 2)
		capacity *= 2;
	grown = capacity - text->length < length ? NULL : realloc(text->bytes, capacity);
	if (!grown) {
		text->has_failed = true;
		return false;
	}
	text->bytes = grown;
	text->capacity = capacity;
	return true;
}

/* Returns where @length more bytes go; NULL if out of memory. */
static inline char *room(struct reply_text *text, size_t length)
{
	if (text->capacity - text->length < length && !grow(text, length))
		return NULL;
	return text->bytes + text->length;
}

void reply_text__append(struct reply_text *text, const char *bytes, size_t length)
{
	char *to = room(text, length);

	if (!to)
		return;
	memcpy(to, bytes, length);
	text->length += length;
}

void reply_text__put(struct reply_text *text, const char *literal)
{
	reply_text__append(text, literal, strlen(literal));
}

/* Copies @key to @to, where it has room, and returns its end; a constant size needs no call. */
static inline char *copy_key(char *to, const struct reply_key *key)
{
	memcpy(to, key->text, sizeof(key->text));
	return to + key->length;
}

void reply_text__string(struct reply_text *text, const struct reply_key *key, const char *string)
{
	const size_t length = strlen(string);
	const bool is_plain = dart_json_plain__end(string, string + length) == string + length;
	char *to = room(text, sizeof(key->text) + length + strlen("\"\""));

	if (!to)
		return;
	to = copy_key(to, key);
	if (is_plain) {
		*to++ = '"';
		to = mempcpy(to, string, length);
		*to++ = '"';
	}
	text->length = to - text->bytes;
	if (!is_plain)
		reply_text__json(text, json_string(string));
}

void reply_text__integer(struct reply_text *text, const struct reply_key *key, uint64_t number)
{
	char *to = room(text, sizeof(key->text) + DIGITS_MAX), *digit;
	uint64_t least;

	if (!to)
		return;
	to = copy_key(to, key);
	for (digit = to + 1, least = 10; number >= least && digit < to + DIGITS_MAX; least *= 10)
		digit++;
	text->length = digit - text->bytes;
	do {
		*--digit = '0' + number % 10;
		number /= 10;
	} while (digit > to);
}

void reply_text__json(struct reply_text *text, json_t *json)
{
	char *printed = json ? dart_json__dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	json_decref(json);
	if (printed)
		reply_text__put(text, printed);
	else
		text->has_failed = true;
	free(printed);
}

void reply_text__begin(struct reply_text *text, const char *key)
{
	reply_text__put(text, "{\"ok\":true,\"version\":\"" DART_VERSION "\",\"");
	reply_text__put(text, key);
	reply_text__put(text, "\":");
}

char *reply_text__end(struct reply_text *text, size_t *length)
{
	char *line = NULL;

	reply_text__put(text, "}\n");
	if (!text->has_failed) {
		line = text->bytes;
		*length = text->length;
		text->bytes = NULL;
	}
	reply_text__clear(text);
	return line;
}
