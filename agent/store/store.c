// SPDX-License-Identifier: GPL-2.0-only
/* Creates stores, and lets reporters and readers reach their memory. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/store_access.h>
#include <libdart/report/collectors.h>

#include "agent/rdma/report_kept.h"
#include "store.h"
#include "store_kept.h"

_Static_assert(DART_STORE_NAME_MAX == REMOTE_OBJECT_NAME_MAX, "all names fit");
_Static_assert(!offsetof(struct store, object) && !offsetof(struct report_qp, peer),
	       "they are the first members");

int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry, const struct rotation_plan *plan,
		   struct remote_origin *origin, struct store **result, struct dart_error *error)
{
	uint64_t length = dart_store_geometry__length(geometry);
	struct store *store = calloc(1, sizeof(*store));
	int ret;

	if (!store)
		return dart_error__no_memory(error);
	store->geometry = *geometry;
	store->epoch = report_epoch__next(origin->epoch);
	store->plan = plan;
	store->stores = stores;
	if (plan)
		length = DART_EPOCH_MEMORY_LENGTH(length);
	ret = remote_objects__add(&stores->objects, &store->object, name, length, origin, error);
	if (ret) {
		free(store);
		return ret;
	}
	store->plan = NULL;
	*result = store;
	return 0;
}

static int store__open(struct remote_object *object, struct dart_error *error)
{
	struct store *store = (struct store *)object;

	if (!store->plan)
		return 0;
	return rotation__open(&store->rotation, store->plan, &store->stores->objects, object,
			      &store->geometry, store->stores->loop, store->stores->state,
			      store->stores->epoch_counts, error);
}

static void store__close(struct remote_object *object)
{
	rotation__close(((struct store *)object)->rotation);
}

/* The slots of the present epoch, or all. */
static void store__window(const struct remote_object *object, size_t *offset, size_t *length)
{
	const struct store *store = (const struct store *)object;

	*offset = store->rotation ? rotation__offset(store->rotation) : 0;
	*length = dart_store_geometry__length(&store->geometry);
}

/* Reporters get other keys and queue pairs. */
static void store__attached(struct remote_object *object)
{
	struct store *store = (struct store *)object;

	store->epoch = report_epoch__next(store->epoch);
}

static void store__print_kept(const struct remote_object *object,
			      char name[static FD_STORE_NAME_MAX])
{
	store_kept__name(object->name, &((const struct store *)object)->geometry, name);
}

int stores__add_reporter(struct remote_objects *stores, struct store *store, struct in_addr address,
			 const struct report_qp_origin *origin, struct report_qp **result,
			 struct dart_error *error)
{
	size_t offset, length;
	int ret;

	if (!store->object.read.pd)
		return dart_error__set(error, ENODEV,
				       "reporters need the RDMA device, which is not there now");
	store__window(&store->object, &offset, &length);
	ret = report_qp__new(stores->device, address,
			     (uint8_t *)store->object.memory.address + offset, length,
			     DART_STORE_SLOT_MAX, origin, result, error);
	if (!ret)
		remote_objects__add_peer(stores, &store->object, &(*result)->peer);
	return ret;
}

static void free_reporter(struct remote_peer *peer)
{
	report_qp__free((struct report_qp *)peer);
}

static size_t store__offer(const struct remote_object *object, void *data)
{
	const struct dart_store_geometry *geometry = &((const struct store *)object)->geometry;
	const struct dart_store_accept accept = {
		.magic = htole64(DART_STORE_ACCESS_MAGIC),
		.abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION),
		.rkey = htole32(object->read.memory_region->rkey),
		.base = htole64(object->read.base),
		.slots_log2 = htole32(__builtin_ctzll(geometry->slots)),
		.value_length = htole32(geometry->value_length),
		.checksum_bits = htole32(geometry->checksum_bits),
		.redundancy = htole32(geometry->redundancy),
	};

	memcpy(data, &accept, sizeof(accept));
	return sizeof(accept);
}

/* In replies of <dart/registration.h>. */
static json_t *store__to_json(const struct remote_object *object)
{
	const struct store *store = (const struct store *)object;

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:I, s:b, s:s*, s:I, s:I, s:I, s:o*}", "name",
			 object->name, "slots_log2",
			 (json_int_t)__builtin_ctzll(store->geometry.slots), "value_length",
			 (json_int_t)store->geometry.value_length, "checksum_bits",
			 (json_int_t)store->geometry.checksum_bits, "redundancy",
			 (json_int_t)store->geometry.redundancy, "transport",
			 report_transport__word(store->transport), "bytes",
			 (json_int_t)object->memory.length, "huge_pages", object->memory.is_huge,
			 "file", object->file, "epoch", (json_int_t)store->epoch, "reporters",
			 remote_object__count_peers(object), "readers",
			 (json_int_t)object->readers.peers, "epochs",
			 store->rotation ? rotation__to_json(store->rotation) : NULL);
}

/* A reporter, in replies. */
static json_t *store__reporter_to_json(const struct remote_object *object,
				       const struct remote_peer *peer)
{
	const struct report_qp *report_qp = (const struct report_qp *)peer;
	struct answering_qp_state state = { .is_ready = true };
	char text[INET_ADDRSTRLEN];

	if (report_qp->is_reliable)
		state = report_qp__state(report_qp);
	inet_ntop(AF_INET, &peer->address, text, sizeof(text));
	return json_pack("{s:s, s:s, s:I, s:s, s:s, s:I, s:o*}", "store", object->name, "reporter",
			 text, "qpn", (json_int_t)report_qp->queue_pair->qp_num, "transport",
			 report_qp->is_reliable ? "rc" : "uc", "state",
			 state.is_ready ? "ready" : "error", "first_psn",
			 (json_int_t)report_qp->first_psn, "expected_psn",
			 report_qp->is_reliable ? json_integer(state.expected_psn) : NULL);
}

static json_t *collector(const struct store *store, const struct report_qp *report_qp)
{
	struct dart_collector collector = {
		.epoch = store->epoch,
		.geometry = store->geometry,
	};

	if (store->rotation && store->rotation->plan.falls) {
		collector.redundancy_max = store->geometry.redundancy;
		collector.geometry.redundancy = store->rotation->redundancy;
	}

	report_qp__describe(report_qp, &collector);
	snprintf(collector.name, sizeof(collector.name), "%s", store->object.name);
	return dart_collector__to_json(&collector);
}

/* The numbers that reporters need, as in dart_collectors(5). */
static json_t *store__export(const struct remote_object *object)
{
	const struct remote_peer *peer;
	json_t *list = json_array();

	TAILQ_FOREACH(peer, &object->peers, link)
		reply__append(&list, collector((const struct store *)object,
					       (const struct report_qp *)peer));
	return list;
}

const struct remote_kind store_kind = {
	.noun = STORE_NOUN,
	.peer = "reporter",
	.purpose = "reports",
	.contents = "reports",
	.print_kept = store__print_kept,
	.open = store__open,
	.close = store__close,
	.window = store__window,
	.attached = store__attached,
	.free_peer = free_reporter,
	.offer = store__offer,
	.to_json = store__to_json,
	.peer_to_json = store__reporter_to_json,
	.export = store__export,
};

const struct peer_kind reader_kind = {
	.name = "reader",
	.magic = DART_STORE_ACCESS_MAGIC,
	.abi_version = DART_STORE_ACCESS_ABI_VERSION,
	.request_length = sizeof(struct dart_store_request),
	.offer = remote_objects__offer,
};
