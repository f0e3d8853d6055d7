/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports repeated losses once an hour, with the number of losses since the last report: a line
 * for each loss would fill the log, and a single line in the life of the program is forgotten.
 */
#ifndef CONTROLLER_HOURLY_H
#define CONTROLLER_HOURLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HOURLY_NS 3600000000000ULL

/* Zeroed memory: nothing was reported.  Any thread may use it. */
struct hourly {
	_Atomic uint64_t next_ns; /* CLOCK_MONOTONIC: earliest time of the next report */
	_Atomic uint64_t said; /* total of losses at the last report */
};

/*
 * True if the caller should report losses now: @now_ns is CLOCK_MONOTONIC, @total the number of
 * losses so far.  Then sets @since to the number of losses since the last report, and allows the
 * next report after an hour.  If several threads call at the same time, one of them gets true.
 */
static inline bool hourly__take(struct hourly *hourly, uint64_t now_ns, uint64_t total,
				uint64_t *since)
{
	uint64_t next_ns = atomic_load(&hourly->next_ns);

	if (now_ns < next_ns || total <= atomic_load(&hourly->said) ||
	    !atomic_compare_exchange_strong(&hourly->next_ns, &next_ns, now_ns + HOURLY_NS))
		return false;
	*since = total - atomic_exchange(&hourly->said, total);
	return true;
}

#endif /* CONTROLLER_HOURLY_H */
