/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets of many flows through a switch with a cache: libdart computes the share of each
 * flow, the sketch finds popular flows as the P4 program does, and dartctl's code
 * decides which of them are cached.  Nothing but the packets is invented.
 */
#ifndef PAPERS_CACHED_TRAFFIC_H
#define PAPERS_CACHED_TRAFFIC_H

#include <stdint.h>

#include <dart/tea.h>

struct cached_traffic {
	uint32_t flows;
	double skew;		/* of the Zipf distribution of packets by flow */
	uint32_t cache;		/* entries; 0: no cache */
	uint32_t threshold;	/* lowest threshold, packets of a period */
	uint64_t period;	/* packets */
	uint32_t warm;		/* periods before the measured ones */
	uint32_t periods;	/* that are measured */
	uint64_t seed;		/* of the keys and of the order of packets */
};

struct cached_load {
	uint64_t packets;
	uint64_t absorbed;	/* of these, by the cache */
	double best;	/* fraction that a cache of the most popular flows would absorb */
	uint64_t reports;	/* of popular keys */
	uint64_t exchanges;	/* of cached keys */
	uint64_t all[DART_TEA_SHARES];		/* packets by share */
	uint64_t missed[DART_TEA_SHARES];	/* of these, looked up at servers */
};

/* Exits the program if out of memory. */
void cached_traffic__run(const struct cached_traffic *traffic, struct cached_load *load);

#endif /* PAPERS_CACHED_TRAFFIC_H */
