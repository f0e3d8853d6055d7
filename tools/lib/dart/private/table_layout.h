/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the sections of a control region lie, and how long they may get. */
#ifndef DART_TABLE_LAYOUT_H
#define DART_TABLE_LAYOUT_H

#include "table_builder.h"

/* All zeros is one of no table. */
struct dart_layout {
	uint32_t offsets[DART_SECTIONS];
	uint32_t rooms[DART_SECTIONS];	/* elements */
	uint32_t length;		/* of all */
};

/*
 * Makes room for what @builder has, and more @with_slack, as far as @capacity
 * goes.  -ENOSPC if it is too little, -EINVAL beyond DART_CONTROL_LENGTH_MAX.
 */
int dart_layout__make(struct dart_layout *layout,
		      const struct dart_builder *builder, size_t capacity,
		      bool with_slack);

/* Is there room for what @builder has? */
bool dart_layout__holds(const struct dart_layout *layout,
			const struct dart_builder *builder);

/* The header for it, but for the checksum; of @table, what is not in it. */
struct dart_control_header
dart_layout__header(const struct dart_layout *layout,
		    const struct dart_builder *builder,
		    const struct dart_table *table);

#endif /* DART_TABLE_LAYOUT_H */
