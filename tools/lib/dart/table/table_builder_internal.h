/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sections of a table under construction.  Everything that is added is
 * checked by the rules for readers.  Adding or removing an entry takes constant
 * time.
 */
#ifndef DART_TABLE_BUILDER_H
#define DART_TABLE_BUILDER_H

#include <libdart/error.h>

#include "table_index_internal.h"
#include "table_sections_internal.h"

struct dart_builder {
	struct dart_sections sections;
	/* As in their section; ranges are checked against them. */
	struct dart_memory_region *memory_regions;
	uint32_t memory_region_room;
	struct dart_index names;	/* entries by name */
	struct dart_index schemas;	/* by their content */
	uint64_t data;			/* bytes of all copies */
	/* Of removed entries. */
	uint32_t gone_entries;
	uint32_t gone_ranges;
};

/* The size of a builder, to roll back to. */
struct dart_builder_mark {
	uint32_t counts[DART_SECTIONS];
	uint64_t data;
};

/* Makes an empty builder.  Returns 0 or -ENOMEM. */
int dart_builder__init(struct dart_builder *builder);
void dart_builder__release(struct dart_builder *builder);

/*
 * Adds the memory regions and the entries of @more; their ranges index all memory regions of the
 * builder.  Equal schemas become one.  Returns 0, -EAGAIN if the CPU sets differ from the sets of
 * @more, -EINVAL if dart_table__decode() would refuse the result, or -ENOMEM; after an error
 * nothing is added.
 */
int dart_builder__add(struct dart_builder *builder, const struct dart_table *more);

/* A removed entry: its index, and the element that was there. */
struct dart_builder_removal {
	uint32_t index;
	struct dart_control_entry entry;
};

/*
 * Marks the entry with this name as removed by @generation, and tells by @removal how to
 * undo that.  Returns 0; -ENOENT; -EAGAIN, without a change, if more than half of the
 * entries or ranges would be removed ones: the table should be rewritten.
 */
int dart_builder__remove(struct dart_builder *builder, const char *name, uint64_t generation,
			 struct dart_builder_removal *removal);
/* After all that was added since has been rolled back. */
void dart_builder__undo_removal(struct dart_builder *builder,
				const struct dart_builder_removal *removal);

struct dart_builder_mark dart_builder__mark(const struct dart_builder *builder);
/* Removes everything that was added since the mark. */
void dart_builder__rollback(struct dart_builder *builder, const struct dart_builder_mark *mark);

/* ---- from table_schemas.c, for the builder */

/* The context of functions that compare for an index. */
struct dart_wanted {
	const struct dart_builder *builder;
	const void *thing;
};

uint64_t dart_string__hash(const char *text, uint64_t seed);
/*
 * Sets the @index of @schema, which is added if there is no equal one.  Returns
 * 0, -EINVAL or -ENOMEM.
 */
int dart_builder__add_schema(struct dart_builder *builder, const struct dart_schema *schema,
			     uint32_t *index, struct dart_error *error);

#endif /* DART_TABLE_BUILDER_H */
