/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every unit test includes this: tests named by a sentence, which TAP prints,
 * and random numbers that are the same in each run.
 */
#ifndef UNIT_H
#define UNIT_H

#include "selftests/lib/test.h"

/* The next random number below @limit; @state starts with any seed. */
static inline uint32_t random__below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return (*state >> 33) % limit;
}

#endif /* UNIT_H */
