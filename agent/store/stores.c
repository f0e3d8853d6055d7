// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the list of stores, and offers them to readers. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "agent/base/entry_name.h"
#include "stores.h"

void stores__open(struct stores *stores, const struct device *device,
		  struct listener *listener, const struct changes *changes)
{
	*stores = (struct stores){
		.device = device,
		.listener = listener,
		.changes = changes,
	};
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

static int stores__check_name(const struct stores *stores, const char *name,
			      struct dart_error *error)
{
	int ret = entry_name__check(name, error);

	if (ret)
		return ret;
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

int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry, int fd,
		   const char *file, struct store **result,
		   struct dart_error *error)
{
	int ret = stores__check_name(stores, name, error) ?:
			  store__new(stores->device, name, geometry, fd, file,
				     result, error);

	if (ret)
		return ret;
	TAILQ_INSERT_TAIL(&stores->list, *result, link);
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
	char address[INET_ADDRSTRLEN];

	stores__disconnect_readers(stores, store);
	TAILQ_FOREACH(report_qp, &store->report_qps, link) {
		inet_ntop(AF_INET, &report_qp->address, address,
			  sizeof(address));
		changes__announce(stores->changes, "removed", "reporter",
				  address);
	}
	changes__announce(stores->changes, "removed", "store", store->name);
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
