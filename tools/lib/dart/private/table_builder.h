/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table in the making.  What is added is checked by the rules for readers;
 * adding an entry, or taking one out, takes the same time however many there
 * are.
 */
#ifndef DART_TABLE_BUILDER_H
#define DART_TABLE_BUILDER_H

#include <libdart/error.h>

#include "table_index.h"
#include "table_sections.h"

struct dart_builder {
	struct dart_sections sections;
	/* As in their section, to check ranges by. */
	struct dart_memory_region *memory_regions;
	uint32_t memory_region_room;
	struct dart_index names;	/* entries by name */
	struct dart_index schemas;	/* by all that they say */
	uint64_t data;			/* bytes of all copies */
	/* Of entries that were taken out. */
	uint32_t gone_entries;
	uint32_t gone_ranges;
};

/* How far a builder has come. */
struct dart_builder_mark {
	uint32_t counts[DART_SECTIONS];
	uint64_t data;
};

/* Empty.  -ENOMEM. */
int dart_builder__init(struct dart_builder *builder);
void dart_builder__release(struct dart_builder *builder);

/*
 * Adds the memory regions and the entries of @more; ranges count all memory
 * regions of the builder.  Schemas that say the same become one.  -EINVAL if
 * dart_table__decode() would refuse it, -ENOMEM; then nothing is added.
 */
int dart_builder__add(struct dart_builder *builder,
		      const struct dart_table *more);

/*
 * Marks the entry of this name as gone and says where it is.  -ENOENT; -EAGAIN
 * if more than half of the entries or ranges would be gone, and nothing is
 * done: time to make a new table.
 */
int dart_builder__remove(struct dart_builder *builder, const char *name,
			 uint32_t *index);

struct dart_builder_mark dart_builder__mark(const struct dart_builder *builder);
/* Takes out what was added since. */
void dart_builder__rollback(struct dart_builder *builder,
			    const struct dart_builder_mark *mark);

/* For the files of the builder, from table_schemas.c. */

/* What the functions that compare for an index are given. */
struct dart_wanted {
	const struct dart_builder *builder;
	const void *thing;
};

uint64_t dart_string__hash(const char *text, uint64_t seed);
/*
 * Says where @schema is, after adding it if none says the same.  -EINVAL,
 * -ENOMEM.
 */
int dart_builder__add_schema(struct dart_builder *builder,
			     const struct dart_schema *schema, uint32_t *index,
			     struct dart_error *error);

#endif /* DART_TABLE_BUILDER_H */
