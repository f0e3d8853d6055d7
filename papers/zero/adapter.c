// SPDX-License-Identifier: GPL-2.0-only
/* A cache of queue pairs: see adapter.h. */
#include "adapter.h"

#include <err.h>
#include <stdlib.h>

void adapter__init(struct adapter *adapter, uint32_t pairs, uint32_t room, uint64_t fetch_ns)
{
	*adapter = (struct adapter){ .room = room, .fetch_ns = fetch_ns };
	TAILQ_INIT(&adapter->cache);
	adapter->pairs = calloc(pairs, sizeof(*adapter->pairs));
	if (!adapter->pairs)
		err(1, "simulation");
}

void adapter__free(struct adapter *adapter)
{
	free(adapter->pairs);
}

/* Makes room for one more pair. */
static void adapter__evict(struct adapter *adapter)
{
	struct adapter_pair *pair = TAILQ_FIRST(&adapter->cache);

	TAILQ_REMOVE(&adapter->cache, pair, place);
	pair->is_cached = false;
	adapter->cached--;
}

uint64_t adapter__use(struct adapter *adapter, uint32_t index, uint64_t now_ns)
{
	struct adapter_pair *pair = &adapter->pairs[index];

	if (!adapter->room)
		return now_ns;
	if (adapter->free_ns < now_ns)
		adapter->free_ns = now_ns;
	if (pair->is_cached) {
		TAILQ_REMOVE(&adapter->cache, pair, place);
	} else {
		if (adapter->cached == adapter->room)
			adapter__evict(adapter);
		pair->is_cached = true;
		adapter->cached++;
		adapter->fetches++;
		adapter->free_ns += adapter->fetch_ns;
	}
	TAILQ_INSERT_TAIL(&adapter->cache, pair, place);
	return adapter->free_ns;
}
