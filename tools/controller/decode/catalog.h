/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A catalog: everything that the tables of equal hosts share, kept in memory once: the entries,
 * their schemas, the list of entries to scrape, and the places where their values land.
 *
 * Each target keeps its own copy of everything that differs between equal hosts: the header of the
 * table (instance, generation, boot, name, clock, CPUs), and the READs, because addresses and rkeys
 * differ from host to host. Catalogs compare addresses relative to their memory region, and ignore
 * the region's address and length, unless these change where a READ begins, and so where values
 * land. The table in a catalog holds the addresses of the host that created it, and only
 * differences between these addresses are used.
 *
 * Schemas are shared separately as well: two hosts that differ in one entry, such as a container,
 * still share their schemas.
 *
 * A catalog is immutable once it is shared; its last holder frees it, in any thread.
 */
#ifndef CONTROLLER_CATALOG_H
#define CONTROLLER_CATALOG_H

#include <libdart/rdma/read_plan.h>
#include <libdart/table/table.h>

#include "shared_schema.h"

/*
 * All catalogs and schemas of a controller. One thread makes catalogs; their holders release them
 * all before catalogs__close().
 */
struct catalogs {
	struct content_store catalogs;
	struct content_store schemas;
};

/* Returns 0 or -errno. Call catalogs__close() in both cases; it also accepts a zeroed struct. */
int catalogs__open(struct catalogs *catalogs);
void catalogs__close(struct catalogs *catalogs);

struct catalog {
	struct content content; /* first member; release with content__release() */
	struct dart_table *table;
	struct dart_read_plan *plan;
	uint32_t *wanted; /* indices of the entries to scrape */
	uint32_t wanted_count;
	struct shared_schema **schemas; /* that this catalog holds */
	uint32_t schema_count;
};

/*
 * Takes ownership of @table and of @wanted, also on failure; @wanted is freed with free(). The
 * caller is the only holder, and may read the addresses of the plan until it shares the catalog. If
 * @catalogs is NULL, the catalog and its schemas stay private to the caller. Returns 0; -ENOMEM; or
 * -EFBIG if the READs would exceed DART_CONTROL_DATA_MAX bytes: then the catalog is created without
 * a plan.
 */
int catalog__new(struct catalogs *catalogs, struct dart_table *table, uint32_t *wanted,
		 uint32_t wanted_count, struct catalog **catalog);
/*
 * Returns an equal shared catalog, or @catalog itself once it is shared; moves the caller's hold to
 * the returned one. NULL if out of memory.
 */
struct catalog *catalog__share(struct catalogs *catalogs, struct catalog *catalog);

#endif /* CONTROLLER_CATALOG_H */
