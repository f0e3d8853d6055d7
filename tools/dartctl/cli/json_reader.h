/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads JSON (RFC 8259) token by token, without a tree, for the replies of dartd that list many
 * objects.  A reply with 20,000 entries takes 220 instructions a byte to be read by jansson and 36
 * by libyajl, both above the goal of dartctl list by themselves, and 6 here; simdjson and RapidJSON
 * are C++, whose runtime each command would load.  Every byte is checked: a text is valid for this
 * reader if dart_json__loadb() takes it and it nests no deeper than JSON_READER_DEPTH.  Strings and
 * numbers that are more than plain are read by jansson.
 */
#ifndef JSON_READER_H
#define JSON_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No reply of dartd nests deeper than ten values. */
#define JSON_READER_DEPTH 60

enum json_token {
	JSON_TOKEN_END,		/* of the text */
	JSON_TOKEN_INVALID,	/* here and in all later calls */
	JSON_TOKEN_OBJECT,	/* { */
	JSON_TOKEN_OBJECT_END,
	JSON_TOKEN_ARRAY,	/* [ */
	JSON_TOKEN_ARRAY_END,
	JSON_TOKEN_KEY,		/* of a member, whose value is next */
	JSON_TOKEN_STRING,
	JSON_TOKEN_NUMBER,
	JSON_TOKEN_TRUE,
	JSON_TOKEN_FALSE,
	JSON_TOKEN_NULL,
};

struct json_reader {
	const char *at, *end;	/* the caller's text */
	uint64_t objects;	/* bit n: the value at depth n is an object, not an array */
	unsigned int depth;
	int expected;		/* see json_reader.c */
	/* The last token as it is in the text; strings and keys with their quotes. */
	const char *text;
	size_t length;
	bool is_plain;		/* a string or key: printable ASCII without escapes */
};

/* A text of one value. */
void json_reader__open(struct json_reader *reader, const char *text, size_t length);
enum json_token json_reader__next(struct json_reader *reader);

/* A value in the text, which it points into. */
struct json_span {
	const char *text;
	size_t length;
	enum json_token token;	/* the first of the value */
	bool is_plain;
};

struct json_member {
	struct json_span key, value;
};

/* Bytes of text after a simple member, which may be copied with it. */
#define JSON_MEMBER_SLACK 32

/*
 * Reads up to @most simple members: their keys are plain and their values plain strings or integers
 * without a sign, no blanks are in them, and at least JSON_MEMBER_SLACK bytes of the text follow.
 * @members are zeros, or members that were read from the same text before: a member that comes
 * again, byte for byte, stays where it was in the text.  So do most members of many objects.  Returns
 * how many were read; the rest is for json_reader__next().
 */
size_t json_reader__simple(struct json_reader *reader, struct json_member *members, size_t most);
/* Reads the next value whole; returns false if it is not valid. */
bool json_reader__value(struct json_reader *reader, struct json_span *value);
/* The end of the value whose first token, which was the last one, is in @value, likewise. */
bool json_reader__rest(struct json_reader *reader, struct json_span *value);

/* Zeros are an object without members. */
struct json_members {
	struct json_member *list;
	size_t count, capacity;
};

/*
 * Reads the members of an object whose first token was the last one.  @members are zeros, or those
 * of another object of the same text: members that did not change since then stay where they were
 * in the text.  Returns false if they are not valid or memory runs out.
 */
bool json_reader__members(struct json_reader *reader, struct json_members *members);
/* The last member called @name, which is plain; NULL if the object has no such member. */
const struct json_span *json_members__find(const struct json_members *members, const char *name);
void json_members__clear(struct json_members *members);

/* Is the value, or key, a string that equals @text, which is plain? */
bool json_span__equals(const struct json_span *value, const char *text);
/* The value as a tree, a new reference; NULL if out of memory. */
json_t *json_span__load(const struct json_span *value);

#endif /* JSON_READER_H */
