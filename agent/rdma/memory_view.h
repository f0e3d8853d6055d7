/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view of remote memory: as one peer, or all that may do the same, can reach it.  Each uses its
 * own protection domain, key and random address, so that none tells anything about another one, and
 * all three become invalid when the view is closed.
 */
#ifndef MEMORY_VIEW_H
#define MEMORY_VIEW_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#include "device.h"

struct memory_view {
	struct ibv_pd *pd;	/* NULL if the view is closed */
	struct ibv_mr *memory_region;
	uint64_t base;		/* address of the first byte */
};

/* @access: of ibv_reg_mr(3).  @base: 0 for a random one. */
int memory_view__open(struct memory_view *view, const struct device *device, void *memory,
		      size_t length, int access, uint64_t base, struct dart_error *error);
/* Keeps @base.  Does nothing if the view is closed. */
void memory_view__close(struct memory_view *view);

#endif /* MEMORY_VIEW_H */
