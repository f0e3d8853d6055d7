// SPDX-License-Identifier: GPL-2.0-only
/* Creates a store, and lets reporters and readers reach its memory. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/log.h"
#include "agent/base/rdma_base.h"
#include "store.h"

/* @base: 0 for a random one. */
static int store__open_view(const struct store *store, int access,
			    uint64_t base, struct store_view *view,
			    struct dart_error *error)
{
	int ret = 0;

	view->base = base;
	if (!base)
		ret = rdma_base__choose(&view->base, error);
	if (ret)
		return ret;
	view->memory_region = ibv_reg_mr_iova(store->pd, store->memory.address,
					      store->memory.length, view->base,
					      access);
	if (!view->memory_region)
		return dart_error__system(error, errno,
					  "cannot register %zu bytes for RDMA",
					  store->memory.length);
	return 0;
}

static void store__close_view(struct store_view *view)
{
	if (ibv_dereg_mr(view->memory_region))
		log__error("cannot deregister a memory region of a store");
}

static int store__open_memory(struct store *store,
			      const struct store_origin *origin,
			      struct dart_error *error)
{
	uint64_t length = dart_store_geometry__length(&store->geometry);

	if (origin->kept >= 0)
		return store_memory__resume(&store->memory, length,
					    origin->kept, error);
	return store_memory__open(&store->memory, length, origin->fd, error);
}

static int store__open(struct store *store, const struct store_origin *origin,
		       struct dart_error *error)
{
	int ret;

	ret = store__open_memory(store, origin, error);
	if (ret)
		return ret;
	store->pd = ibv_alloc_pd(store->device->context);
	if (!store->pd) {
		ret = dart_error__system(
			error, errno, "cannot open a protection domain on %s",
			device__name(store->device));
		goto close_memory;
	}
	ret = store__open_view(store,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
			       origin->base, &store->written, error);
	if (ret)
		goto dealloc_pd;
	ret = store__open_view(store, IBV_ACCESS_REMOTE_READ, origin->read_base,
			       &store->read, error);
	if (ret)
		goto close_written;
	return 0;

close_written:
	store__close_view(&store->written);
dealloc_pd:
	ibv_dealloc_pd(store->pd);
close_memory:
	store_memory__close(&store->memory);
	return ret;
}

/* A clock that was set back does not repeat an epoch. */
static uint64_t new_epoch(uint64_t old)
{
	uint64_t now = time(NULL);

	return now > old ? now : old + 1;
}

int store__new(const struct device *device, const char *name,
	       const struct dart_store_geometry *geometry,
	       const struct store_origin *origin, struct store **result,
	       struct dart_error *error)
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
	store->readers.name = store->name;
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

void store__free(struct store *store)
{
	struct report_qp *report_qp;

	while ((report_qp = TAILQ_FIRST(&store->report_qps)))
		store__remove_reporter(store, report_qp);
	store__close_view(&store->read);
	store__close_view(&store->written);
	ibv_dealloc_pd(store->pd);
	store_memory__close(&store->memory);
	free(store->file);
	free(store);
}

int store__add_reporter(struct store *store, struct in_addr address,
			int32_t first_psn, struct report_qp **result,
			struct dart_error *error)
{
	int ret = report_qp__new(store->device, store->pd, address, first_psn,
				 result, error);

	if (!ret)
		TAILQ_INSERT_TAIL(&store->report_qps, *result, link);
	return ret;
}

void store__remove_reporter(struct store *store, struct report_qp *report_qp)
{
	TAILQ_REMOVE(&store->report_qps, report_qp, link);
	report_qp__free(report_qp);
}

struct report_qp *store__find_reporter(const struct store *store,
				       struct in_addr address)
{
	struct report_qp *report_qp;

	TAILQ_FOREACH(report_qp, &store->report_qps, link)
		if (report_qp->address.s_addr == address.s_addr)
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

	offer->pd = store->pd;
	offer->object = &store->readers;
	offer->length = sizeof(accept);
	memcpy(offer->data, &accept, sizeof(accept));
}

int store__reopen(const struct store *store, struct dart_error *error)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", store->memory.fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return dart_error__system(error, errno,
					  "cannot open '%s' for reading",
					  store->name);
	return fd;
}
