// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the list of stores, and offers them to readers. */
#include <errno.h>
#include <string.h>

#include "stores.h"

_Static_assert(DART_STORE_NAME_MAX == REMOTE_OBJECT_NAME_MAX, "all names fit");

void stores__open(struct stores *stores, const struct remote_objects *objects,
		  struct store_counts *counts)
{
	*stores = (struct stores){ .objects = *objects, .counts = counts };
	TAILQ_INIT(&stores->list);
}

/* The listener must be closed, so that there are no readers. */
void stores__close(struct stores *stores)
{
	struct store *store;

	while ((store = TAILQ_FIRST(&stores->list))) {
		TAILQ_REMOVE(&stores->list, store, link);
		store__free(store);
	}
}

/* @more: 1 or -1 */
static void stores__count(const struct stores *stores, const struct store *store, int more)
{
	count__add(&stores->counts->stores, more);
	remote_objects__count(&stores->objects, store->memory.length, more);
}

/* Each needs a memory region over all of the store, as readers do. */
void stores__note_reporter(const struct stores *stores, const struct store *store,
			   const struct report_qp *report_qp, const char *event, int more)
{
	remote_objects__announce_peer(&stores->objects, event, "reporter",
				      report_qp->path.peer, store->name);
	count__add(&stores->counts->reporters, more);
	remote_objects__count(&stores->objects, store->memory.length, more);
}

int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry, struct store_origin *origin,
		   struct store **result, struct dart_error *error)
{
	struct kept_memory *memory = &stores->objects.kept;
	char kept[FD_STORE_NAME_MAX];
	int ret;

	ret = remote_objects__check_name(&stores->objects, name, stores__find(stores, name), error);
	if (ret)
		return ret;
	store_kept__name(name, geometry, kept);
	origin->kept = -1;
	if (!origin->file)
		origin->kept =
			kept_memory__find(memory, kept, dart_store_geometry__length(geometry));
	ret = store__new(stores->objects.device, name, geometry, origin, result, error);
	if (ret)
		return ret;
	kept_memory__settle(memory, name, kept, origin->kept >= 0,
			    origin->file ? -1 : (*result)->memory.fd);
	TAILQ_INSERT_TAIL(&stores->list, *result, link);
	stores__count(stores, *result, 1);
	changes__announce(stores->objects.changes, "added", "store", name);
	return 0;
}

/* Call this before the reporters are removed. */
static void stores__note_end_of_reporters(const struct stores *stores, const struct store *store)
{
	const struct report_qp *report_qp;

	TAILQ_FOREACH(report_qp, &store->report_qps, link)
		stores__note_reporter(stores, store, report_qp, "removed", -1);
}

void stores__detach(struct stores *stores)
{
	struct store *store;

	TAILQ_FOREACH(store, &stores->list, link) {
		stores__note_end_of_reporters(stores, store);
		store__detach(store);
	}
}

int stores__attach(struct stores *stores, struct dart_error *error)
{
	struct store *store;
	int ret = 0;

	TAILQ_FOREACH(store, &stores->list, link)
		ret = ret ?: store__attach(store, error);
	return ret;
}

void stores__delete(struct stores *stores, struct store *store)
{
	char kept[FD_STORE_NAME_MAX];

	listener__disconnect(stores->objects.listener, &store->readers);
	stores__note_end_of_reporters(stores, store);
	changes__announce(stores->objects.changes, "removed", "store", store->name);
	stores__count(stores, store, -1);
	if (!store->file) {
		store_kept__name(store->name, &store->geometry, kept);
		kept_memory__remove(&stores->objects.kept, kept);
	}
	TAILQ_REMOVE(&stores->list, store, link);
	store__free(store);
}

struct store *stores__find(const struct stores *stores, const char *name)
{
	struct store *store;

	TAILQ_FOREACH(store, &stores->list, link)
		if (!strcmp(store->name, name))
			return store;
	return NULL;
}

static int offer_store(void *subject, const void *data,
		       struct peer_offer *offer, struct dart_error *error)
{
	const struct dart_store_request *request = data;
	const struct stores *stores = subject;
	struct store *store;
	int ret;

	ret = remote_objects__check_asked(&stores->objects, request->name, error);
	if (ret)
		return ret;
	store = stores__find(stores, request->name);
	if (!store)
		return dart_error__set(error, ENOENT, "there is no store '%s'", request->name);
	store__offer(store, offer);
	return 0;
}

const struct peer_kind reader_kind = {
	.name = "reader",
	.magic = DART_STORE_ACCESS_MAGIC,
	.abi_version = DART_STORE_ACCESS_ABI_VERSION,
	.request_length = sizeof(struct dart_store_request),
	.offer = offer_store,
};
