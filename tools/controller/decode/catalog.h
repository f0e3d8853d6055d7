/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A catalog: what the tables of equal hosts have in common, held once.  These are the
 * entries, their schemas, which of them are scraped, and where their values land.
 *
 * What differs between equal hosts is each target's own: the header of the table (instance,
 * generation, boot, name, clock, CPUs), and the READs, for each host has other addresses and
 * rkeys.  Addresses count relative to their memory region, and its length does not,
 * unless they change where a READ begins, and so where values land.  So the table in a
 * catalog has the addresses of the host that had it first, of which only differences are
 * used.
 *
 * Schemas are also held once by themselves: hosts that differ in one entry, such as a
 * container, still share them.
 *
 * Immutable once it is shared; the last holder frees it, in any thread.
 */
#ifndef CONTROLLER_CATALOG_H
#define CONTROLLER_CATALOG_H

#include <libdart/rdma/read_plan.h>
#include <libdart/table/table.h>

#include "shared_schema.h"

/* Those of a controller.  One thread makes catalogs; all are released before. */
struct catalogs {
	struct content_store catalogs;
	struct content_store schemas;
};

/* Returns 0 or -errno; catalogs__close() in both cases, and also of zeros. */
int catalogs__open(struct catalogs *catalogs);
void catalogs__close(struct catalogs *catalogs);

struct catalog {
	struct content content; /* first; content__release() */
	struct dart_table *table;
	struct dart_read_plan *plan;
	uint32_t *wanted; /* indices of entries */
	uint32_t wanted_count;
	struct shared_schema **schemas; /* that it holds */
	uint32_t schema_count;
};

/*
 * Takes @table, and @wanted, which free() frees, also on failure.  The caller is the only
 * holder, and may look at the addresses of the plan until it shares the catalog.  Without
 * @catalogs the catalog and its schemas remain its own.  Returns 0; -ENOMEM; or
 * -EFBIG if the READs would exceed DART_CONTROL_DATA_MAX bytes: then the catalog is there,
 * but has no plan.
 */
int catalog__new(struct catalogs *catalogs, struct dart_table *table, uint32_t *wanted,
		 uint32_t wanted_count, struct catalog **catalog);
/* An equal one, or this; the caller's hold moves there.  NULL if out of memory. */
struct catalog *catalog__share(struct catalogs *catalogs, struct catalog *catalog);

#endif /* CONTROLLER_CATALOG_H */
