// SPDX-License-Identifier: GPL-2.0-only
/* Admits scrapes up to a number of samples in each second: see rate_limit.h. */
#include "rate_limit.h"

#include <string.h>

#define SECOND_NS 1000000000ULL

void rate_limit__join(struct rate_limit *limit, struct rate_share *share)
{
	if (!share->is_member)
		atomic_fetch_add(&limit->targets, 1);
	share->is_member = true;
}

void rate_limit__leave(struct rate_limit *limit, struct rate_share *share)
{
	if (share->is_member)
		atomic_fetch_sub(&limit->targets, 1);
	if (share->is_over)
		atomic_fetch_sub(&limit->over, 1);
	*share = (struct rate_share){};
}

bool rate_limit__admits(const struct rate_limit *limit, const struct rate_share *share,
			uint64_t now_ns)
{
	if (!share->is_member)
		return true;
	if (limit->agent_samples && share->own_paid_ns > now_ns)
		return false;
	return !limit->samples || atomic_load(&limit->paid_ns) <= now_ns ||
	       share->paid_ns <= now_ns;
}

/* The time after @paid_ns that @samples take at @rate; at most a second was saved up. */
static uint64_t pay(uint64_t paid_ns, double samples, double rate, uint64_t now_ns)
{
	const uint64_t saved_ns = now_ns > SECOND_NS ? now_ns - SECOND_NS : 0;

	return (paid_ns > saved_ns ? paid_ns : saved_ns) + (uint64_t)(samples * SECOND_NS / rate);
}

/* A target that takes more than its share while there is room for it owes nothing for that. */
static void charge_all(struct rate_limit *limit, struct rate_share *share, uint64_t samples,
		       uint64_t now_ns)
{
	uint64_t paid_ns = atomic_load(&limit->paid_ns);
	const bool has_room = paid_ns <= now_ns;
	uint64_t next_ns;

	do {
		next_ns = pay(paid_ns, samples, limit->samples, now_ns);
	} while (!atomic_compare_exchange_weak(&limit->paid_ns, &paid_ns, next_ns));
	if (!has_room)
		share->paid_ns = pay(share->paid_ns,
				     (double)samples * atomic_load(&limit->targets),
				     limit->samples, now_ns);
}

void rate_limit__charge(struct rate_limit *limit, struct rate_share *share, uint64_t samples,
			uint64_t now_ns)
{
	if (!share->is_member)
		return;
	if (limit->samples)
		charge_all(limit, share, samples, now_ns);
	if (limit->agent_samples)
		share->own_paid_ns =
			pay(share->own_paid_ns, samples, limit->agent_samples, now_ns);
	if (share->is_over)
		atomic_fetch_sub(&limit->over, 1);
	share->is_over = false;
}

void rate_limit__drop(struct rate_limit *limit, struct rate_share *share, const char *name,
		      uint64_t samples)
{
	atomic_fetch_add(&limit->dropped, samples);
	if (share->is_over)
		return;
	share->is_over = true;
	atomic_fetch_add(&limit->over, 1);
	pthread_mutex_lock(&limit->lock);
	limit->name[0] = '\0';
	strncat(limit->name, name, sizeof(limit->name) - 1);
	pthread_mutex_unlock(&limit->lock);
}

void rate_limit__last(struct rate_limit *limit, char name[static RATE_LIMIT_NAME_MAX])
{
	pthread_mutex_lock(&limit->lock);
	strcpy(name, limit->name);
	pthread_mutex_unlock(&limit->lock);
}

void rate_limit__note(struct rate_limit *limit, const char *name, uint64_t series)
{
	if (series <= atomic_load(&limit->largest))
		return;
	pthread_mutex_lock(&limit->lock);
	if (series > atomic_load(&limit->largest)) {
		atomic_store(&limit->largest, series);
		limit->largest_name[0] = '\0';
		strncat(limit->largest_name, name, sizeof(limit->largest_name) - 1);
	}
	pthread_mutex_unlock(&limit->lock);
}

uint64_t rate_limit__take_largest(struct rate_limit *limit, char name[static RATE_LIMIT_NAME_MAX])
{
	uint64_t series;

	pthread_mutex_lock(&limit->lock);
	series = atomic_exchange(&limit->largest, 0);
	strcpy(name, limit->largest_name);
	pthread_mutex_unlock(&limit->lock);
	return series;
}
