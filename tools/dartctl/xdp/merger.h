/* SPDX-License-Identifier: GPL-2.0-only */
/* The XDP program that adds up the strips of sketchers instead of reporting: see <dart/sketch.h>. */
#ifndef MERGER_H
#define MERGER_H

#include <libdart/error.h>
#include <libdart/report/sketch_target.h>

#include "maps.h"

/* The sketchers of a file but the translator itself. */
struct xdp_merger {
	struct dart_sketch_target target;	/* part of the translator */
	uint32_t count;
	struct reporter_source sources[DART_SKETCH_PARTS_MAX]; /* by address */
};

/*
 * Reads the sketch for the translator at @address and its sketchers from the file at @path, and
 * makes @collectors of it: the only collector, which has share 0, is that of the sketch.  Returns 0,
 * or -errno with a sentence in @error; -EINVAL if the sketch has no other sketcher.
 */
int xdp_merger__load(const char *path, struct in_addr address, struct xdp_merger *merger,
		     struct dart_collectors *collectors, struct dart_error *error);
/* How the program adds up the strips, before a sum is as old as @age_ns. */
struct reporter_merging xdp_merger__merging(const struct xdp_merger *merger, uint64_t age_ns);
/* Fills the map @sketchers, which is empty.  Returns 0 or -errno. */
int xdp_merger__fill(const struct xdp_merger *merger, int sketchers);
/*
 * Gives the translator on @interface the queue pairs of its sketchers.  Returns 0, or -errno with a
 * sentence in @error; -EINVAL if the file has other sketchers than before.
 */
int xdp_merger__follow(const char *interface, const struct xdp_merger *merger,
		       struct dart_error *error);

#endif /* MERGER_H */
