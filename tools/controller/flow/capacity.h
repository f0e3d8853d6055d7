/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a link has room for: how much may be in flight, and how many agents can be scraped,
 * n = B U / S with a bandwidth of B, an interval of U and S bytes for each scrape (ZERO,
 * section 4.3).  Pure code.
 */
#ifndef CONTROLLER_CAPACITY_H
#define CONTROLLER_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes that all agents together may have in flight: as many as the port receives in 20 us,
 * which is how long a switch's queue of them lasts, but at least 256 KiB, with which ZERO
 * has been run at 100 and 200 Gbit/s (section 7).  A speed of 0 is not known.
 */
uint64_t capacity__credit(uint64_t bits_per_s);

/*
 * The product of bandwidth and delay, with a round trip of 6 us (ZERO, section 6.3), at
 * least 16 KiB.
 */
uint64_t capacity__product(uint64_t bits_per_s);

/* In zeroed memory; members are for this file. */
struct capacity {
	uint32_t targets;
	uint32_t known; /* of them */
	uint64_t bytes; /* of a scrape of each of these */
	double bytes_per_s; /* of these */
	double scrapes_per_s; /* of the others */
	uint64_t interval_min_ns, interval_max_ns;
};

/* One more target; @bytes of a scrape are 0 if not known: then the mean of the others. */
void capacity__add(struct capacity *capacity, uint64_t interval_ns, uint64_t bytes);

/* One less, which was added with the same numbers. */
void capacity__remove(struct capacity *capacity, uint64_t interval_ns, uint64_t bytes);

/*
 * True if a port of @bits_per_s has no room for all targets.  Then @text has a sentence
 * about how many fit, without a full stop.
 */
bool capacity__exceeds(const struct capacity *capacity, uint64_t bits_per_s, char *text,
		       size_t size);

#endif /* CONTROLLER_CAPACITY_H */
