// SPDX-License-Identifier: GPL-2.0-only
/* Chooses a client that makes room for another one. */
#include "eviction.h"

static uint32_t clients__count(const struct clients *clients, uid_t uid)
{
	const struct client *client;
	uint32_t count = 0;

	TAILQ_FOREACH(client, &clients->list, link)
		count += client->uid == uid;
	return count;
}

struct client *eviction__choose(const struct clients *clients, uid_t uid,
				uint32_t most)
{
	struct client *client, *chosen = NULL;
	uint32_t count, highest = 0;

	TAILQ_FOREACH(client, &clients->list, link) {
		/* Root's make room only for root, and its monitors never do. */
		count = client->uid ? clients__count(clients, client->uid) : 0;
		if (!client->uid && (uid || client->is_monitor))
			continue;
		if (client->is_monitor && uid && count <= most / 2)
			continue;
		if (chosen &&
		    (count < highest ||
		     (count == highest && client->active >= chosen->active)))
			continue;
		chosen = client;
		highest = count;
	}
	return chosen;
}
