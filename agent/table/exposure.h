/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exposure: the memory regions that open extents to RDMA READ, and to nothing
 * else.
 *
 *   exact  each entry has memory regions over its very bytes: whoever holds
 *          the rkeys can read these and nothing beside them
 *   page   one memory region over the whole region as far as it is filled: one
 *          READ fetches everything, neighbouring kernel data included.  It is
 *          made anew whenever an extent comes or goes, because a registration
 *          pins the pages that it has found
 */
#ifndef EXPOSURE_H
#define EXPOSURE_H

#include <infiniband/verbs.h>

#include <dart/control.h>
#include <libdart/table/table.h>

#include "agent/base/lease.h"
#include <libdart/error.h>
#include "agent/region/region.h"
#include "entry.h"

struct exposure {
	enum dart_control_exposure mode;
	struct ibv_pd *pd;
	const struct region *region;
	struct leases *leases;

	/* Page exposure: what is in the table, and what will be. */
	struct page_exposure *page;
	struct page_exposure *next;
	bool has_next;
	uint64_t changes;	/* of the region, that @page knows */

	/* Exact exposure: over the slab, whose pages are nobody else's. */
	struct ibv_mr *slab;
};

void exposure__open(struct exposure *exposure, enum dart_control_exposure mode,
		    struct ibv_pd *pd, const struct region *region,
		    struct leases *leases);
/* After all entries are withdrawn. */
void exposure__close(struct exposure *exposure);

/*
 * Opens the slab @extent, once: what is lent of it then needs no memory region
 * of its own.
 */
int exposure__open_slab(struct exposure *exposure,
			const struct dart_zero_extent *extent,
			struct dart_error *error);

/* Makes and drops the entry's own memory regions, if any. */
int exposure__expose(struct exposure *exposure, struct entry *entry,
		     struct dart_error *error);
void exposure__withdraw(struct entry *entry);

/*
 * Around the publication of a table: prepares the memory region that shows the
 * extents as they are now; then, if the table with it could be published,
 * retires the one before, otherwise drops the new one.
 */
int exposure__prepare(struct exposure *exposure, struct dart_error *error);
void exposure__commit(struct exposure *exposure);
void exposure__rollback(struct exposure *exposure);

/*
 * What a table shows of the entry after exposure__prepare(): how many memory
 * regions of its own and ranges, and what they are.  @first is the index of
 * the first of its memory regions in the table.
 */
uint32_t exposure__range_count(const struct exposure *exposure,
			       const struct entry *entry);
void exposure__ranges(const struct exposure *exposure,
		      const struct entry *entry, uint32_t first,
		      struct dart_range *ranges);
/*
 * The memory region that many entries are in, the first in the table: that of
 * page exposure or of the slab.  NULL if there is none.
 */
struct ibv_mr *exposure__shared_memory_region(const struct exposure *exposure);

/* Registers memory for RDMA READ; NULL and errno. */
struct ibv_mr *exposure__register(struct ibv_pd *pd, const void *memory,
				  size_t length);

#endif /* EXPOSURE_H */
