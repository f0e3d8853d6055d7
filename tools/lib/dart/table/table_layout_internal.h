/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The offsets of the sections of a control region, and their room to grow. */
#ifndef DART_TABLE_LAYOUT_H
#define DART_TABLE_LAYOUT_H

#include "table_builder_internal.h"

/* All zeros is the layout of no table. */
struct dart_layout {
	uint32_t offsets[DART_SECTIONS];
	uint32_t rooms[DART_SECTIONS];	/* elements */
	uint32_t length;		/* of the table, bytes */
};

/*
 * Lays out the sections of @builder, with room to grow within @capacity.
 * Returns 0, -ENOSPC if @capacity is too small, or -EINVAL beyond
 * DART_CONTROL_LENGTH_MAX.
 */
int dart_layout__make(struct dart_layout *layout,
		      const struct dart_builder *builder, size_t capacity);

/* Do the sections of @builder fit? */
bool dart_layout__holds(const struct dart_layout *layout, const struct dart_builder *builder);

/* The header without its checksum; @table has the members not in @layout. */
struct dart_control_header dart_layout__header(const struct dart_layout *layout,
					       const struct dart_builder *builder,
					       const struct dart_table *table);

#endif /* DART_TABLE_LAYOUT_H */
