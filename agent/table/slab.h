/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slab: pages of the region that are lent to processes as slices.  Created
 * and exposed for the first slice: a host without slices spends no memory on
 * it, and further slices need no memory region.
 */
#ifndef SLAB_H
#define SLAB_H

#include <stdint.h>

#include <linux/dart_zero.h>

#include <libdart/error.h>
#include "exposure.h"
#include "agent/region/region.h"

/* 64 MiB: a slice takes at least one page. */
#define SLAB_PAGES 16384

struct slab {
	struct region *region;
	struct exposure *exposure;
	uint32_t id;	/* of the extent; 0 before it is created */
};

void slab__open(struct slab *slab, struct region *region,
		struct exposure *exposure);

/* Lends pages for @length bytes; the caller closes @slice->fd. */
int slab__lend(struct slab *slab, uint32_t length,
	       struct dart_zero_slice *slice, struct dart_error *error);

#endif /* SLAB_H */
