// SPDX-License-Identifier: GPL-2.0-only
/* Counts the requests of each user, as the time until its reserve is full again. */
#include <stdlib.h>

#include "request_rate.h"

#define NS_PER_S INT64_C(1000000000)

/* The requests of a user take one part in this many of the time. */
#define TIME_SHARE 4

void request_rates__limit(struct request_rates *rates, uint32_t per_second)
{
	rates->cost = NS_PER_S / (per_second ?: REQUEST_RATE_DEFAULT);
}

void request_rates__close(struct request_rates *rates)
{
	struct request_rate_user *user;

	while ((user = SLIST_FIRST(&rates->users))) {
		SLIST_REMOVE_HEAD(&rates->users, link);
		free(user);
	}
}

static struct request_rate_user *request_rates__find(const struct request_rates *rates, uid_t uid)
{
	struct request_rate_user *user;

	SLIST_FOREACH(user, &rates->users, link)
		if (user->uid == uid)
			break;
	return user;
}

/* A user with a full reserve needs no record: it counts as one without requests. */
static void request_rates__forget(struct request_rates *rates, int64_t now)
{
	struct request_rate_user *user = SLIST_FIRST(&rates->users), *next;

	for (; user; user = next) {
		next = SLIST_NEXT(user, link);
		if (user->full_at > now)
			continue;
		SLIST_REMOVE(&rates->users, user, request_rate_user, link);
		free(user);
	}
}

void request_rates__count(struct request_rates *rates, uid_t uid, int64_t now)
{
	struct request_rate_user *user;

	if (!uid || !rates->cost)
		return;
	request_rates__forget(rates, now);
	user = request_rates__find(rates, uid);
	if (!user) {
		user = calloc(1, sizeof(*user));
		if (!user)
			return;
		user->uid = uid;
		user->full_at = now;
		SLIST_INSERT_HEAD(&rates->users, user, link);
	}
	user->full_at += rates->cost;
}

void request_rates__spend(struct request_rates *rates, uid_t uid, int64_t took_ns)
{
	struct request_rate_user *user = request_rates__find(rates, uid);
	const int64_t cost = took_ns * TIME_SHARE;

	if (user && cost > rates->cost)
		user->full_at += cost - rates->cost;
}

bool request_rates__allow(const struct request_rates *rates, uid_t uid, int64_t now)
{
	const struct request_rate_user *user = request_rates__find(rates, uid);

	return !user || user->full_at + rates->cost - now <= REQUEST_RATE_BURST_S * NS_PER_S;
}
