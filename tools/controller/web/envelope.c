// SPDX-License-Identifier: GPL-2.0-only
/* The least and the greatest of each bucket: see envelope.h. */
#include "envelope.h"

int envelope_span__bucket(const struct envelope_span *span, int64_t time_us)
{
	unsigned __int128 offset;
	uint64_t width;

	if (time_us < span->from_us || time_us > span->to_us)
		return -1;
	offset = (uint64_t)time_us - (uint64_t)span->from_us;
	width = (uint64_t)span->to_us - (uint64_t)span->from_us;
	offset = offset * span->bucket_count / width;
	return offset < span->bucket_count ? (int)offset :
					     (int)span->bucket_count - 1;
}

void envelope_bucket__take(struct envelope_bucket *bucket, double value)
{
	if (!bucket->count || value < bucket->least)
		bucket->least = value;
	if (!bucket->count || value > bucket->greatest)
		bucket->greatest = value;
	bucket->sum += value;
	bucket->count++;
}
