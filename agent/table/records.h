/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gathered records: they lie side by side on pages of the region, which are exposed as a
 * whole, so that records need no memory regions and one READ fetches many.  Pages are
 * added when all of them are full, and stay.  A record is removed with its entry: then the next
 * record may take its place, so no controller reads it any more.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <libdart/error.h>
#include <linux/dart_zero.h>

#include "agent/region/region.h"
#include "agent/schema/source_schemas.h"
#include "entry.h"
#include "exposure.h"

/*
 * Bytes of the pages that are added to @bytes: 1 MiB at first, so that all records of most hosts
 * are side by side, and each time as many as there are: up to 16 MiB.
 */
static inline uint64_t records__next_bytes(uint64_t bytes)
{
	const uint64_t wanted = bytes + (UINT64_C(1) << 20), most = UINT64_C(16) << 20;

	return wanted < most ? wanted : most;
}

struct records {
	struct region *region;
	struct exposure *exposure;
	struct dart_zero_extent *pages;
	uint32_t count;		/* of @pages */
	uint64_t *online;	/* room for a set of CPUs */
};

int records__open(struct records *records, struct region *region,
		  struct exposure *exposure, struct dart_error *error);
/* All entries of records have been freed. */
void records__close(struct records *records);

/*
 * As entry__new_source(), for a source that is gathered: gathers the selected counters into a
 * record, and describes its rows in use.
 */
int records__new_entry(struct records *records, struct source_schemas *schemas,
		       const struct selector *selector, struct entry **entry,
		       struct dart_error *error);

/* The rows that records__new_entry() would describe. */
struct record_size {
	uint32_t rows;
	uint32_t row_bytes;
	bool has_more_rows;	/* possibly: only a record tells */
};

/*
 * Tells the size of a record of the selected counters, and makes none.  Its errors are the reasons
 * why no record is possible.
 */
int records__measure(struct records *records, struct source_schemas *schemas,
		     const struct selector *selector, struct record_size *size,
		     struct dart_error *error);

/* Memory of a process, as struct dart_zero_record selects it. */
struct process_memory {
	pid_t pid;
	const struct dart_zero_location *locations;
	uint32_t location_count;
};

/* Lets the module gather @memory into a record with @layout, and sets the extent of @entry. */
int records__add_process(struct records *records, const struct process_memory *memory,
			 const struct record_layout *layout, uint32_t gather_ms,
			 struct entry *entry, struct dart_error *error);

/* How many of @rows for CPUs are in use: one for each online CPU. */
uint32_t records__rows_in_use(const struct records *records, uint32_t rows);

#endif /* RECORDS_H */
