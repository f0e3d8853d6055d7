/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control region of a host of the farm, which libdart writes as it does for an agent:
 * the entries of farm_values.h, and an extra entry that comes and goes.
 */
#ifndef FARM_TABLE_H
#define FARM_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include <libdart/error.h>
#include <libdart/table/table_writer.h>

#include "farm_values.h"

/* The number and the name of the entry that comes and goes. */
#define FARM_EXTRA_NAME	"farm:extra"
static inline uint32_t farm_shape__extra(const struct farm_shape *shape)
{
	return shape->entries;
}

#define FARM_NAME_MAX	32	/* bytes of the name of an entry, with a NUL */
void farm_entry__name(const struct farm_shape *shape, uint32_t entry,
		      char name[FARM_NAME_MAX]);

struct farm_table {
	const struct farm_shape *shape;
	const struct dart_schema *schema;
	uint32_t host, epoch;
	struct dart_table_writer *writer;
	struct dart_memory_region values;
	uint32_t memory_regions;	/* in the table */
	uint64_t generation;
	uint32_t used;			/* bytes */
	bool has_extra;
};

/* Bytes that a control region needs, whole pages. */
size_t farm_table__capacity(const struct farm_shape *shape);

/*
 * Publishes the table of @epoch of @host in @memory, farm_table__capacity() bytes, with
 * values in @values, farm_shape__size() bytes.  The caller owns @shape and @schema.
 */
int farm_table__open(struct farm_table *table, void *memory, const struct farm_shape *shape,
		     const struct dart_schema *schema, uint32_t host, uint32_t epoch,
		     const struct dart_memory_region *values, struct dart_error *error);
void farm_table__close(struct farm_table *table);

/* Publishes the next generation, with the extra entry in @extra or without it. */
int farm_table__add(struct farm_table *table, const struct dart_memory_region *extra,
		    struct dart_error *error);
int farm_table__remove(struct farm_table *table, struct dart_error *error);

#endif /* FARM_TABLE_H */
