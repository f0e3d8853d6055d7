/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries from untrusted text: CSV, or JSON.
 *
 * The first line of CSV (RFC 4180) names the fields, each field of key and value once; a line for
 * each entry follows, and empty lines are skipped.  JSON is one array of objects, or a sequence of
 * objects; each contains all fields, as numbers, strings or, if they consist of many elements,
 * arrays of these.  See text.h for the text of a field.
 */
#ifndef LOOKUP_PARSER_H
#define LOOKUP_PARSER_H

#include <stdbool.h>

#include "text.h"

/* Most characters of one entry. */
#define LOOKUP_PARSER_ENTRY_MAX 65536

/* The text that has been read and not parsed; the parser advances @at. */
struct lookup_span {
	const char *at, *end;
	bool is_last; /* no text follows */
};

struct lookup_parser;

/*
 * Writes the next entry, key and value one after the other, to @entry.  Returns 1, 0 at the end,
 * -EAGAIN if @span ends within an entry and is not the last one: then span->at has not moved.  Or
 * sets @error, a sentence, and returns -EINVAL; parser->line is the line of the mistake.
 */
typedef int lookup_parser_next(struct lookup_parser *parser, struct lookup_span *span,
			    uint8_t *entry, struct dart_error *error);

struct lookup_parser {
	const struct lookup_layout *layout;
	lookup_parser_next *next;
	uint64_t line; /* of the next character, from 1 */

	/* CSV: the fields of the columns; there are none before the line of names. */
	uint32_t columns[LOOKUP_FIELDS_MAX];
	uint32_t column_count;
	char cell[LOOKUP_TEXT_MAX]; /* a cell or string without its quotation marks and escapes */

	/* JSON: has an array begun, or ended; did an object precede the next character? */
	bool is_array, is_ended, is_behind;
};

lookup_parser_next lookup_csv__next;
lookup_parser_next lookup_json__next;

/* @layout outlives the parser. */
void lookup_parser__init(struct lookup_parser *parser,
		      const struct lookup_layout *layout, lookup_parser_next *next);

#endif /* LOOKUP_PARSER_H */
