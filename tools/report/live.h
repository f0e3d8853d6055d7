/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of the packets of flows that arrive at an interface: see bpf/flow_counter.bpf.c. */
#ifndef REPORT_LIVE_H
#define REPORT_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

struct live;

/*
 * Counts the packets that arrive at the interface from now on.  Returns 0, or -errno with a
 * sentence in @error.
 */
int live__open(const char *interface, struct live **live, struct dart_error *error);
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

/* Packets that belong to no flow, and packets of flows that found no room. */
void live__rest(const struct live *live, uint64_t *others, uint64_t *crowded);

#endif /* REPORT_LIVE_H */
