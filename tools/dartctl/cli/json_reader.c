// SPDX-License-Identifier: GPL-2.0-only
/* Reads JSON token by token: see json_reader.h. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>
#include <libdart/json_plain.h>

#include "json_reader.h"

/* An integer with this number of digits fits into 63 bits. */
#define DIGITS_PLAIN 18
#define MEMBERS_FIRST 16

enum expected {
	EXPECTED_VALUE,
	EXPECTED_FIRST,		/* the first element of an array, or its end */
	EXPECTED_FIRST_KEY,	/* the first key of an object, or its end */
	EXPECTED_MORE,		/* a comma or the end of the object, array or text */
	EXPECTED_NOTHING,	/* the text was invalid */
};

void json_reader__open(struct json_reader *reader, const char *text, size_t length)
{
	*reader = (struct json_reader){ .at = text, .end = text + length };
}

static enum json_token invalid(struct json_reader *reader)
{
	reader->expected = EXPECTED_NOTHING;
	reader->text = reader->at;
	reader->length = 0;
	return JSON_TOKEN_INVALID;
}

/* Skips blanks; returns the next byte, 0 at the end. */
static inline char peek(struct json_reader *reader)
{
	for (; reader->at < reader->end; reader->at++)
		if (*reader->at > ' ' || !strchr(" \t\n\r", *reader->at) || !*reader->at)
			return *reader->at;
	return 0;
}

static enum json_token take(struct json_reader *reader, size_t length, enum json_token token)
{
	reader->text = reader->at;
	reader->length = length;
	reader->at += length;
	return token;
}

/* Takes a token that ends a value. */
static enum json_token take_value(struct json_reader *reader, size_t length, enum json_token token)
{
	reader->expected = EXPECTED_MORE;
	return take(reader, length, token);
}

/* Does jansson take the @length bytes that come next? */
static bool is_valid_to_jansson(const struct json_reader *reader, size_t length)
{
	json_t *json = dart_json__loadb(reader->at, length, JSON_DECODE_ANY, NULL);

	json_decref(json);
	return json;
}

/* The length of the string that is next, with its quotes; 0 if it is not valid. */
static size_t string_length(struct json_reader *reader)
{
	const char *at = dart_json_plain__end(reader->at + 1, reader->end);

	reader->is_plain = at < reader->end && *at == '"';
	while (at < reader->end && *at != '"')
		at = dart_json_plain__end(at + (*at == '\\' ? 2 : 1), reader->end);
	if (at >= reader->end)
		return 0;
	at++;
	if (reader->is_plain || is_valid_to_jansson(reader, at - reader->at))
		return at - reader->at;
	return 0;
}

static inline size_t count_digits(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at - from;
}

/* The length of the number that is next; 0 if it is not valid. */
static size_t number_length(const struct json_reader *reader)
{
	const char *from = reader->at + (*reader->at == '-');
	size_t digits = count_digits(from, reader->end);
	const char *at = from + digits;

	if (digits && digits <= DIGITS_PLAIN && (*from != '0' || digits == 1) &&
	    (at == reader->end || (*at != '.' && *at != 'e' && *at != 'E')))
		return at - reader->at;
	while (at < reader->end && *at && strchr("0123456789+-.eE", *at))
		at++;
	return is_valid_to_jansson(reader, at - reader->at) ? at - reader->at : 0;
}

static enum json_token take_word(struct json_reader *reader, const char *word,
				 enum json_token token)
{
	const size_t length = strlen(word);

	if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length))
		return invalid(reader);
	return take_value(reader, length, token);
}

static enum json_token open_value(struct json_reader *reader, enum json_token token)
{
	const bool is_object = token == JSON_TOKEN_OBJECT;

	if (reader->depth == JSON_READER_DEPTH)
		return invalid(reader);
	reader->depth++;
	reader->objects &= ~(UINT64_C(1) << reader->depth);
	reader->objects |= (uint64_t)is_object << reader->depth;
	reader->expected = is_object ? EXPECTED_FIRST_KEY : EXPECTED_FIRST;
	return take(reader, 1, token);
}

static enum json_token take_any(struct json_reader *reader, char next)
{
	size_t length;

	switch (next) {
	case '"':
		length = string_length(reader);
		return length ? take_value(reader, length, JSON_TOKEN_STRING) : invalid(reader);
	case '-':
	case '0' ... '9':
		length = number_length(reader);
		return length ? take_value(reader, length, JSON_TOKEN_NUMBER) : invalid(reader);
	case '{':
		return open_value(reader, JSON_TOKEN_OBJECT);
	case '[':
		return open_value(reader, JSON_TOKEN_ARRAY);
	case 't':
		return take_word(reader, "true", JSON_TOKEN_TRUE);
	case 'f':
		return take_word(reader, "false", JSON_TOKEN_FALSE);
	case 'n':
		return take_word(reader, "null", JSON_TOKEN_NULL);
	default:
		return invalid(reader);
	}
}

/* Takes a key and the colon after it. */
static enum json_token take_key(struct json_reader *reader, char next)
{
	size_t length = next == '"' ? string_length(reader) : 0;

	if (!length)
		return invalid(reader);
	take(reader, length, JSON_TOKEN_KEY);
	if (peek(reader) != ':')
		return invalid(reader);
	reader->at++;
	reader->expected = EXPECTED_VALUE;
	return JSON_TOKEN_KEY;
}

/* Takes the end of the innermost object or array. */
static enum json_token take_end(struct json_reader *reader, char next, bool is_in_object)
{
	if (next != (is_in_object ? '}' : ']'))
		return invalid(reader);
	reader->depth--;
	return take_value(reader, 1, is_in_object ? JSON_TOKEN_OBJECT_END : JSON_TOKEN_ARRAY_END);
}

enum json_token json_reader__next(struct json_reader *reader)
{
	const bool is_in_object = reader->objects >> reader->depth & 1;
	char next = peek(reader);

	switch (reader->expected) {
	case EXPECTED_VALUE:
		return take_any(reader, next);
	case EXPECTED_MORE:
		if (!reader->depth)
			return reader->at == reader->end ? JSON_TOKEN_END : invalid(reader);
		if (next != ',')
			return take_end(reader, next, is_in_object);
		reader->at++;
		next = peek(reader);
		return is_in_object ? take_key(reader, next) : take_any(reader, next);
	case EXPECTED_FIRST_KEY:
		return next == '"' ? take_key(reader, next) : take_end(reader, next, true);
	case EXPECTED_FIRST:
		return next == ']' ? take_end(reader, next, false) : take_any(reader, next);
	default:
		return JSON_TOKEN_INVALID;
	}
}

/* The end of the plain string that begins at @at; NULL without one. */
static inline const char *plain_string_end(const char *at, const char *end)
{
	if (at == end || *at != '"')
		return NULL;
	at = dart_json_plain__end(at + 1, end);
	return at < end && *at == '"' ? at + 1 : NULL;
}

/* The end of the plain integer that begins at @at, with the next member or the end after it. */
static inline const char *plain_integer_end(const char *at, const char *end)
{
	const size_t digits = count_digits(at, end);
	const bool is_plain = digits && digits <= DIGITS_PLAIN && (*at != '0' || digits == 1);

	at += digits;
	return is_plain && at < end && (*at == ',' || *at == '}') ? at : NULL;
}

/* Where the key of the next member begins, with no blanks before it; NULL if none is there. */
static inline const char *next_key(const struct json_reader *reader)
{
	if (!(reader->objects >> reader->depth & 1) || reader->at == reader->end)
		return NULL;
	if (reader->expected == EXPECTED_FIRST_KEY)
		return reader->at;
	return reader->expected == EXPECTED_MORE && *reader->at == ',' ? reader->at + 1 : NULL;
}

/* Reads the member whose key begins at @key if it is simple. */
static inline bool take_simple(struct json_reader *reader, const char *key,
			       struct json_member *member)
{
	const char *const end = reader->end;
	const char *key_end = plain_string_end(key, end), *value_end;
	enum json_token token = JSON_TOKEN_STRING;

	if (!key_end || key_end == end || *key_end != ':')
		return false;
	value_end = plain_string_end(key_end + 1, end);
	if (!value_end) {
		token = JSON_TOKEN_NUMBER;
		value_end = plain_integer_end(key_end + 1, end);
	}
	if (!value_end || end - value_end < JSON_MEMBER_SLACK)
		return false;
	member->key = (struct json_span){ key, key_end - key, JSON_TOKEN_KEY, true };
	member->value = (struct json_span){ key_end + 1, value_end - key_end - 1, token, true };
	reader->at = value_end;
	return true;
}

static inline uint64_t load_word(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

/* Skips the member whose key begins at @key if @member, which may be zeros, is the same scalar. */
static inline bool take_again(struct json_reader *reader, const char *key,
			      const struct json_member *member)
{
	const char *const known = member->key.text;
	uint64_t different;
	size_t length, i;

	if (member->value.token < JSON_TOKEN_STRING)
		return false;
	length = member->value.text + member->value.length - known;
	if ((size_t)(reader->end - key) < length + JSON_MEMBER_SLACK)
		return false;
	for (i = 0; i < length; i += sizeof(different)) {
		different = load_word(key + i) ^ load_word(known + i);
		if (different && i + __builtin_ctzll(different) / 8 < length)
			return false;
	}
	/* A number may go on. */
	if (key[length] != ',' && key[length] != '}')
		return false;
	reader->at = key + length;
	return true;
}

size_t json_reader__simple(struct json_reader *reader, struct json_member *members, size_t most)
{
	size_t count = 0;
	const char *key;

	for (; count < most; count++) {
		key = next_key(reader);
		if (!key || (!take_again(reader, key, &members[count]) &&
			     !take_simple(reader, key, &members[count])))
			break;
		reader->expected = EXPECTED_MORE;
	}
	return count;
}

bool json_reader__rest(struct json_reader *reader, struct json_span *value)
{
	const unsigned int depth = reader->depth;

	if (value->token != JSON_TOKEN_OBJECT && value->token != JSON_TOKEN_ARRAY)
		return value->token > JSON_TOKEN_INVALID;
	do {
		if (json_reader__next(reader) == JSON_TOKEN_INVALID)
			return false;
	} while (reader->depth >= depth);
	value->length = reader->at - value->text;
	return true;
}

bool json_reader__value(struct json_reader *reader, struct json_span *value)
{
	value->token = json_reader__next(reader);
	value->text = reader->text;
	value->length = reader->length;
	value->is_plain = reader->is_plain;
	return json_reader__rest(reader, value);
}

/* Makes room for more members. */
static bool reserve(struct json_members *members)
{
	size_t capacity = members->capacity ? 2 * members->capacity : MEMBERS_FIRST;
	struct json_member *list;

	if (members->count < members->capacity)
		return true;
	list = reallocarray(members->list, capacity, sizeof(*list));
	if (!list)
		return false;
	memset(list + members->capacity, 0, (capacity - members->capacity) * sizeof(*list));
	members->list = list;
	members->capacity = capacity;
	return true;
}

bool json_reader__members(struct json_reader *reader, struct json_members *members)
{
	struct json_member *member;
	enum json_token token;

	for (members->count = 0; reserve(members); members->count++) {
		/* One place stays, for a member that is not simple. */
		members->count += json_reader__simple(reader, members->list + members->count,
						      members->capacity - members->count - 1);
		token = json_reader__next(reader);
		if (token != JSON_TOKEN_KEY)
			return token == JSON_TOKEN_OBJECT_END;
		member = &members->list[members->count];
		member->key = (struct json_span){ reader->text, reader->length, token,
						  reader->is_plain };
		if (!json_reader__value(reader, &member->value))
			break;
	}
	return false;
}

bool json_span__equals(const struct json_span *value, const char *text)
{
	const size_t length = strlen(text);

	return *value->text == '"' && value->length == length + 2 &&
	       !memcmp(value->text + 1, text, length);
}

const struct json_span *json_members__find(const struct json_members *members, const char *name)
{
	size_t i = members->count;

	while (i--)
		if (json_span__equals(&members->list[i].key, name))
			return &members->list[i].value;
	return NULL;
}

void json_members__clear(struct json_members *members)
{
	free(members->list);
	*members = (struct json_members){};
}

json_t *json_span__load(const struct json_span *value)
{
	return dart_json__loadb(value->text, value->length, JSON_DECODE_ANY, NULL);
}
