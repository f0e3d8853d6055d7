/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The times at which series ended, as the receiver was told: receivers refuse samples that are not
 * later than the last one of their series, and a stale marker counts as a sample.  Rows may be
 * older than the marker when a target is made again (a reload changed its interval) or gets its old
 * labels back, or when an entry comes back.
 *
 * Keys are hashes of labels and names.  If two keys are equal, a series loses the few samples
 * before the end of the other series.  Memory is bounded: series that ended long ago are forgotten,
 * see series.h, and if there are still too many, the latest of all ends counts for all.
 *
 * In any thread.
 */
#ifndef CONTROLLER_ENDED_H
#define CONTROLLER_ENDED_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* 16 MiB. */
#define ENDED_MAX (1U << 20)

struct ended_slot {
	uint64_t key; /* never 0; 0: free */
	int64_t time_ns;
};

struct ended {
	pthread_mutex_t lock;
	struct ended_slot *slots;
	size_t capacity; /* a power of 2, or 0 */
	size_t count;
	int64_t all_ns; /* nothing is taken of any series that ended before */
};

/* Of zeros. */
void ended__open(struct ended *ended);
void ended__close(struct ended *ended);
/*
 * The last time of the series, or of all with these labels, is @time_ns.  Ends before @past_ns are
 * forgotten when there is no room.  Without memory the end counts for all series.
 */
void ended__add(struct ended *ended, uint64_t key, int64_t time_ns, int64_t past_ns);
/* Returns the last time of the series in ns, 0 if it is not known to have ended. */
int64_t ended__find(struct ended *ended, uint64_t key);

#endif /* CONTROLLER_ENDED_H */
