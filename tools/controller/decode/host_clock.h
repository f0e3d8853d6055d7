/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dates the samples of a target by the controller's clock, so that no clock of a host, whether
 * right, wrong or set meanwhile, leads to a sample that receivers refuse.
 *
 * A row contains the host's CLOCK_BOOTTIME at which the host wrote it, and CLOCK_BOOTTIME
 * cannot be set. So one number dates all rows of a host: its *start*, the controller's
 * CLOCK_MONOTONIC at the moment when the host's CLOCK_BOOTTIME was 0. The handshake yields it
 * within half of the handshake's duration, unless the host's clock was set between table and
 * handshake. The rows of ordinary scrapes correct it by two rules:
 *
 *   a row was written before it landed, so the host started no later than landing - row time
 *   the freshest row of half a minute is no older than the interval in which it is gathered
 *
 * The start stays the same while it agrees with both rules, so that a row keeps its time until the
 * host writes it again. A gatherer that pauses does not date its rows anew: only rows that the host
 * wrote since the previous scrape count as fresh.
 *
 * The offset of the host's clock (CLOCK_REALTIME) follows from the start and from the host's own
 * statement about its clocks, in the row of the source "load" or in the header of its table. The
 * controller reports this offset and compares it to a bound, but dates nothing by it.
 *
 * Pure code: it reads no clock, and allocates nothing. A replay computes the same dates as the
 * controller that recorded. Every number from a host may be arbitrary.
 */
#ifndef CONTROLLER_HOST_CLOCK_H
#define CONTROLLER_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct sample;
struct dart_field;

/* The largest offset that counts as right, unless the settings say otherwise. */
#define HOST_CLOCK_BOUND_DEFAULT_NS 2000000000ULL
/* The longest time between two comparisons of the start with the interval of the freshest row. */
#define HOST_CLOCK_WINDOW_NS 30000000000ULL

/* The entry whose rows date the host: chosen once for each table. */
struct clock_source {
	bool is_there;
	uint32_t entry; /* index into the entries of the sample */
	uint64_t interval_ns; /* in which the host writes its rows */
	/*
	 * CLOCK_REALTIME - CLOCK_BOOTTIME of the host, a field of the rows; NULL if the rows lack
	 * it.
	 */
	const struct dart_field *boot_time;
};

/* Zeroed before the first sample. */
struct host_clock {
	bool has_begun;
	int64_t wall_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC of the controller */

	/* From the heads of this connection's samples. */
	int64_t told_ns; /* CLOCK_REALTIME of the host - CLOCK_MONOTONIC of the controller */
	uint64_t told_uncertainty_ns;
	uint64_t began_ns; /* start_ns of the first sample */
	uint8_t boot_id[16];

	int64_t start_ns;
	/* The previous connection's start if the host has not booted since; otherwise start_ns. */
	int64_t other_start_ns;
	bool is_checked; /* a row of this connection has confirmed or replaced the start */
	bool is_told; /* the handshake announced a start, and no row disproved it */
	/* Distance from start_ns to the start that the last handshake yielded. */
	uint64_t told_apart_ns;

	int64_t since_boot_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME of the host */
	bool is_since_boot_read; /* since_boot_ns was read from a row */

	uint64_t row_ns; /* time of the freshest row, CLOCK_BOOTTIME of the host */
	uint64_t window_ns; /* begin of the current window */
	bool has_least;
	int64_t least_ns; /* the latest start that the rows of this window permit */
	bool has_bounds; /* earliest_ns and latest_ns bound the start, from the previous window */
	int64_t earliest_ns, latest_ns;
	uint64_t bounds_since_ns; /* begin of the window whose rows gave the bounds */

	bool was_beyond; /* the offset of the last sample exceeded the bound */
	bool is_off;
};

/* News of a sample, a set of bits. */
enum {
	HOST_CLOCK_IS_OFF = 1 << 0, /* the offset exceeds the bound */
	HOST_CLOCK_IS_RIGHT = 1 << 1, /* the offset is within the bound again */
	HOST_CLOCK_WALL_WAS_SET = 1 << 2, /* the controller's clock was set, see wall_ns */
};

/*
 * Sets the clock of @sample and the time in its head. Reads the head as an I/O thread filled it in,
 * the table and the values. Call once for each sample of a target, in order. Returns the news as a
 * set of HOST_CLOCK_...
 */
unsigned int host_clock__take(struct host_clock *clock, uint64_t bound_ns,
			      const struct clock_source *source, struct sample *sample);

#endif /* CONTROLLER_HOST_CLOCK_H */
