/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers of a Zipf distribution: the probability of number i, from 0, is
 * proportional to (i + 1)^-skew.
 */
#ifndef BENCH_ZIPF_H
#define BENCH_ZIPF_H

#include <stdint.h>

#include <libdart/random.h>

struct zipf;

/* @count: at least 1; @skew: 0 is uniform.  Exits the program if out of memory. */
struct zipf *zipf__new(uint32_t count, double skew);
void zipf__free(struct zipf *zipf);

uint32_t zipf__next(const struct zipf *zipf, struct dart_random *random);
/* The probability of a number below @count. */
double zipf__below(const struct zipf *zipf, uint32_t count);

#endif /* BENCH_ZIPF_H */
