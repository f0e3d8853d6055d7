/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries from text of strangers: CSV, or JSON.
 *
 * CSV (RFC 4180) has a line of names of fields in front, each field of key and value once,
 * and a line for each entry; empty lines are skipped.  JSON is one array of objects, or
 * objects one behind the other; each has all fields, as numbers, strings or, for those with
 * many elements, arrays of these.  See text.h for the text of a field.
 */
#ifndef LOOKUP_PARSER_H
#define LOOKUP_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/* Characters of one entry, at most. */
#define LOOKUP_PARSER_ENTRY_MAX 65536

/* What has been read and not parsed; the parser moves at. */
struct lookup_span {
	const char *at, *end;
	bool is_last; /* nothing follows */
};

struct lookup_parser;

/*
 * Writes the next entry, key and value one after the other, to @entry.  Returns 1, 0 at the
 * end, -EAGAIN if @span ends within an entry and is not the last one: then at has not
 * moved.  Or it sets @error, a sentence, and returns -EINVAL; parser->line is where.
 */
typedef int lookup_parser_next(struct lookup_parser *parser, struct lookup_span *span,
			    uint8_t *entry, struct dart_error *error);

struct lookup_parser {
	const struct lookup_layout *layout;
	lookup_parser_next *next;
	uint64_t line; /* of what comes next, from 1 */

	/* CSV: the fields of its columns; no columns: the names are still to come. */
	uint32_t columns[LOOKUP_FIELDS_MAX];
	uint32_t column_count;
	char cell[LOOKUP_TEXT_MAX]; /* one that had quotation marks or escapes */

	/* JSON: has the array begun, or ended; is an object in front of what comes? */
	bool is_array, is_ended, is_behind;
};

lookup_parser_next lookup_csv__next;
lookup_parser_next lookup_json__next;

/* @layout outlives the parser. */
void lookup_parser__init(struct lookup_parser *parser,
		      const struct lookup_layout *layout, lookup_parser_next *next);

#endif /* LOOKUP_PARSER_H */
