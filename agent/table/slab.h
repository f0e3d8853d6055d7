/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slabs: pages of the region that are lent to processes for their slices.  One is created for the
 * first and stays: a host without slices spends no memory on it.  Other slabs come from an earlier
 * dartd, with slices that processes still use, and are removed with the last of these.  Each is
 * exposed as a whole, so that slices need no memory regions.
 */
#ifndef SLAB_H
#define SLAB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <linux/dart_zero.h>

#include <libdart/error.h>
#include "exposure.h"
#include "agent/region/region.h"

/* 64 MiB. */
#define SLAB_PAGES 16384

struct slab {
	TAILQ_ENTRY(slab) link;
	struct slabs *slabs;
	struct dart_zero_extent extent;
	uint32_t slices; /* in the region */
	bool is_lasting; /* lends more slices; others end with their last slice */
};

/* The slab that was created comes first: adopted ones become empty. */
struct slabs {
	TAILQ_HEAD(, slab) list;
	struct region *region;
	struct exposure *exposure;
};

void slabs__open(struct slabs *slabs, struct region *region, struct exposure *exposure);
/* After slab__take_back() of all slices. */
void slabs__close(struct slabs *slabs);

/* Lends all pages of a new *@slab, which ends with the slice; the caller closes @slice->fd. */
int slabs__lend_alone(struct slabs *slabs, uint32_t pages, struct dart_zero_slice *slice,
		      struct slab **slab, struct dart_error *error);
/* Lends @pages of *@slab; the caller closes @slice->fd. */
int slabs__lend(struct slabs *slabs, uint32_t pages, struct dart_zero_slice *slice,
		struct slab **slab, struct dart_error *error);

/*
 * Takes over the slice @fd, which an earlier dartd lent.  -EINVAL: it is not a slice; -EEXIST: it
 * is in the region already, as @slice->id; -EBUSY: it, or its slab, is in another region.
 */
int slabs__adopt(struct slabs *slabs, int fd, struct dart_zero_slice *slice,
		 struct slab **slab, struct dart_error *error);

/* Memory regions over the pages stay valid if the slab stays. */
void slab__take_back(struct slab *slab, uint32_t slice);

#endif /* SLAB_H */
