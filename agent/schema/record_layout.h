/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a gathered record (see <linux/dart_zero.h>): a row has sequences, the time, and
 * then the fields of a copy in words.
 */
#ifndef RECORD_LAYOUT_H
#define RECORD_LAYOUT_H

#include <libdart/error.h>
#include <libdart/table/schema.h>
#include <linux/dart_zero.h>

struct record_layout {
	struct dart_schema *schema;	/* of a row */
	struct dart_zero_piece *pieces;	/* of a copy */
	uint32_t piece_count;
};

/*
 * For a record with the fields of @copy, each an integer or a text.  @number_name is the name of
 * the field with a row's number; NULL if the record has one row.  -E2BIG: the fields do not fit
 * into a row.
 */
int record_layout__init(struct record_layout *layout, const struct dart_schema *copy,
			const char *number_name, struct dart_error *error);
/* Each field of @copy, with which the layout was made, lies at its offset in @offsets instead. */
void record_layout__move(struct record_layout *layout, const struct dart_schema *copy,
			 const uint32_t offsets[]);
void record_layout__clear(struct record_layout *layout);

#endif /* RECORD_LAYOUT_H */
