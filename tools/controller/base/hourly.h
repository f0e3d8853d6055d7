/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Losses that go on are said once an hour, with the number of them since they were said before: a
 * line for each would fill the log, and one in a life is forgotten.
 */
#ifndef CONTROLLER_HOURLY_H
#define CONTROLLER_HOURLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HOURLY_NS 3600000000000ULL

/* All zeros: nothing was said.  Changed in any thread. */
struct hourly {
	_Atomic uint64_t next_ns; /* CLOCK_MONOTONIC: not before */
	_Atomic uint64_t said; /* losses that were counted by then */
};

/*
 * Is a sentence due at @now_ns of CLOCK_MONOTONIC, when @total losses were counted so far?  If so,
 * @since of them have not been said, and the next sentence is due in an hour.  Of several threads
 * that ask at the same time one says it.
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
