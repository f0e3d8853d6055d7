/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A number that one thread changes while other threads may read it.  It does not order accesses
 * to other memory, so it costs no more than a plain number.
 */
#ifndef CONTROLLER_COUNT_H
#define CONTROLLER_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic uint64_t count_t;

static inline uint64_t count__of(const count_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

/* Only in the thread that changes the number. */
static inline void count__set(count_t *count, uint64_t value)
{
	atomic_store_explicit(count, value, memory_order_relaxed);
}

/* Only in the thread that changes the number; returns the sum. */
static inline uint64_t count__add(count_t *count, uint64_t more)
{
	const uint64_t sum = count__of(count) + more;

	count__set(count, sum);
	return sum;
}

#endif /* CONTROLLER_COUNT_H */
