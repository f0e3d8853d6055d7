// SPDX-License-Identifier: GPL-2.0-only
/* Credits protected by a lock, and the grants of each thread. */
#include "credit_pool.h"

struct woken {
	struct credit_taker *takers[CREDIT_TAKERS_MAX];
	unsigned int count;
};

void credit_pool__init(struct credit_pool *pool, uint64_t bytes, uint64_t flow_bytes)
{
	pthread_mutex_init(&pool->mutex, NULL);
	credit_groups__init(&pool->groups, bytes, flow_bytes);
}

void credit_taker__init(struct credit_taker *taker, struct credit_pool *pool,
			void (*wake)(struct credit_taker *taker))
{
	*taker = (struct credit_taker){ .pool = pool, .wake = wake };
	TAILQ_INIT(&taker->granted);
}

static void credit_taker__note(struct credit_taker *self)
{
	if (self)
		self->has_granted = !TAILQ_EMPTY(&self->granted);
}

/* Passes all possible grants to takers, and adds each taker but @self to @woken. */
static void credit_pool__grant(struct credit_pool *pool, struct credit_taker *self,
			       struct woken *woken)
{
	struct credit_member *member;
	struct credit_taker *taker;
	struct credit_share *share;
	uint32_t fragments;

	while ((member = credit_groups__grant(&pool->groups, &fragments))) {
		share = (struct credit_share *)member;
		taker = share->taker;
		if (!share->granted)
			TAILQ_INSERT_TAIL(&taker->granted, share, place);
		share->granted += fragments;
		if (taker == self || taker->is_waking)
			continue;
		taker->is_waking = true;
		woken->takers[woken->count++] = taker;
	}
	credit_taker__note(self);
}

/* Called without the lock, which is not held across a system call. */
static void wake(const struct woken *woken)
{
	for (unsigned int i = 0; i < woken->count; i++)
		woken->takers[i]->wake(woken->takers[i]);
}

void credit_pool__ask(struct credit_pool *pool, struct credit_group *group,
		      struct credit_share *share, uint8_t class, uint32_t fragments)
{
	struct woken woken = {};

	pthread_mutex_lock(&pool->mutex);
	credit_groups__ask(&pool->groups, group, &share->member, class, fragments);
	credit_pool__grant(pool, share->taker, &woken);
	pthread_mutex_unlock(&pool->mutex);
	wake(&woken);
}

void credit_pool__give_back(struct credit_pool *pool, struct credit_taker *taker,
			    struct credit_share *share, uint32_t fragments)
{
	struct woken woken = {};

	pthread_mutex_lock(&pool->mutex);
	credit_groups__give_back(&pool->groups, &share->member, fragments);
	credit_pool__grant(pool, taker, &woken);
	pthread_mutex_unlock(&pool->mutex);
	wake(&woken);
}

void credit_pool__cancel(struct credit_pool *pool, struct credit_taker *taker,
			 struct credit_share *share)
{
	struct woken woken = {};

	pthread_mutex_lock(&pool->mutex);
	credit_groups__cancel(&pool->groups, &share->member);
	if (share->granted) {
		TAILQ_REMOVE(&share->taker->granted, share, place);
		credit_groups__give_back(&pool->groups, &share->member, share->granted);
		share->granted = 0;
	}
	/* The share may have kept others waiting at the head of its line. */
	credit_pool__grant(pool, taker, &woken);
	pthread_mutex_unlock(&pool->mutex);
	wake(&woken);
}

uint32_t credit_pool__take(struct credit_pool *pool, struct credit_taker *taker,
			   struct credit_share **sharep)
{
	struct credit_share *share;
	uint32_t fragments = 0;

	/* Grants that other threads made since then are announced by wake(). */
	if (!taker->has_granted)
		return 0;
	pthread_mutex_lock(&pool->mutex);
	share = TAILQ_FIRST(&taker->granted);
	if (share) {
		TAILQ_REMOVE(&taker->granted, share, place);
		fragments = share->granted;
		share->granted = 0;
		*sharep = share;
	}
	credit_taker__note(taker);
	pthread_mutex_unlock(&pool->mutex);
	return fragments;
}

void credit_pool__wake_up(struct credit_pool *pool, struct credit_taker *taker)
{
	pthread_mutex_lock(&pool->mutex);
	taker->is_waking = false;
	credit_taker__note(taker);
	pthread_mutex_unlock(&pool->mutex);
}
