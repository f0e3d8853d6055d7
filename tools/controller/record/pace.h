/* SPDX-License-Identifier: GPL-2.0-only */
/* Computes when the events of a recording are due in its replay. */
#ifndef CONTROLLER_RECORD_PACE_H
#define CONTROLLER_RECORD_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct pace {
	double speed; /* 0: as fast as possible */
	bool has_begun;
	uint64_t recorded_ns; /* time of the first event, by CLOCK_MONOTONIC of the recorder */
	uint64_t began_ns; /* when that event was due, by CLOCK_MONOTONIC of this machine */
};

/* Makes the next event the first one, because another recording follows, with another clock. */
static inline void pace__restart(struct pace *pace)
{
	pace->has_begun = false;
}

/* Returns when an event of @recorded_ns is due; the first event is due at @now_ns. */
static inline uint64_t pace__due_ns(struct pace *pace, uint64_t recorded_ns, uint64_t now_ns)
{
	double distance_ns;

	if (!pace->speed)
		return now_ns;
	if (!pace->has_begun) {
		pace->has_begun = true;
		pace->recorded_ns = recorded_ns;
		pace->began_ns = now_ns;
	}
	if (recorded_ns <= pace->recorded_ns)
		return pace->began_ns;
	distance_ns = (recorded_ns - pace->recorded_ns) / pace->speed;
	/* Events with hostile times are never due, but do not overflow to an earlier time. */
	return distance_ns < (double)(UINT64_MAX / 4) ? pace->began_ns + (uint64_t)distance_ns :
							UINT64_MAX / 2;
}

#endif /* CONTROLLER_RECORD_PACE_H */
