/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table in the making: the sections of a control region, each in memory of
 * its own, which grows at the end.  What is added is checked by the rules for
 * readers; adding an entry takes the same time however many there are.
 */
#ifndef DART_TABLE_BUILDER_H
#define DART_TABLE_BUILDER_H

#include "table_format.h"
#include "table_index.h"

struct dart_builder {
	struct {
		uint8_t *bytes;
		uint32_t count;		/* elements */
		uint32_t room;
	} sections[DART_SECTIONS];
	/* As in their section, to check ranges by. */
	struct dart_memory_region *memory_regions;
	struct dart_index names;	/* entries by name */
	struct dart_index schemas;	/* by all that they say */
	uint64_t data;			/* bytes of all copies */
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

struct dart_builder_mark dart_builder__mark(const struct dart_builder *builder);
/* Takes out what was added since. */
void dart_builder__rollback(struct dart_builder *builder,
			    const struct dart_builder_mark *mark);

#endif /* DART_TABLE_BUILDER_H */
