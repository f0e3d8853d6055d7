// SPDX-License-Identifier: GPL-2.0-only
/* Finds objects by their content, and counts their holders. */
#include "content.h"

#include <errno.h>
#include <search.h>
#include <sys/random.h>

int content_store__open(struct content_store *store, const struct content_kind *kind)
{
	*store = (struct content_store){ .kind = kind };
	store->state = XXH3_createState();
	if (!store->state)
		return -ENOMEM;
	pthread_mutex_init(&store->lock, NULL);
	/* getrandom(2) returns so few bytes without interruption and completely. */
	if (getrandom(store->secret, sizeof(store->secret), 0) < 0)
		return -errno;
	return 0;
}

void content_store__close(struct content_store *store)
{
	if (!store->state)
		return;
	pthread_mutex_destroy(&store->lock);
	XXH3_freeState(store->state);
	store->state = NULL;
}

size_t content_store__count(struct content_store *store)
{
	size_t count;

	pthread_mutex_lock(&store->lock);
	count = store->count;
	pthread_mutex_unlock(&store->lock);
	return count;
}

XXH3_state_t *content_store__hash(struct content_store *store)
{
	XXH3_64bits_reset_withSecret(store->state, store->secret, sizeof(store->secret));
	return store->state;
}

void content__init(struct content *content, const struct content_kind *kind)
{
	*content = (struct content){ .kind = kind };
	atomic_init(&content->holders, 1);
}

static int compare(const void *a, const void *b)
{
	const struct content *one = a, *other = b;

	if (one->hash != other->hash)
		return one->hash < other->hash ? -1 : 1;
	return one->kind->compare(one, other);
}

/* The caller holds the store's lock. */
static void content__unlist(struct content *content)
{
	if (!content->is_listed)
		return;
	tdelete(content, &content->store->tree, compare);
	content->is_listed = false;
	content->store->count--;
}

/* Takes a hold; false if the last holder has released the object and is about to free it. */
static bool content__hold(struct content *content)
{
	unsigned int holders = atomic_load(&content->holders);

	while (holders) {
		if (atomic_compare_exchange_weak(&content->holders, &holders, holders + 1))
			return true;
	}
	return false;
}

struct content *content_store__find(struct content_store *store, const struct content *key)
{
	struct content *content = NULL, **found;

	pthread_mutex_lock(&store->lock);
	found = tfind(key, &store->tree, compare);
	if (found)
		content = *found;
	if (content && !content__hold(content)) {
		/* Make room: the caller may add an equal object. */
		content__unlist(content);
		content = NULL;
	}
	pthread_mutex_unlock(&store->lock);
	return content;
}

int content_store__add(struct content_store *store, struct content *content)
{
	int err = 0;

	pthread_mutex_lock(&store->lock);
	content->store = store;
	if (tsearch(content, &store->tree, compare)) {
		content->is_listed = true;
		store->count++;
	} else {
		err = -ENOMEM;
	}
	pthread_mutex_unlock(&store->lock);
	return err;
}

void content__release(struct content *content)
{
	struct content_store *store;

	if (!content || atomic_fetch_sub(&content->holders, 1) != 1)
		return;
	store = content->store;
	if (store) {
		pthread_mutex_lock(&store->lock);
		content__unlist(content);
		pthread_mutex_unlock(&store->lock);
	}
	content->kind->free(content);
}
