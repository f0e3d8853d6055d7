// SPDX-License-Identifier: GPL-2.0-only
/* Finds the roots of plans: see plan_store.h. */
#include "plan_store.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>

struct plan_store {
	atomic_uint holders; /* the user, and each root that is listed */
	pthread_mutex_t lock;
	void *roots; /* of tsearch(3), by key */
};

struct plan_store *plan_store__new(void)
{
	struct plan_store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	atomic_init(&store->holders, 1);
	pthread_mutex_init(&store->lock, NULL);
	return store;
}

void plan_store__put(struct plan_store *store)
{
	if (!store || atomic_fetch_sub(&store->holders, 1) != 1)
		return;
	pthread_mutex_destroy(&store->lock);
	free(store);
}

static int compare_keys(const void *a, const void *b)
{
	const uintptr_t one = (uintptr_t)((const struct plan *)a)->key;
	const uintptr_t other = (uintptr_t)((const struct plan *)b)->key;

	return (one > other) - (one < other);
}

/* False if its last holder has put it: it is about to be forgotten. */
static bool try_hold(struct plan *plan)
{
	unsigned int holders = atomic_load(&plan->holders);

	while (holders) {
		if (atomic_compare_exchange_weak(&plan->holders, &holders,
						 holders + 1))
			return true;
	}
	return false;
}

/* The root, held; NULL if there is none.  Then @plan may be it. */
static struct plan *find_or_list(struct plan_store *store, struct plan *plan)
{
	struct plan **found, *root = NULL;

	pthread_mutex_lock(&store->lock);
	found = tsearch(plan, &store->roots, compare_keys);
	if (found && *found == plan) {
		plan->store = store;
		atomic_fetch_add(&store->holders, 1);
	} else if (found && try_hold(*found)) {
		root = *found;
	}
	pthread_mutex_unlock(&store->lock);
	return root;
}

void plan_store__share(struct plan_store *store, const void *key,
		       struct metric_plan *metrics)
{
	struct plan *plan = (struct plan *)metrics, *root;

	plan->key = key;
	root = find_or_list(store, plan);
	if (root && plan__derive(plan, root))
		metric_plan__put(&root->metrics);
}

void plan_store__forget(struct plan *plan)
{
	struct plan_store *store = plan->store;

	if (!store)
		return;
	pthread_mutex_lock(&store->lock);
	tdelete(plan, &store->roots, compare_keys);
	pthread_mutex_unlock(&store->lock);
	plan_store__put(store);
}
