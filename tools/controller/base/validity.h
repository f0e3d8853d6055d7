/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Until when this controller may give values of agents to its outputs, and outputs may push: as
 * long as the list of the members of its shard is valid.  A controller that was frozen finds the
 * time passed when it wakes, before it has read another list: whoever passes values on asks
 * validity__holds() after their time stamps were taken, so no value that is passed on is newer than
 * the validity.
 *
 * The control loop writes it, all threads read it.
 */
#ifndef CONTROLLER_VALIDITY_H
#define CONTROLLER_VALIDITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <libdart/clock.h>

/* Of zeros: it holds. */
struct validity {
	atomic_uint_least64_t until_ns; /* of boottime_ns(); 0: without an end */
};

/* CLOCK_BOOTTIME in ns: it also counts while the host sleeps, and no program sets it. */
static inline uint64_t boottime_ns(void)
{
	return dart_clock__ns(CLOCK_BOOTTIME);
}

static inline void validity__set(struct validity *validity, uint64_t until_ns)
{
	atomic_store(&validity->until_ns, until_ns);
}

/* @validity may be NULL: then it holds. */
static inline bool validity__holds(const struct validity *validity)
{
	const uint64_t until_ns = validity ? atomic_load(&validity->until_ns) : 0;

	return !until_ns || boottime_ns() < until_ns;
}

#endif /* CONTROLLER_VALIDITY_H */
