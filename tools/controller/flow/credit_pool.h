/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credits that several threads share.  A thread takes the grants of its own flows and posts
 * their fragments without a lock.  When it requests credits or gives them back, the pool may
 * grant credits to flows of other threads, and wakes these threads.
 */
#ifndef CONTROLLER_CREDIT_POOL_H
#define CONTROLLER_CREDIT_POOL_H

#include <pthread.h>

#include "credit_groups.h"

#define CREDIT_TAKERS_MAX 8

struct credit_pool;
struct credit_share;

/* A thread that posts. */
struct credit_taker {
	struct credit_pool *pool; /* of all its shares; constant */
	/* Called in another thread: makes the taker call credit_pool__wake_up() soon. */
	void (*wake)(struct credit_taker *taker);
	/* Of the thread itself. */
	bool is_posting;
	bool has_granted; /* whether granted was filled when this thread last held the lock */
	/* Of the pool, under its mutex. */
	bool is_waking;
	TAILQ_HEAD(, credit_share) granted;
};

/* A flow. */
struct credit_share {
	struct credit_member member; /* first: a pointer to it is cast to the share */
	struct credit_taker *taker;
	TAILQ_ENTRY(credit_share)
	place; /* in credit_taker.granted */
	uint32_t granted; /* fragments that the taker did not take yet */
};

struct credit_pool {
	pthread_mutex_t mutex; /* protects groups, shares, and the pool's members of takers */
	struct credit_groups groups;
};

/* The user provides zeroed memory, and calls these before it starts threads. */
void credit_pool__init(struct credit_pool *pool, uint64_t bytes, uint64_t flow_bytes);
void credit_taker__init(struct credit_taker *taker, struct credit_pool *pool,
			void (*wake)(struct credit_taker *taker));

/* Like credit_groups__ask().  Called in the thread of the share's taker. */
void credit_pool__ask(struct credit_pool *pool, struct credit_group *group,
		      struct credit_share *share, uint8_t class, uint32_t fragments);
/* Like credit_groups__give_back().  @taker is that of the calling thread; NULL: not a taker. */
void credit_pool__give_back(struct credit_pool *pool, struct credit_taker *taker,
			    struct credit_share *share, uint32_t fragments);
/*
 * Withdraws the request of the share, and gives back grants that were not taken.  The share keeps
 * the credits that were taken.  @taker as above.
 */
void credit_pool__cancel(struct credit_pool *pool, struct credit_taker *taker,
			 struct credit_share *share);

/*
 * Takes the grant of one share of @taker.  Returns how many fragments of @share to post, or 0 if
 * nothing is granted.  The taker repeats this until 0 after credit_pool__ask(), __give_back(),
 * __cancel() and __wake_up().
 */
uint32_t credit_pool__take(struct credit_pool *pool, struct credit_taker *taker,
			   struct credit_share **share);
/* Called in the thread of @taker after wake(). */
void credit_pool__wake_up(struct credit_pool *pool, struct credit_taker *taker);

#endif /* CONTROLLER_CREDIT_POOL_H */
