/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dates the samples of a target by the controller's clock, so that no clock of a host, right,
 * wrong or set meanwhile, makes a sample that receivers refuse.
 *
 * A row contains the host's CLOCK_BOOTTIME at which the host wrote it, and CLOCK_BOOTTIME cannot be
 * set.  So one number dates all rows of a host: its *start*, the controller's CLOCK_MONOTONIC when
 * the host's CLOCK_BOOTTIME was 0.  The handshake tells it within half of its length, unless the
 * clock of the host was set between the table and the handshake.  Rows that are READ anyway correct
 * it:
 *
 *   a row was written before it landed, so the host started no later than its landing less its time
 *   the freshest row of half a minute is not older than the interval in which it is gathered
 *
 * The start stays the same while it agrees with both, so that a row keeps its time until the host
 * writes it again.  A gatherer that pauses does not date its rows anew: only rows that were written
 * since the previous scrape count as fresh.
 *
 * The offset of the host's clock (CLOCK_REALTIME) follows from the start and from what the host
 * tells of its clocks, in the row of the source "load" or in the header of its table.  It is told,
 * and compared to a bound, and dates nothing.
 *
 * Pure code: it reads no clock, and allocates nothing.  A replay finds the same as the controller
 * that recorded.  All that hosts tell may be any number.
 */
#ifndef CONTROLLER_HOST_CLOCK_H
#define CONTROLLER_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct sample;
struct dart_field;

/* An offset of at most this much is right, unless the settings say otherwise. */
#define HOST_CLOCK_BOUND_DEFAULT_NS 2000000000ULL
/* How often, at least, the start is compared to the interval of the freshest row. */
#define HOST_CLOCK_WINDOW_NS 30000000000ULL

/* The entry whose rows are compared: chosen once for each table. */
struct clock_source {
	bool is_there;
	uint32_t entry; /* index into the entries of the sample */
	uint64_t interval_ns; /* in which its rows are written */
	/* CLOCK_REALTIME - CLOCK_BOOTTIME of the host, in its rows; NULL: not in these */
	const struct dart_field *boot_time;
};

/* All 0 before the first sample. */
struct host_clock {
	bool has_begun;
	int64_t wall_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC of the controller */

	/* Of the connection: as heads of samples have them. */
	int64_t told_ns; /* CLOCK_REALTIME of the host - CLOCK_MONOTONIC of the controller */
	uint64_t told_uncertainty_ns;
	uint64_t began_ns; /* the first sample */
	uint8_t boot_id[16];

	int64_t start_ns;
	int64_t other_start_ns; /* of the connection before; the same: none */
	bool is_checked; /* by a row, since the connection */
	bool is_told; /* the handshake told it, and no row disproved it */
	uint64_t told_apart_ns; /* from it to what another handshake told, and was kept */

	int64_t since_boot_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME of the host */
	bool is_since_boot_read; /* in a row */

	uint64_t row_ns; /* the freshest row, CLOCK_BOOTTIME of the host */
	uint64_t window_ns; /* begin of the present window */
	bool has_least;
	int64_t least_ns; /* the latest start that the rows of this window permit */
	bool has_bounds; /* of the start, from the window before */
	int64_t earliest_ns, latest_ns;
	uint64_t bounds_since_ns; /* when the first of the rows was READ */

	bool was_beyond; /* the bound, in the last sample */
	bool is_off;
};

/* News of a sample. */
enum {
	HOST_CLOCK_IS_OFF = 1 << 0, /* beyond the bound */
	HOST_CLOCK_IS_RIGHT = 1 << 1, /* within it again */
	HOST_CLOCK_WALL_WAS_SET = 1 << 2, /* the controller's clock was set, see wall_ns */
};

/*
 * Sets the clock of @sample and the time in its head.  Input are the head as an I/O thread filled it
 * in, the table and the values.  To be called once for each sample of a target, in their order.
 * Returns the news as a set of HOST_CLOCK_...
 */
unsigned int host_clock__take(struct host_clock *clock, uint64_t bound_ns,
			      const struct clock_source *source, struct sample *sample);

#endif /* CONTROLLER_HOST_CLOCK_H */
