/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credits that several threads share.  A thread takes what was granted to its own flows,
 * and posts that without a lock; what it asks for, or gives back, may be granted to flows of
 * another thread, which is woken.
 */
#ifndef CONTROLLER_CREDIT_POOL_H
#define CONTROLLER_CREDIT_POOL_H

#include <pthread.h>

#include "credit_groups.h"

#define CREDIT_TAKERS_MAX 8

struct credit_share;

/* A thread that posts. */
struct credit_taker {
	/* Called in any other thread: this one calls credit_pool__wake_up() soon. */
	void (*wake)(struct credit_taker *taker);
	/* Of the thread itself. */
	bool is_posting;
	bool has_granted; /* as far as it knows without the lock */
	/* Of the pool. */
	bool is_waking;
	TAILQ_HEAD(, credit_share) granted;
};

/* A flow. */
struct credit_share {
	struct credit_member member; /* first: a share is found by it */
	struct credit_taker *taker;
	TAILQ_ENTRY(credit_share)
	place; /* among those with something granted */
	uint32_t granted; /* fragments, not taken yet */
};

struct credit_pool {
	pthread_mutex_t mutex; /* of all below, and the members above */
	struct credit_groups groups;
};

/* In zeroed memory; before any thread. */
void credit_pool__init(struct credit_pool *pool, uint64_t bytes, uint64_t flow_bytes);
void credit_taker__init(struct credit_taker *taker, void (*wake)(struct credit_taker *taker));

/* In the thread of the share, as the functions of credit_groups.h. */
void credit_pool__ask(struct credit_pool *pool, struct credit_group *group,
		      struct credit_share *share, uint8_t class, uint32_t fragments);
/* The same; or with @taker of NULL in a thread that is none. */
void credit_pool__give_back(struct credit_pool *pool, struct credit_taker *taker,
			    struct credit_share *share, uint32_t fragments);
/* Wants no more, and what was granted is not taken.  What was taken stays held. */
void credit_pool__cancel(struct credit_pool *pool, struct credit_taker *taker,
			 struct credit_share *share);

/*
 * What was granted to a share of @taker: how many fragments to post, or 0.  To be called
 * until then after credit_pool__ask(), __give_back() and __wake_up().
 */
uint32_t credit_pool__take(struct credit_pool *pool, struct credit_taker *taker,
			   struct credit_share **share);
void credit_pool__wake_up(struct credit_pool *pool, struct credit_taker *taker);

#endif /* CONTROLLER_CREDIT_POOL_H */
