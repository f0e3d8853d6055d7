/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The capacity of a link: how many bytes may be in flight, and how many agents can be scraped,
 * n = B U / S with a bandwidth of B, an interval of U and S bytes for each scrape (ZERO,
 * section 4.3).  Pure code.
 */
#ifndef CONTROLLER_CAPACITY_H
#define CONTROLLER_CAPACITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes that all agents together may have in flight: as many as the port receives in 20 us, in
 * which a switch drains a queue of all of them, but at least 256 KiB, the limit with which ZERO
 * was run at 100 and 200 Gbit/s (section 7).  A speed of 0 means unknown.
 */
uint64_t capacity__credit(uint64_t bits_per_s);

/*
 * The product of bandwidth and delay, with a round trip of 6 us (ZERO, section 6.3), at
 * least 16 KiB.
 */
uint64_t capacity__product(uint64_t bits_per_s);

/* The user provides zeroed memory, and leaves the members alone. */
struct capacity {
	uint32_t targets;
	uint32_t known; /* targets whose scrapes have a known size */
	uint64_t bytes; /* one scrape of each known target */
	double bytes_per_s; /* of all known targets */
	double scrapes_per_s; /* of all other targets */
	uint64_t interval_min_ns, interval_max_ns;
};

/* Adds a target that needs @bytes for a scrape; 0: unknown, counts as the mean of the known. */
void capacity__add(struct capacity *capacity, uint64_t interval_ns, uint64_t bytes);

/* Removes a target that was added with the same numbers. */
void capacity__remove(struct capacity *capacity, uint64_t interval_ns, uint64_t bytes);

/*
 * True if scrapes of all targets need more than @bits_per_s.  Then @text gets a sentence that
 * says how many targets fit, without a full stop.
 */
bool capacity__exceeds(const struct capacity *capacity, uint64_t bits_per_s, char *text,
		       size_t size);

#endif /* CONTROLLER_CAPACITY_H */
