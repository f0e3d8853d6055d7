/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints JSON text anew, as print_json() prints a tree: in ASCII, indented by two blanks. */
#ifndef JSON_INDENT_H
#define JSON_INDENT_H

#include "json_reader.h"

/* Zeros are an empty text.  After a failed allocation all calls do nothing. */
struct json_indent {
	char *bytes;	/* without a NUL */
	size_t length, capacity;
	bool has_failed;
	unsigned int depth;	/* of objects and arrays that are open in the text */
	bool is_first;		/* the last token opened the innermost one */
	bool is_after_key;
};

/* Appends the last token of @reader. */
void json_indent__token(struct json_indent *out, const struct json_reader *reader,
			enum json_token token);
/*
 * Appends the next value of @reader; returns false if that is not valid.  json_indent__rest()
 * appends the rest of a value after its first token, which was the last one.
 */
bool json_indent__value(struct json_indent *out, struct json_reader *reader);
bool json_indent__rest(struct json_indent *out, struct json_reader *reader, enum json_token first);
/* Writes the text and a newline to stdout, and frees it.  Returns an exit status. */
int json_indent__print(struct json_indent *out);
void json_indent__clear(struct json_indent *out);

#endif /* JSON_INDENT_H */
