/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of a control region as a program handles it: written by the agent,
 * decoded and checked by a controller.  The format is <dart/control.h>.
 */
#ifndef DART_TABLE_H
#define DART_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/control.h>
#include <libdart/error.h>

#include "schema.h"

struct dart_memory_region {
	uint64_t address;
	uint64_t length;	/* bytes */
	uint32_t rkey;
};

/* Members as in struct dart_control_range, in the machine's byte order. */
struct dart_range {
	uint64_t address;
	uint64_t stride;
	uint32_t memory_region;
	uint32_t first_copy;
	uint32_t copies;
	uint32_t offset;
	uint32_t length;
};

struct dart_entry {
	const char *name;
	const struct dart_schema *schema;
	enum dart_control_entry_kind kind;
	enum dart_control_lifetime lifetime;
	enum dart_control_copies copies_are;
	uint32_t copies;
	struct dart_range *ranges;
	uint32_t range_count;
};

/*
 * Whoever fills one in by hand owns all that it points at;
 * dart_table__decode() makes one that owns everything itself.
 */
struct dart_table {
	uint64_t generation;
	uint64_t instance;
	int64_t clock_offset_ns;
	uint8_t host_id[16];
	uint8_t boot_id[16];
	enum dart_control_exposure exposure;
	uint32_t cpus;
	uint32_t page_size;
	uint32_t lease_ms;
	struct dart_memory_region *memory_regions;
	uint32_t memory_region_count;
	struct dart_entry *entries;
	uint32_t entry_count;
};

/*
 * Writes @table into @region by the rules of <dart/control.h> for a table that
 * is being READ meanwhile; @region is 8-byte aligned.  @table->generation must
 * have been raised.  Schemas that say the same are written once.  One caller at
 * a time; <libdart/table/table_writer.h> does the same for a table that grows.  Returns
 * the bytes written; -ENOSPC if they are more than @capacity, -EINVAL if
 * dart_table__decode() would refuse the result (too many, too long, a field
 * outside the ranges), -ENOMEM: then @region is unchanged.
 */
int dart_table__publish(const struct dart_table *table, void *region,
			size_t capacity);

/*
 * Checks @length hostile bytes and makes a table of them, which the caller
 * frees with dart_table__free().  The bytes must not change meanwhile: pass a
 * private copy.  Trailing bytes behind table_length are ignored.  Returns 0;
 * -EAGAIN if the table was being changed while it was fetched, or is damaged
 * (fetch it again, a few times), -EPROTONOSUPPORT for another ABI version,
 * -EMSGSIZE if table_length is more than @length (@needed, if not NULL, then
 * holds it), -EBADMSG for anything else that is wrong, -ENOMEM; and a sentence
 * in @error.
 */
int dart_table__decode(const void *bytes, size_t length,
		       struct dart_table **table, size_t *needed,
		       struct dart_error *error);
void dart_table__free(struct dart_table *table);

/*
 * Does the header at @bytes (sizeof(struct dart_control_header)) belong to the
 * very table that was decoded?  Returns 0, -ESTALE if it has changed or is
 * being changed, -ECONNRESET if it is of another run of the agent or no table.
 */
int dart_table__same(const struct dart_table *table, const void *bytes);

const struct dart_entry *dart_table__find(const struct dart_table *table,
					  const char *name);

#endif /* DART_TABLE_H */
