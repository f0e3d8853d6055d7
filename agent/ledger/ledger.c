// SPDX-License-Identifier: GPL-2.0-only
/* Creates ledgers, and lets adders and readers reach their memory. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/ledger_access.h>
#include <libdart/rdma/verbs.h>
#include <libdart/report/ledger_target.h>

#include "agent/rdma/report_kept.h"
#include "ledger.h"

_Static_assert(DART_LEDGER_NAME_MAX == REMOTE_OBJECT_NAME_MAX, "all names fit");
_Static_assert(!offsetof(struct ledger, object) && !offsetof(struct adder, peer) &&
		       !offsetof(struct ledgers, objects),
	       "they are the first members");
_Static_assert(KEPT_MEMORY_NAME_FITS(LEDGER_KEPT_PREFIX, DART_LEDGER_NAME_MAX, ",8,28"),
	       "the name fits");

static const struct answering_qp_kind adder_qp_kind = {
	.one = "an adder",
	.all = "adders",
	.access = IBV_ACCESS_REMOTE_ATOMIC,
	.outstanding = DART_LEDGER_OUTSTANDING,
	/* Requests and answers have 8 bytes. */
	.path_mtu = IBV_MTU_256,
	.needs_atomics = true,
};

int ledgers__create(struct ledgers *ledgers, const char *name,
		    const struct dart_ledger_geometry *geometry, struct remote_origin *origin,
		    struct ledger **result, struct dart_error *error)
{
	struct ledger *ledger;
	int ret;

	if (htole32(1) != 1)
		return dart_error__set(
			error, EOPNOTSUPP,
			"the words of ledgers are little-endian, but this host is not");
	ledger = calloc(1, sizeof(*ledger));
	if (!ledger)
		return dart_error__no_memory(error);
	ledger->geometry = *geometry;
	ledger->epoch = report_epoch__next(origin->epoch);
	ret = remote_objects__add(&ledgers->objects, &ledger->object, name,
				  dart_ledger_geometry__length(geometry), origin, error);
	if (ret)
		free(ledger);
	else
		*result = ledger;
	return ret;
}

/* Adders get other keys and queue pairs. */
static void ledger__attached(struct remote_object *object)
{
	struct ledger *ledger = (struct ledger *)object;

	ledger->epoch = report_epoch__next(ledger->epoch);
}

static void ledger__print_kept(const struct remote_object *object,
			       char name[static FD_STORE_NAME_MAX])
{
	const struct dart_ledger_geometry *geometry = &((const struct ledger *)object)->geometry;

	kept_memory__name(name, LEDGER_NOUN, object->name, "%u,%u", geometry->rows,
			  geometry->words_log2);
}

/* ---- adders */

static int adder__open(struct adder *adder, const struct ledgers *ledgers,
		       const struct ledger *ledger, uint64_t base, const struct local_path *path,
		       struct dart_error *error)
{
	const struct remote_memory *memory = &ledger->object.memory;
	const struct device *device = ledgers->objects.device;
	int ret;

	ret = memory_view__open(&adder->view, device, memory->address, memory->length,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC, base, error);
	if (ret)
		return ret;
	ret = answering_qp__open(&adder->answering_qp, &adder_qp_kind, device, adder->view.pd, path,
				 error);
	if (ret)
		memory_view__close(&adder->view);
	return ret;
}

int ledgers__add_adder(struct ledgers *ledgers, struct ledger *ledger, struct in_addr address,
		       uint64_t base, struct adder **result, struct dart_error *error)
{
	struct local_path path;
	struct adder *adder;
	int ret;

	ret = answering_qp__find_path(&adder_qp_kind, ledgers->objects.device, address, &path,
				      error);
	if (ret)
		return ret;
	adder = calloc(1, sizeof(*adder));
	if (!adder)
		return dart_error__no_memory(error);
	adder->peer.address = address;
	adder->peer.length = ledger->object.memory.length;
	ret = adder__open(adder, ledgers, ledger, base, &path, error);
	if (ret) {
		free(adder);
		return ret;
	}
	remote_objects__add_peer(&ledgers->objects, &ledger->object, &adder->peer);
	*result = adder;
	return 0;
}

static void free_adder(struct remote_peer *peer)
{
	struct adder *adder = (struct adder *)peer;

	answering_qp__close(&adder->answering_qp);
	memory_view__close(&adder->view);
	free(adder);
}

int ledgers__renew_adder(struct ledgers *ledgers, struct ledger *ledger, struct adder *adder,
			 struct dart_error *error)
{
	const struct device *device = ledgers->objects.device;
	struct answering_qp renewed;
	struct local_path path;
	int ret;

	ret = answering_qp__find_path(&adder_qp_kind, device, adder->peer.address, &path, error);
	ret = ret   ?:
		      answering_qp__open(&renewed, &adder_qp_kind, device, adder->view.pd, &path,
					 error);
	if (ret)
		return ret;
	answering_qp__close(&adder->answering_qp);
	adder->answering_qp = renewed;
	adder->renewals++;
	count__add(ledgers->renewal_count, 1);
	ledger->epoch = report_epoch__next(ledger->epoch);
	remote_objects__announce_peer(&ledgers->objects, "renewed", &adder->peer, &ledger->object);
	return 0;
}

/* ---- readers */

static size_t ledger__offer(const struct remote_object *object, void *data)
{
	const struct dart_ledger_geometry *geometry = &((const struct ledger *)object)->geometry;
	const struct dart_ledger_accept accept = {
		.magic = htole64(DART_LEDGER_ACCESS_MAGIC),
		.abi_version = htole32(DART_LEDGER_ACCESS_ABI_VERSION),
		.rkey = htole32(object->read.memory_region->rkey),
		.base = htole64(object->read.base),
		.rows = htole32(geometry->rows),
		.words_log2 = htole32(geometry->words_log2),
	};

	_Static_assert(sizeof(accept) <= PEER_OFFER_MAX, "it fits");
	memcpy(data, &accept, sizeof(accept));
	return sizeof(accept);
}

/* ---- JSON */

/* In replies of <dart/registration.h>. */
static json_t *ledger__to_json(const struct remote_object *object)
{
	const struct ledger *ledger = (const struct ledger *)object;

	return json_pack("{s:s, s:I, s:I, s:I, s:b, s:s*, s:I, s:I, s:I}", "name", object->name,
			 "rows", (json_int_t)ledger->geometry.rows, "words_log2",
			 (json_int_t)ledger->geometry.words_log2, "bytes",
			 (json_int_t)object->memory.length, "huge_pages", object->memory.is_huge,
			 "file", object->file, "epoch", (json_int_t)ledger->epoch, "adders",
			 remote_object__count_peers(object), "readers",
			 (json_int_t)object->readers.peers);
}

/* An adder, in replies. */
static json_t *ledger__adder_to_json(const struct remote_object *object,
				     const struct remote_peer *peer)
{
	const struct adder *adder = (const struct adder *)peer;
	const struct answering_qp *answering_qp = &adder->answering_qp;
	const struct answering_qp_state state = answering_qp__state(answering_qp);
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &peer->address, text, sizeof(text));
	return json_pack("{s:s, s:s, s:I, s:s, s:I, s:I, s:I}", "ledger", object->name, "adder",
			 text, "qpn", (json_int_t)answering_qp->queue_pair->qp_num, "state",
			 state.is_ready ? "ready" : "error", "first_psn",
			 (json_int_t)answering_qp->first_psn, "expected_psn",
			 (json_int_t)state.expected_psn, "renewals", (json_int_t)adder->renewals);
}

static void describe(const struct ledger *ledger, const struct adder *adder,
		     struct dart_collector *collector)
{
	const struct answering_qp *answering_qp = &adder->answering_qp;

	*collector = (struct dart_collector){
		.reporter = answering_qp->path.peer,
		.ip = answering_qp->path.local,
		.dscp = answering_qp->path.traffic_class >> DART_VERBS_DSCP_SHIFT,
		.qpn = answering_qp->queue_pair->qp_num,
		.rkey = adder->view.memory_region->rkey,
		.first_psn = answering_qp->first_psn,
		.base = adder->view.base,
		.epoch = ledger->epoch,
	};
	memcpy(collector->mac, answering_qp->path.mac, sizeof(collector->mac));
	snprintf(collector->name, sizeof(collector->name), "%s", ledger->object.name);
}

/* The numbers that adders need, as in dart_ledgers(5). */
static json_t *ledger__export(const struct remote_object *object)
{
	const struct ledger *ledger = (const struct ledger *)object;
	const struct remote_peer *peer;
	json_t *list = json_array();

	TAILQ_FOREACH(peer, &object->peers, link) {
		struct dart_ledger_target target = { .geometry = ledger->geometry };

		describe(ledger, (const struct adder *)peer, &target.collector);
		reply__append(&list, dart_ledger_target__to_json(&target));
	}
	return list;
}

const struct remote_kind ledger_kind = {
	.noun = LEDGER_NOUN,
	.peer = "adder",
	.purpose = "amounts",
	.contents = "sums",
	.print_kept = ledger__print_kept,
	.attached = ledger__attached,
	.free_peer = free_adder,
	.offer = ledger__offer,
	.to_json = ledger__to_json,
	.peer_to_json = ledger__adder_to_json,
	.export = ledger__export,
};

const struct peer_kind ledger_reader_kind = {
	.name = "ledger reader",
	.magic = DART_LEDGER_ACCESS_MAGIC,
	.abi_version = DART_LEDGER_ACCESS_ABI_VERSION,
	.request_length = sizeof(struct dart_ledger_request),
	.offer = remote_objects__offer,
};
