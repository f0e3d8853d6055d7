/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exposure: the memory regions that open extents to RDMA READ, and to nothing
 * else.
 *
 *   exact  each entry has memory regions over exactly its bytes: a peer with
 *          the rkeys can read these bytes only
 *   page   one memory region covers the used part of the region: one READ
 *          fetches everything, neighbouring kernel data included.  It is
 *          recreated when an extent is added or removed, because a registration
 *          pins the pages that are present at that time
 */
#ifndef EXPOSURE_H
#define EXPOSURE_H

#include <infiniband/verbs.h>

#include <dart/control.h>
#include <libdart/error.h>
#include <libdart/table/table.h>

#include "agent/base/counts.h"
#include "agent/base/lease.h"
#include "agent/region/region.h"

struct entry;

/* The memory region over a slab, and its index in the published table and in the next one. */
struct shared_region {
	struct ibv_mr *memory_region;
	uint32_t place, next;	/* EXPOSURE_UNLISTED: it is not in the table */
};

#define EXPOSURE_UNLISTED UINT32_MAX

struct exposure {
	enum dart_control_exposure mode;
	struct ibv_pd *pd;	/* NULL without RDMA device: no rkeys */
	const struct region *region;
	struct leases *leases;
	struct memory_counts *counts;

	/* Page exposure: in the table now, and in the next one. */
	struct page_exposure *page;
	struct page_exposure *next;
	bool has_next;
	TAILQ_HEAD(, page_exposure) retired;	/* on lease */
	uint64_t changes;	/* region->changes when @page was made, or 0 */

	/*
	 * Over memory of each client and, in exact exposure, over each slab, which only has slices
	 * or records.
	 */
	struct shared_region *slabs;
	uint32_t slab_count;

	uint64_t shared_changes;	/* of memory regions that entries share, but not of slabs */

	/*
	 * The difference from an address of dartd to its RDMA address, random: addresses in the
	 * table do not tell how the memory of dartd is laid out.
	 */
	uint64_t shift;
};

/* @base: the RDMA address of the region, or 0, which chooses one. */
int exposure__open(struct exposure *exposure, uint64_t base, enum dart_control_exposure mode, struct ibv_pd *pd,
		   const struct region *region, struct leases *leases, struct memory_counts *counts,
		   struct dart_error *error);
/* After all entries are withdrawn. */
void exposure__close(struct exposure *exposure);

/*
 * From now on memory is registered in @pd, NULL if the RDMA device is gone: registers again the
 * memory regions that entries share.  No peer may be connected meanwhile.  After an error some
 * regions are unchanged; the next call changes these as well.
 */
int exposure__change_device(struct exposure *exposure, struct ibv_pd *pd, struct dart_error *error);
/* The same for another memory region that @exposure registered. */
int exposure__exchange(const struct exposure *exposure,
		       struct ibv_mr **memory_region, struct dart_error *error);

/*
 * Opens the slab @extent, or memory of a client after the region, so that slices of it, or records,
 * need no separate memory regions.
 */
int exposure__open_slab(struct exposure *exposure, const struct dart_zero_extent *extent,
			struct dart_error *error);
/*
 * When no entry in the table or on lease is a slice of it.  The table lists the memory region, to
 * which nothing refers, until it is rewritten.
 */
void exposure__close_slab(struct exposure *exposure, const struct dart_zero_extent *extent);

/* Create and remove the entry's own memory regions, if it needs any. */
int exposure__expose(struct exposure *exposure, struct entry *entry, struct dart_error *error);
void exposure__withdraw(const struct exposure *exposure, struct entry *entry);

/*
 * To call around the publication of a table: prepare the memory region over the
 * current extents; if the table is published, commit, which retires the
 * previous memory region after a lease; otherwise roll back, which drops the
 * new one.
 */
int exposure__prepare(struct exposure *exposure, struct dart_error *error);
/* Would exposure__prepare() create another memory region? */
bool exposure__is_stale(const struct exposure *exposure);
void exposure__commit(struct exposure *exposure);
void exposure__rollback(struct exposure *exposure);

/*
 * The ranges of the entry in a table after exposure__prepare().  @first: index
 * in the table of the first of the entry's own memory regions.
 */
uint32_t exposure__range_count(const struct exposure *exposure, const struct entry *entry);
void exposure__ranges(const struct exposure *exposure, const struct entry *entry, uint32_t first,
		      struct dart_range *ranges);
/*
 * Gives each memory region that entries share its place in the next table, and calls @add, which
 * returns 0 or -errno, for each region that the next table has to add, in the order of the places.
 * With @is_rewritten these are all regions, from place 0 on: the region of page exposure, if there
 * is one, then one for each slab.  Otherwise they are the regions that the published table lacks,
 * from @first on.
 */
int exposure__place_shared(struct exposure *exposure, bool is_rewritten, uint32_t first,
			   int (*add)(void *context, struct ibv_mr *memory_region), void *context);
/* That table was published, or was not. */
void exposure__settle_shared(struct exposure *exposure, bool is_published);
/* The RDMA address of the region. */
uint64_t exposure__base(const struct exposure *exposure);

/* Translate between the memory of dartd and the addresses at which controllers see it. */
uint64_t exposure__address(const struct exposure *exposure, const void *memory);
const void *exposure__memory(const struct exposure *exposure, uint64_t address);

/* Registers memory for RDMA READ; returns NULL and sets errno on error. */
struct ibv_mr *exposure__register(const struct exposure *exposure, const void *memory,
				  size_t length);
void exposure__deregister(const struct exposure *exposure, struct ibv_mr *memory_region);

#endif /* EXPOSURE_H */
