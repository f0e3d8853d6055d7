/* SPDX-License-Identifier: GPL-2.0-only */
/* When scrapes are due: at fixed intervals from the first, without drift. */
#ifndef CONTROLLER_SCHEDULE_H
#define CONTROLLER_SCHEDULE_H

#include <stdint.h>
#include <time.h>

struct schedule {
	uint64_t interval_ns;
	uint64_t next_ns;	/* CLOCK_MONOTONIC */
};

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* How many scrapes became due by @now_ns; next_ns is past it afterwards. */
static inline uint64_t schedule__take(struct schedule *schedule,
				      uint64_t now_ns)
{
	uint64_t due;

	if (now_ns < schedule->next_ns)
		return 0;
	due = (now_ns - schedule->next_ns) / schedule->interval_ns + 1;
	schedule->next_ns += due * schedule->interval_ns;
	return due;
}

#endif /* CONTROLLER_SCHEDULE_H */
