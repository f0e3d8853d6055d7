/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* clock_gettime(2) as one number. */
#ifndef DART_CLOCK_H
#define DART_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t dart_clock__ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int64_t dart_clock__ms(clockid_t clock)
{
	return dart_clock__ns(clock) / 1000000;
}

#endif /* DART_CLOCK_H */
