/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pseudorandom numbers, the same for the same seed: SplitMix64 (Steele, Lea,
 * Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).  Not
 * for secrets.
 */
#ifndef DART_RANDOM_H
#define DART_RANDOM_H

#include <stdint.h>

struct dart_random {
	uint64_t state;
};

static inline struct dart_random dart_random__of(uint64_t seed)
{
	return (struct dart_random){ seed };
}

static inline uint64_t dart_random__next(struct dart_random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* A number below @bound, which is not 0. */
static inline uint64_t dart_random__below(struct dart_random *random, uint64_t bound)
{
	return (unsigned __int128)dart_random__next(random) * bound >> 64;
}

/* A number in [0, 1). */
static inline double dart_random__fraction(struct dart_random *random)
{
	return (double)(dart_random__next(random) >> 11) * 0x1p-53;
}

#endif /* DART_RANDOM_H */
