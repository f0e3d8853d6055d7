/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the parser of JSON is, and the strings there. */
#ifndef TEA_JSON_CURSOR_H
#define TEA_JSON_CURSOR_H

#include <errno.h>

#include "parser.h"

/* Of one call; when it succeeds, the parser and its span get line and at. */
struct tea_json_cursor {
	struct tea_parser *parser;
	const char *at, *end;
	bool is_last;
	uint64_t line;
	struct dart_error *error;
	size_t used; /* characters in parser->cell */
};

/* Sets the error, a format and its arguments, and the line; returns -EINVAL. */
#define tea_json_cursor__refuse(cursor, ...)      \
	((cursor)->parser->line = (cursor)->line, \
	 dart_error__set((cursor)->error, EINVAL, __VA_ARGS__))

/* The text ends here, within an entry: returns -EAGAIN if there is more, or refuses it. */
int tea_json_cursor__ends(const struct tea_json_cursor *cursor);

/* Adds a byte to the cell.  Returns 0, or refuses it. */
int tea_json_cursor__put(struct tea_json_cursor *cursor, uint8_t byte);
/*
 * Adds the characters of a string to the cell, without escapes; its first quotation mark has
 * been taken.  Returns 0 or -errno, as above.
 */
int tea_json_cursor__copy_string(struct tea_json_cursor *cursor);

#endif /* TEA_JSON_CURSOR_H */
