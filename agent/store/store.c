// SPDX-License-Identifier: GPL-2.0-only
/* Creates a store, and lets reporters and readers reach its memory. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/rdma/neighbour.h"
#include "store.h"

static int store__open_memory(struct store *store, const struct store_origin *origin,
			      struct dart_error *error)
{
	uint64_t length = dart_store_geometry__length(&store->geometry);

	if (origin->kept >= 0)
		return remote_memory__resume(&store->memory, STORE_NOUN, length, origin->kept,
					     error);
	return remote_memory__open(&store->memory, STORE_NOUN, length, origin->fd, error);
}

static int store__open(struct store *store, const struct store_origin *origin,
		       struct dart_error *error)
{
	int ret;

	ret = store__open_memory(store, origin, error);
	if (ret)
		return ret;
	ret = memory_view__open(&store->read, store->device, store->memory.address,
				store->memory.length, IBV_ACCESS_REMOTE_READ, origin->read_base,
				error);
	if (ret)
		remote_memory__close(&store->memory);
	return ret;
}

/* A clock that was set back does not repeat an epoch. */
static uint64_t new_epoch(uint64_t old)
{
	uint64_t now = time(NULL);

	return now > old ? now : old + 1;
}

int store__new(const struct device *device, const char *name,
	       const struct dart_store_geometry *geometry, const struct store_origin *origin,
	       struct store **result, struct dart_error *error)
{
	const char *file = origin->file;
	struct store *store;
	int ret;

	store = calloc(1, sizeof(*store));
	if (!store)
		return dart_error__no_memory(error);
	store->device = device;
	store->geometry = *geometry;
	store->epoch = new_epoch(origin->epoch);
	snprintf(store->name, sizeof(store->name), "%s", name);
	store->readers = (struct peer_object){ .noun = STORE_NOUN, .name = store->name };
	TAILQ_INIT(&store->report_qps);
	store->file = file ? strdup(file) : NULL;

	ret = file && !store->file ? dart_error__no_memory(error) :
				     store__open(store, origin, error);
	if (!ret) {
		*result = store;
		return 0;
	}
	free(store->file);
	free(store);
	return ret;
}

void store__detach(struct store *store)
{
	struct report_qp *report_qp;

	while ((report_qp = TAILQ_FIRST(&store->report_qps)))
		store__remove_reporter(store, report_qp);
	memory_view__close(&store->read);
}

int store__attach(struct store *store, struct dart_error *error)
{
	const uint64_t base = store->read.base;
	int ret;

	ret = memory_view__open(&store->read, store->device, store->memory.address,
				store->memory.length, IBV_ACCESS_REMOTE_READ, base, error);
	/* Reporters get other keys and queue pairs. */
	if (!ret)
		store->epoch = new_epoch(store->epoch);
	return ret;
}

void store__free(struct store *store)
{
	store__detach(store);
	remote_memory__close(&store->memory);
	free(store->file);
	free(store);
}

int store__add_reporter(struct store *store, struct in_addr address,
			const struct report_qp_origin *origin,
			struct report_qp **result, struct dart_error *error)
{
	struct memory_view view;
	struct local_path path;
	int ret;

	if (!store->read.pd)
		return dart_error__set(error, ENODEV,
				       "reporters need the RDMA device, which is not there now");
	ret = local_path__find(&path, store->device, address, error) ?:
		      neighbour__resolve(address, error)	     ?:
		      memory_view__open(&view, store->device, store->memory.address,
					store->memory.length,
					IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
					origin->base, error);
	if (ret)
		return ret;
	ret = report_qp__new(store->device, &view, &path, origin->first_psn, result, error);
	if (ret)
		memory_view__close(&view);
	else
		TAILQ_INSERT_TAIL(&store->report_qps, *result, link);
	return ret;
}

void store__remove_reporter(struct store *store, struct report_qp *report_qp)
{
	TAILQ_REMOVE(&store->report_qps, report_qp, link);
	report_qp__free(report_qp);
}

struct report_qp *store__find_reporter(const struct store *store, struct in_addr address)
{
	struct report_qp *report_qp;

	TAILQ_FOREACH(report_qp, &store->report_qps, link)
		if (report_qp->path.peer.s_addr == address.s_addr)
			return report_qp;
	return NULL;
}

void store__offer(struct store *store, struct peer_offer *offer)
{
	const struct dart_store_geometry *geometry = &store->geometry;
	const struct dart_store_accept accept = {
		.magic = htole64(DART_STORE_ACCESS_MAGIC),
		.abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION),
		.rkey = htole32(store->read.memory_region->rkey),
		.base = htole64(store->read.base),
		.slots_log2 = htole32(__builtin_ctzll(geometry->slots)),
		.value_length = htole32(geometry->value_length),
		.checksum_bits = htole32(geometry->checksum_bits),
		.redundancy = htole32(geometry->redundancy),
	};

	offer->pd = store->read.pd;
	offer->object = &store->readers;
	offer->length = sizeof(accept);
	memcpy(offer->data, &accept, sizeof(accept));
}
