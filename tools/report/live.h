/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of the packets of flows that arrive at an interface: see bpf/flow_counter.bpf.c. */
#ifndef REPORT_LIVE_H
#define REPORT_LIVE_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/sketch/sketch.h>

#include "bpf/flow_counter.h"

struct live;

/*
 * Counts the packets that arrive at the interface from now on: of each flow, or in the columns of
 * @sketch unless it is NULL.  Returns 0, or -errno with a sentence in @error.
 */
int live__open(const char *interface, const struct dart_sketch_geometry *sketch,
	       struct live **live, struct dart_error *error);
/* @live may be NULL. */
void live__close(struct live *live);

/* Stops counting; the sums stay. */
void live__end(struct live *live);

/*
 * Calls @take for each flow with the packets that arrived since the last call.  Returns 0, -errno,
 * or the first value other than 0 that @take returns: then the sums of some flows are gone.
 */
int live__drain(struct live *live,
		int (*take)(void *argument, const uint8_t *key, size_t length, uint64_t packets),
		void *argument);

/* The same for a sketch: adds the columns to @sketcher.  Returns 0 or -errno. */
int live__drain_columns(struct live *live, struct dart_sketcher *sketcher);

/*
 * Packets that belong to no flow, packets of flows that found no room, and packets that were
 * counted in columns.
 */
struct flow_counter_rest live__rest(const struct live *live);

#endif /* REPORT_LIVE_H */
