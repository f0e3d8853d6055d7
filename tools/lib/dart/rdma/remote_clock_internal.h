/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock of a host against that of this one, by a question and its answer. */
#ifndef DART_REMOTE_CLOCK_H
#define DART_REMOTE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include <libdart/clock.h>

/* CLOCK_REALTIME in ns. */
static inline uint64_t dart_realtime_ns(void)
{
	return dart_clock__ns(CLOCK_REALTIME);
}

/* CLOCK_MONOTONIC in ns, which nobody sets. */
static inline uint64_t dart_monotonic_ns(void)
{
	return dart_clock__ns(CLOCK_MONOTONIC);
}

/*
 * The host took @time_ns between @asked_ns, when this one asked, by CLOCK_MONOTONIC, and now,
 * when the answer has come; 0: it did not tell.  The offset is that from CLOCK_REALTIME as it is
 * now, even if that was set since the question.  Leaves both values as they are if nothing can be
 * said.
 */
static inline void dart_remote_clock__compare(uint64_t asked_ns, uint64_t time_ns,
					      int64_t *offset_ns, uint64_t *uncertainty_ns)
{
	/* First, so that the time between the two readings counts as uncertain, too. */
	const uint64_t now_ns = dart_realtime_ns();
	const uint64_t half_ns = (dart_monotonic_ns() - asked_ns) / 2;

	if (!time_ns)
		return;
	*offset_ns = time_ns + half_ns - now_ns;
	*uncertainty_ns = half_ns ?: 1;
}

#endif /* DART_REMOTE_CLOCK_H */
