/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of a control region: an agent writes it by table_writer.h, a
 * controller decodes and checks it.  <dart/control.h> describes the format.
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
	uint64_t since;		/* generation; 0 is written as the table's */
	/* In the section of entries, set by dart_table__decode(): others may be gone. */
	uint32_t place;
};

/*
 * Pointers in a table that a program fills in are owned by the program; a table
 * from dart_table__decode() owns all its memory.
 */
struct dart_table {
	uint64_t generation;
	uint64_t instance;
	int64_t clock_offset_ns;
	uint8_t host_id[16];
	uint8_t boot_id[16];
	char node_name[DART_CONTROL_NODE_NAME_MAX];	/* NULs to the end */
	enum dart_control_exposure exposure;
	uint32_t cpus;
	/* As in <dart/control.h>; NULL in a table that a program fills in: all, none. */
	const uint64_t *online;
	const uint64_t *nohz_full;
	uint32_t page_size;
	uint32_t lease_ms;
	struct dart_memory_region *memory_regions;
	uint32_t memory_region_count;
	struct dart_entry *entries;
	uint32_t entry_count;
	/* All entries, sorted; NULL in a table that a program fills in. */
	const struct dart_entry **by_name;
};

/*
 * Checks @length hostile bytes and decodes them to a table, which the caller frees with
 * dart_table__free().  The bytes must not change during the call: pass a private copy.  Bytes after
 * table_length are ignored.  Returns 0, or sets @error and returns -EAGAIN if the table was being
 * changed while it was fetched, or is damaged (fetch it again, a few times), -EPROTONOSUPPORT for
 * another ABI version, -EMSGSIZE if table_length exceeds @length (@needed, if not NULL, is then set
 * to it), -EBADMSG for any other violation, or -ENOMEM.
 */
int dart_table__decode(const void *bytes, size_t length, struct dart_table **table, size_t *needed,
		       struct dart_error *error);
/* Entries, and their ranges and fields, that dart_table__decode_added() takes. */
#define DART_TABLE_ADDED_MAX	64
#define DART_TABLE_ADDED_PARTS	4096
/*
 * The same for the entries alone that are newer than @generation, and their schemas and ranges, in
 * less time.  The rest of the table is not checked, but its checksum: other entries may have the
 * same names.  -EFBIG: there are too many of them.
 */
int dart_table__decode_added(const void *bytes, size_t length, uint64_t generation,
			     struct dart_table **table, struct dart_error *error);
void dart_table__free(struct dart_table *table);

/*
 * Lets the entries of a decoded @table have schemas that others hold, and frees its own, and
 * all strings but the names of entries.  @replacement is called for each schema that an
 * entry has, once; it returns an equal one that outlives the table, or NULL.  Returns 0, or
 * -ENOMEM, also if it returned NULL: then the table is as it was.  Once only.
 */
typedef const struct dart_schema *dart_schema_replacement(void *data,
							  const struct dart_schema *schema);
int dart_table__replace_schemas(struct dart_table *table, dart_schema_replacement *replacement,
				void *data);

/*
 * Does the header at @bytes (sizeof(struct dart_control_header)) belong to the
 * decoded @table?  Returns 0, -ESTALE if the table has changed or is being
 * changed, -ECONNRESET if the header is of another run of the agent or invalid.
 */
int dart_table__same(const struct dart_table *table, const void *bytes);

/* Words of each set of CPUs, and whether CPU @cpu < @table->cpus is in it. */
uint32_t dart_table__cpu_words(const struct dart_table *table);
bool dart_table__is_online(const struct dart_table *table, uint32_t cpu);
bool dart_table__is_nohz_full(const struct dart_table *table, uint32_t cpu);

const struct dart_entry *dart_table__find(const struct dart_table *table, const char *name);

/*
 * Counts the entries of @old whose names are not in @now, and sets @first to the
 * first of these names, which @old owns, in alphabetical order.  Both tables are
 * decoded ones; one pass over both.
 */
uint32_t dart_table__count_removed(const struct dart_table *old, const struct dart_table *now,
				   const char **first);

#endif /* DART_TABLE_H */
