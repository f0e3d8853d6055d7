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
	/* Other memory, that peers may still use after memory_view__turn(); or NULL. */
	struct ibv_mr *former;
	uint64_t base;		/* address of the first byte */
};

/* @access: of ibv_reg_mr(3).  @base: 0 for a random one. */
int memory_view__open(struct memory_view *view, const struct device *device, void *memory,
		      size_t length, int access, uint64_t base, struct dart_error *error);
/*
 * Lets the same peers, by the same queue pairs, reach other @memory under another key and a random
 * address as well.  The caller has opened the view and ended the former memory.  An error leaves
 * the view as it was.
 */
int memory_view__turn(struct memory_view *view, void *memory, size_t length, int access,
		      struct dart_error *error);
/* Invalidates the key of the former memory.  Does nothing if the view has no former memory. */
void memory_view__end_former(struct memory_view *view);
/* Keeps @base.  Does nothing if the view is closed. */
void memory_view__close(struct memory_view *view);

#endif /* MEMORY_VIEW_H */
