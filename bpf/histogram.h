/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Histograms of powers of two, as in <dart/control.h>: bucket i counts the values from 2^i to
 * 2^(i+1) - 1, the first bucket also 0, the last one also all greater values.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#define HISTOGRAM_BUCKETS 32

/* log2, of 0 as of 1 */
static __always_inline __u32 histogram__bucket(__u32 value)
{
	__u32 bucket = 0, half;

	for (half = 16; half; half /= 2) {
		if (value >> half) {
			value >>= half;
			bucket += half;
		}
	}
	return bucket;
}

/* Not atomic: the row must have no other writer at the same time. */
static __always_inline void histogram__add(__u64 *buckets, __u64 value)
{
	if (value > 0xffffffff)
		value = 0xffffffff;
	buckets[histogram__bucket(value) % HISTOGRAM_BUCKETS]++;
}

#endif /* HISTOGRAM_H */
