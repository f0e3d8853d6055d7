/* SPDX-License-Identifier: GPL-2.0-only */
/* The offset of CLOCK_REALTIME, which users can set, from CLOCK_MONOTONIC, which they cannot. */
#ifndef CONTROLLER_WALL_CLOCK_H
#define CONTROLLER_WALL_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "schedule.h"

/* If a reading takes longer, the thread was interrupted: it reads again, a few times at most. */
#define WALL_CLOCK_READING_NS 20000
#define WALL_CLOCK_TRIES 4

/* Two offsets differ by less than this unless somebody set the clock. */
#define WALL_CLOCK_NOISE_NS 1000000

/* CLOCK_REALTIME - CLOCK_MONOTONIC in ns. */
static inline int64_t wall_clock__offset_ns(void)
{
	uint64_t before_ns, after_ns, least_ns = UINT64_MAX;
	struct timespec now;
	int64_t offset_ns = 0;
	int tries;

	for (tries = 0; tries < WALL_CLOCK_TRIES && least_ns > WALL_CLOCK_READING_NS; tries++) {
		before_ns = monotonic_ns();
		clock_gettime(CLOCK_REALTIME, &now);
		after_ns = monotonic_ns();
		if (after_ns - before_ns >= least_ns)
			continue;
		least_ns = after_ns - before_ns;
		offset_ns = now.tv_sec * 1000000000LL + now.tv_nsec -
			    (int64_t)(before_ns + least_ns / 2);
	}
	return offset_ns;
}

#endif /* CONTROLLER_WALL_CLOCK_H */
