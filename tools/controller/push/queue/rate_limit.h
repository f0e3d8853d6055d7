/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples that an output takes in each second: of all targets together, and of each target.
 *
 * Each bound is a time until which the samples so far are paid for: a scrape is admitted if that
 * time is not in the future, and then adds its samples.  So a scrape may be larger than the samples
 * of a second, and the mean is the bound.  At most one second is saved up.
 *
 * While all targets together are beyond their bound, a scrape is still admitted if its target alone
 * is within its share, which is the same for each target.  So a target with many samples costs
 * itself, and no other one.
 */
#ifndef CONTROLLER_RATE_LIMIT_H
#define CONTROLLER_RATE_LIMIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RATE_LIMIT_NAME_MAX 264 /* bytes of a host with its port, and the NUL */

/* For all targets of an output; zeros: nothing is bounded.  Any thread may use it. */
struct rate_limit {
	uint64_t samples; /* in each second, of all targets; 0: no bound */
	uint64_t agent_samples; /* of each target; 0: no bound */
	_Atomic uint64_t paid_ns; /* CLOCK_MONOTONIC */
	atomic_uint targets; /* that share the samples */
	atomic_uint over; /* targets whose last scrape was dropped */
	_Atomic uint64_t dropped; /* samples */
	pthread_mutex_t lock; /* zeros are a mutex */
	char name[RATE_LIMIT_NAME_MAX]; /* of the last target that exceeded it, under the lock */
	/* The most series of a scrape since they were taken, and the target; changed with the lock. */
	_Atomic uint64_t largest;
	char largest_name[RATE_LIMIT_NAME_MAX];
};

/* Of one target, whose calls follow each other; zeros before rate_limit__join(). */
struct rate_share {
	uint64_t paid_ns; /* of its part of the samples of all targets */
	uint64_t own_paid_ns; /* of the samples of each target */
	bool is_member;
	bool is_over;
};

/* The target shares the samples of all from now on, until rate_limit__leave(). */
void rate_limit__join(struct rate_limit *limit, struct rate_share *share);
void rate_limit__leave(struct rate_limit *limit, struct rate_share *share);

/* May a scrape be sent now, CLOCK_MONOTONIC?  A target that has not joined has no bound. */
bool rate_limit__admits(const struct rate_limit *limit, const struct rate_share *share,
			uint64_t now_ns);
/* The scrape of so many samples is sent. */
void rate_limit__charge(struct rate_limit *limit, struct rate_share *share, uint64_t samples,
			uint64_t now_ns);
/* The scrape of the target @name is dropped. */
void rate_limit__drop(struct rate_limit *limit, struct rate_share *share, const char *name,
		      uint64_t samples);
/* Copies the name of the last target that exceeded the limit; "" if none did. */
void rate_limit__last(struct rate_limit *limit, char name[static RATE_LIMIT_NAME_MAX]);

/* Notes that a scrape of the target @name has @series series, sent or not. */
void rate_limit__note(struct rate_limit *limit, const char *name, uint64_t series);
/*
 * Returns the most series of a scrape since the last call, and copies the name of its target; 0:
 * there was no scrape.
 */
uint64_t rate_limit__take_largest(struct rate_limit *limit, char name[static RATE_LIMIT_NAME_MAX]);

#endif /* CONTROLLER_RATE_LIMIT_H */
