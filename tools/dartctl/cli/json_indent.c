// SPDX-License-Identifier: GPL-2.0-only
/* Indents JSON while it is read: see json_indent.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>

#include "json_indent.h"
#include "message.h"

#define INDENT 2
#define CAPACITY_FIRST 4096
#define BLANKS_30 "                              "
/* Members that are read at once, more than an entry has. */
#define MEMBERS_MOST 16

void json_indent__clear(struct json_indent *out)
{
	free(out->bytes);
	*out = (struct json_indent){};
}

static bool grow(struct json_indent *out, size_t length)
{
	size_t capacity = out->capacity ?: CAPACITY_FIRST;
	char *grown;

	if (out->has_failed)
		return false;
	while (capacity - out->length < length)
		capacity *= 2;
	grown = realloc(out->bytes, capacity);
	if (!grown) {
		out->has_failed = true;
		return false;
	}
	out->bytes = grown;
	out->capacity = capacity;
	return true;
}

/* Returns where @length more bytes go; NULL if out of memory. */
static inline char *room(struct json_indent *out, size_t length)
{
	if (out->capacity - out->length < length && !grow(out, length))
		return NULL;
	return out->bytes + out->length;
}

/* The end of a line and the indentation of the next one. */
static const char line_end[] = ",\n" BLANKS_30 BLANKS_30 BLANKS_30 BLANKS_30;

_Static_assert(sizeof(line_end) > 2 + INDENT * JSON_READER_DEPTH, "indent the deepest value");

/*
 * Copies @length bytes to @to and returns their end.  JSON_MEMBER_SLACK more bytes are at both
 * places: most texts are shorter, and are copied with some of them.
 */
static inline char *copy(char *to, const char *from, size_t length)
{
	if (length > JSON_MEMBER_SLACK)
		return mempcpy(to, from, length);
	memcpy(to, from, JSON_MEMBER_SLACK);
	return to + length;
}

/* Begins a line at @to, where JSON_MEMBER_SLACK bytes are left after it. */
static inline char *begin_line(const struct json_indent *out, char *to, bool has_comma)
{
	const size_t blanks = (size_t)out->depth * INDENT;

	return copy(to, line_end + !has_comma, has_comma + strlen("\n") + blanks);
}

/* Appends @bytes after a comma and on a new line, and a colon, as the arguments say. */
static void append(struct json_indent *out, const char *bytes, size_t length, bool has_comma,
		   bool has_line, bool has_colon)
{
	char *to = room(out, sizeof(line_end) + length + strlen(": ") + JSON_MEMBER_SLACK);

	if (!to)
		return;
	if (has_line)
		to = begin_line(out, to, has_comma);
	to = mempcpy(to, bytes, length);
	if (has_colon)
		to = mempcpy(to, ": ", 2);
	out->length = to - out->bytes;
}

/* A string that has escapes, or characters beyond ASCII, as a new text; NULL if out of memory. */
static char *ascii_string(const struct json_reader *reader)
{
	const struct json_span span = { .text = reader->text, .length = reader->length };
	json_t *json = json_span__load(&span);
	char *text = json ? dart_json__dumps(json, JSON_ENCODE_ANY) : NULL;

	json_decref(json);
	return text;
}

void json_indent__token(struct json_indent *out, const struct json_reader *reader,
			enum json_token token)
{
	const bool is_end = token == JSON_TOKEN_OBJECT_END || token == JSON_TOKEN_ARRAY_END;
	const bool is_text = token == JSON_TOKEN_KEY || token == JSON_TOKEN_STRING;
	const bool was_first = out->is_first, was_key = out->is_after_key;
	bool has_line, has_comma;
	char *text = NULL;

	out->depth -= is_end;
	/* Brackets without anything between them stay together. */
	has_line = !was_key && (is_end ? !was_first : out->depth);
	has_comma = has_line && !is_end && !was_first;
	if (is_text && !reader->is_plain) {
		text = ascii_string(reader);
		out->has_failed |= !text;
	}
	append(out, text ?: reader->text, text ? strlen(text) : reader->length, has_comma, has_line,
	       token == JSON_TOKEN_KEY);
	free(text);
	out->is_after_key = token == JSON_TOKEN_KEY;
	out->is_first = token == JSON_TOKEN_OBJECT || token == JSON_TOKEN_ARRAY;
	out->depth += out->is_first;
}

static void append_member(struct json_indent *out, const struct json_member *member)
{
	char *to = room(out, sizeof(line_end) + member->key.length + strlen(": ") +
				     member->value.length + JSON_MEMBER_SLACK);

	if (!to)
		return;
	to = begin_line(out, to, !out->is_first);
	to = copy(to, member->key.text, member->key.length);
	*to++ = ':';
	*to++ = ' ';
	to = copy(to, member->value.text, member->value.length);
	out->length = to - out->bytes;
	out->is_first = false;
}

bool json_indent__rest(struct json_indent *out, struct json_reader *reader, enum json_token first)
{
	const unsigned int depth = reader->depth;
	struct json_member members[MEMBERS_MOST] = {};
	enum json_token token = first;
	size_t count, i;

	json_indent__token(out, reader, token);
	if (token != JSON_TOKEN_OBJECT && token != JSON_TOKEN_ARRAY)
		return token > JSON_TOKEN_INVALID;
	do {
		count = json_reader__simple(reader, members, MEMBERS_MOST);
		for (i = 0; i < count; i++)
			append_member(out, &members[i]);
		token = json_reader__next(reader);
		if (token == JSON_TOKEN_INVALID)
			return false;
		json_indent__token(out, reader, token);
	} while (reader->depth >= depth);
	return true;
}

bool json_indent__value(struct json_indent *out, struct json_reader *reader)
{
	return json_indent__rest(out, reader, json_reader__next(reader));
}

int json_indent__print(struct json_indent *out)
{
	const bool has_failed = out->has_failed;

	if (!has_failed) {
		fwrite(out->bytes, 1, out->length, stdout);
		putchar('\n');
	}
	json_indent__clear(out);
	return has_failed ? fail__out_of_memory() : EXIT_SUCCESS;
}
