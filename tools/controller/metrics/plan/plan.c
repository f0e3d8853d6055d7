// SPDX-License-Identifier: GPL-2.0-only
/* Counts the holders of plans, lists roots, and compares samples with a plan. */
#include "plan.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "plan_store.h"

struct plan_store {
	atomic_uint holders; /* the user, and each listed root */
	pthread_mutex_t lock;
	void *roots; /* root of tsearch(3), by key */
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

/* Takes a hold; false if the last holder has put the plan, which is about to be forgotten. */
static bool try_hold(struct plan *plan)
{
	unsigned int holders = atomic_load(&plan->holders);

	while (holders) {
		if (atomic_compare_exchange_weak(&plan->holders, &holders, holders + 1))
			return true;
	}
	return false;
}

/*
 * Returns the root with a hold. If none is listed, lists @plan as the root. Returns NULL then, and
 * also if the listed root is about to be freed.
 */
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

void plan_store__share(struct plan_store *store, const void *key, struct metric_plan *metrics)
{
	struct plan *plan = (struct plan *)metrics, *root;

	plan->key = key;
	root = find_or_list(store, plan);
	if (root && plan__derive(plan, root))
		metric_plan__put(&root->metrics);
}

/* Removes @plan from its store; call before freeing it. */
static void plan_store__forget(struct plan *plan)
{
	struct plan_store *store = plan->store;

	if (!store)
		return;
	pthread_mutex_lock(&store->lock);
	tdelete(plan, &store->roots, compare_keys);
	pthread_mutex_unlock(&store->lock);
	plan_store__put(store);
}

struct plan *plan__new(void)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (plan)
		atomic_init(&plan->holders, 1);
	return plan;
}

static void plan__free(struct plan *plan)
{
	static const struct plan none;
	struct plan *root = plan->root;
	const struct plan *of = root ?: &none;

	plan_store__forget(plan);
	names__put(plan->names);
	arena__free(&plan->arena);
	if (plan->rules != of->rules)
		free(plan->rules);
	if (plan->terms != of->terms)
		free(plan->terms);
	if (plan->rows != of->rows)
		free(plan->rows);
	if (plan->buckets != of->buckets)
		free(plan->buckets);
	free(plan->watches);
	free(plan);
	/* A root never shares another plan's memory, so this recursion ends at the root. */
	if (root)
		metric_plan__put(&root->metrics);
}

struct metric_plan *metric_plan__get(struct metric_plan *metrics)
{
	atomic_fetch_add(&((struct plan *)metrics)->holders, 1);
	return metrics;
}

void metric_plan__put(struct metric_plan *metrics)
{
	struct plan *plan = (struct plan *)metrics;

	if (atomic_fetch_sub(&plan->holders, 1) == 1)
		plan__free(plan);
}

bool metric_plan__fits(const struct metric_plan *metrics, const struct sample *sample)
{
	const struct plan *plan = plan__of(metrics);
	uint32_t i;

	if (plan->instance != sample->table->instance ||
	    plan->generation != sample->table->generation ||
	    plan->entry_count != sample->entry_count)
		return false;
	for (i = 0; i < plan->watch_count; i++)
		if (!row_watch__fits(&plan->watches[i], &sample->entries[plan->watches[i].entry]))
			return false;
	return true;
}

static void *copy_bytes(struct arena *arena, const void *bytes, size_t length)
{
	void *copy = arena__take_array(arena, length, 1);

	return copy && length ? memcpy(copy, bytes, length) : copy;
}

static bool copy_watch(struct arena *arena, const struct row_watch *from, struct row_watch *to)
{
	*to = *from;
	to->fields = copy_bytes(arena, from->fields, from->field_count * sizeof(*from->fields));
	to->present = copy_bytes(arena, from->present, from->copies * sizeof(*from->present));
	to->keys = copy_bytes(arena, from->keys, (size_t)from->copies * from->key_length);
	return to->fields && to->present && to->keys;
}

struct metric_plan *metric_plan__outline(const struct metric_plan *metrics)
{
	const struct plan *plan = plan__of(metrics);
	struct plan *outline = plan__new();
	bool is_made;
	uint32_t i;

	if (!outline)
		return NULL;
	outline->instance = plan->instance;
	outline->generation = plan->generation;
	outline->entry_count = plan->entry_count;
	outline->watches = calloc((size_t)plan->watch_count + 1, sizeof(*outline->watches));
	is_made = outline->watches;
	for (i = 0; is_made && i < plan->watch_count; i++)
		is_made = copy_watch(&outline->arena, &plan->watches[i], &outline->watches[i]);
	outline->watch_count = plan->watch_count;
	if (is_made)
		return &outline->metrics;
	metric_plan__put(&outline->metrics);
	return NULL;
}
