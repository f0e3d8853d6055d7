// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the list of stores, and offers them to readers. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "agent/base/entry_name.h"
#include "agent/base/log.h"
#include "stores.h"

void stores__open(struct stores *stores, const struct device *device,
		  struct fd_store *descriptors, struct listener *listener,
		  const struct changes *changes,
		  struct store_counts *counts,
		  struct memory_counts *memory_counts)
{
	*stores = (struct stores){
		.device = device,
		.listener = listener,
		.changes = changes,
		.counts = counts,
		.memory_counts = memory_counts,
	};
	TAILQ_INIT(&stores->list);
	kept_memory__open(&stores->kept, descriptors, STORE_NOUN);
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

/* Readers and each reporter have a memory region over all of it. */
static void stores__count_region(const struct stores *stores,
				 const struct store *store, int more)
{
	count__add(&stores->memory_counts->regions, more);
	count__add(&stores->memory_counts->bytes,
		   more * (int64_t)store->memory.length);
}

/* @more: 1 or -1 */
static void stores__count(const struct stores *stores,
			  const struct store *store, int more)
{
	count__add(&stores->counts->stores, more);
	stores__count_region(stores, store, more);
}

void stores__count_reporter(const struct stores *stores,
			    const struct store *store, int more)
{
	count__add(&stores->counts->reporters, more);
	stores__count_region(stores, store, more);
}

static int stores__check_name(const struct stores *stores, const char *name,
			      struct dart_error *error)
{
	int ret = entry_name__check(name, error);

	if (ret)
		return ret;
	if (!stores->device->context)
		return dart_error__set(
			error, ENODEV,
			"stores need an RDMA device, and the configuration says that there is none");
	if (strlen(name) >= DART_STORE_NAME_MAX)
		return dart_error__set(
			error, ENAMETOOLONG,
			"the name of a store has at most %d characters",
			DART_STORE_NAME_MAX - 1);
	if (stores__find(stores, name))
		return dart_error__set(error, EEXIST,
				       "the store '%s' already exists", name);
	return 0;
}

bool stores__drop_kept(struct stores *stores, const char *name)
{
	return kept_memory__drop_others(&stores->kept, name, NULL);
}

void stores__log_kept(const struct stores *stores)
{
	kept_memory__log(&stores->kept);
}

int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry,
		   struct store_origin *origin, struct store **result,
		   struct dart_error *error)
{
	char kept[FD_STORE_NAME_MAX];
	int ret = stores__check_name(stores, name, error);

	if (ret)
		return ret;
	store_kept__name(name, geometry, kept);
	origin->kept = -1;
	if (!origin->file)
		origin->kept = kept_memory__find(
			&stores->kept, kept,
			dart_store_geometry__length(geometry));
	ret = store__new(stores->device, name, geometry, origin, result, error);
	if (ret)
		return ret;
	if (kept_memory__drop_others(&stores->kept, name,
				     origin->kept < 0 ? NULL : kept))
		log__warning(
			"dropped the kept memory of store %s: it has another geometry, or a file",
			name);
	if (origin->kept >= 0)
		kept_memory__release(&stores->kept, kept);
	else if (!origin->file)
		kept_memory__put(&stores->kept, kept, (*result)->memory.fd);
	TAILQ_INSERT_TAIL(&stores->list, *result, link);
	stores__count(stores, *result, 1);
	changes__announce(stores->changes, "added", "store", name);
	return 0;
}

void stores__disconnect_readers(struct stores *stores, struct store *store)
{
	listener__disconnect(stores->listener, &store->readers);
}

void stores__delete(struct stores *stores, struct store *store)
{
	const struct report_qp *report_qp;
	char address[INET_ADDRSTRLEN], kept[FD_STORE_NAME_MAX];

	stores__disconnect_readers(stores, store);
	TAILQ_FOREACH(report_qp, &store->report_qps, link) {
		inet_ntop(AF_INET, &report_qp->path.peer, address,
			  sizeof(address));
		changes__announce_in(stores->changes, "removed", "reporter",
				     address, STORE_NOUN, store->name);
		stores__count_reporter(stores, store, -1);
	}
	changes__announce(stores->changes, "removed", "store", store->name);
	stores__count(stores, store, -1);
	if (!store->file) {
		store_kept__name(store->name, &store->geometry, kept);
		kept_memory__remove(&stores->kept, kept);
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

static int offer_store(void *stores, const void *data, struct peer_offer *offer,
		       struct dart_error *error)
{
	const struct dart_store_request *request = data;
	size_t length = strnlen(request->name, sizeof(request->name));
	struct store *store;
	size_t i;

	if (length == sizeof(request->name))
		return dart_error__set(error, EPROTO,
				       "its request does not name a store");
	for (i = length; i < sizeof(request->name); i++)
		if (request->name[i])
			return dart_error__set(
				error, EPROTO,
				"its request has data behind the name");
	store = stores__find(stores, request->name);
	if (!store)
		return dart_error__set(error, ENOENT, "there is no store '%s'",
				       request->name);
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
