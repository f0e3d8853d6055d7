/* SPDX-License-Identifier: GPL-2.0-only */
/* Ages in whole seconds, as replies tell them. */
#ifndef CLOCK_H
#define CLOCK_H

#include <libdart/clock.h>

/* Whole seconds since @then, ns of CLOCK_BOOTTIME. */
static inline int64_t clock__age_s(int64_t then)
{
	return (dart_clock__ns(CLOCK_BOOTTIME) - then) / 1000000000;
}

#endif /* CLOCK_H */
