/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slab: pages of the region that are lent to processes as slices.  Made, and
 * opened to controllers, when the first slice is wanted: on hosts without slices
 * it takes no memory, and one more slice takes no memory region.
 */
#ifndef SLAB_H
#define SLAB_H

#include <stdint.h>

#include <linux/dart_zero.h>

#include <libdart/error.h>
#include "exposure.h"
#include "agent/region/region.h"

/* 64 MiB: a slice takes a page at least. */
#define SLAB_PAGES 16384

struct slab {
	struct region *region;
	struct exposure *exposure;
	uint32_t id;		/* of the extent, 0 before there is one */
};

void slab__open(struct slab *slab, struct region *region,
		struct exposure *exposure);

/* Lends pages for @length bytes: the caller closes @slice->fd. */
int slab__lend(struct slab *slab, uint32_t length,
	       struct dart_zero_slice *slice, struct dart_error *error);

#endif /* SLAB_H */
