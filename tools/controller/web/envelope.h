/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The envelope of a curve: the time from @from_us to @to_us in buckets of equal width, with the
 * least, the greatest and the mean value in each, so that no spike is averaged away.
 */
#ifndef CONTROLLER_ENVELOPE_H
#define CONTROLLER_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

#define ENVELOPE_BUCKETS_MAX 4000

struct envelope_bucket {
	double least, greatest, sum;
	uint32_t count;		/* 0: it is empty */
};

/* The times of several curves with the same buckets. */
struct envelope_span {
	int64_t from_us, to_us;	/* to_us > from_us; that itself is in the last bucket */
	uint32_t bucket_count;	/* at least 1 */
};

/* The index, or -1 outside. */
int envelope_span__bucket(const struct envelope_span *span, int64_t time_us);
/* @value is not NaN. */
void envelope_bucket__take(struct envelope_bucket *bucket, double value);

#endif /* CONTROLLER_ENVELOPE_H */
