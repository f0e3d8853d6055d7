/* SPDX-License-Identifier: GPL-2.0-only */
/* clock_gettime(2) as one number. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock__nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Whole seconds since @then, ns of CLOCK_BOOTTIME. */
static inline int64_t clock__age_s(int64_t then)
{
	return (clock__nanoseconds(CLOCK_BOOTTIME) - then) / 1000000000;
}

#endif /* CLOCK_H */
