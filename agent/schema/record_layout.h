/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a gathered record, see <linux/dart_zero.h>: the fields of a copy in the
 * words of a row, behind its sequences and its time.
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
 * Of a record that has the fields of @copy, integers of one element each.
 * @number_name: the field of each row with its number; NULL: there is one row.  -E2BIG:
 * they are more than a row can have.
 */
int record_layout__init(struct record_layout *layout,
			const struct dart_schema *copy,
			const char *number_name, struct dart_error *error);
void record_layout__clear(struct record_layout *layout);

#endif /* RECORD_LAYOUT_H */
