// SPDX-License-Identifier: GPL-2.0-only
/* Creates sketches, and lets sketchers and readers reach their memory. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/sketch_access.h>
#include <libdart/report/sketch_target.h>

#include "agent/rdma/kept_memory.h"
#include "agent/rdma/report_kept.h"
#include "agent/rdma/report_parts.h"
#include "sketch.h"

_Static_assert(DART_SKETCH_NAME_MAX == REMOTE_OBJECT_NAME_MAX, "all names fit");
_Static_assert(!offsetof(struct sketch, object), "it is the first member");

int sketches__create(struct remote_objects *sketches, const char *name,
		     const struct dart_sketch_geometry *geometry, struct remote_origin *origin,
		     struct sketch **result, struct dart_error *error)
{
	struct sketch *sketch = calloc(1, sizeof(*sketch));
	int ret;

	if (!sketch)
		return dart_error__no_memory(error);
	sketch->geometry = *geometry;
	sketch->epoch = report_epoch__next(origin->epoch);
	ret = remote_objects__add(sketches, &sketch->object, name,
				  dart_sketch_geometry__length(geometry), origin, error);
	if (ret)
		free(sketch);
	else
		*result = sketch;
	return ret;
}

/* Sketchers get other keys and queue pairs. */
static void sketch__attached(struct remote_object *object)
{
	struct sketch *sketch = (struct sketch *)object;

	sketch->epoch = report_epoch__next(sketch->epoch);
}

static void sketch__print_kept(const struct remote_object *object,
			       char name[static FD_STORE_NAME_MAX])
{
	const struct dart_sketch_geometry *geometry = &((const struct sketch *)object)->geometry;

	_Static_assert(KEPT_MEMORY_NAME_FITS(SKETCH_KEPT_PREFIX, DART_SKETCH_NAME_MAX,
					     ",1,8,20,3600,64"),
		       "the name fits");
	kept_memory__name(name, SKETCH_NOUN, object->name, "%u,%u,%u,%u,%u", geometry->kind,
			  geometry->rows, geometry->columns_log2, geometry->period,
			  geometry->parts);
}

/* ---- sketchers */

static struct report_parts parts_of(const struct sketch *sketch)
{
	return (struct report_parts){
		.count = sketch->geometry.parts,
		.length = dart_sketch_geometry__part(&sketch->geometry),
		.write_max = dart_sketch_geometry__strip_length(&sketch->geometry),
	};
}

uint32_t sketch__part(const struct sketch *sketch, const struct report_qp *sketcher)
{
	const struct report_parts parts = parts_of(sketch);

	return report_parts__number(&parts, &sketch->object, sketcher);
}

int sketches__add_sketcher(struct remote_objects *sketches, struct sketch *sketch,
			   struct in_addr address, int part, const struct report_qp_origin *origin,
			   struct report_qp **sketcher, struct dart_error *error)
{
	const struct report_parts parts = parts_of(sketch);

	return report_parts__add(sketches, &sketch->object, &parts, address, part, origin, sketcher,
				 error);
}

static void free_sketcher(struct remote_peer *peer)
{
	report_qp__free((struct report_qp *)peer);
}

/* ---- readers */

static size_t sketch__offer(const struct remote_object *object, void *data)
{
	const struct dart_sketch_geometry *geometry = &((const struct sketch *)object)->geometry;
	const struct dart_sketch_accept accept = {
		.magic = htole64(DART_SKETCH_ACCESS_MAGIC),
		.abi_version = htole32(DART_SKETCH_ACCESS_ABI_VERSION),
		.rkey = htole32(object->read.memory_region->rkey),
		.base = htole64(object->read.base),
		.parts = htole32(geometry->parts),
		.kind = htole32(geometry->kind),
		.rows = htole32(geometry->rows),
		.columns_log2 = htole32(geometry->columns_log2),
		.period = htole32(geometry->period),
	};

	_Static_assert(sizeof(accept) <= PEER_OFFER_MAX, "it fits");
	memcpy(data, &accept, sizeof(accept));
	return sizeof(accept);
}

/* ---- JSON */

/* In replies of <dart/registration.h>. */
static json_t *sketch__to_json(const struct remote_object *object)
{
	const struct sketch *sketch = (const struct sketch *)object;
	const struct dart_sketch_geometry *geometry = &sketch->geometry;

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:s*, s:I, s:I, s:I}", "name",
			 object->name, "kind", dart_sketch_kind__name(geometry->kind), "rows",
			 (json_int_t)geometry->rows, "columns_log2",
			 (json_int_t)geometry->columns_log2, "period", (json_int_t)geometry->period,
			 "parts", (json_int_t)geometry->parts, "bytes",
			 (json_int_t)object->memory.length, "huge_pages", object->memory.is_huge,
			 "file", object->file, "epoch", (json_int_t)sketch->epoch, "sketchers",
			 remote_object__count_peers(object), "readers",
			 (json_int_t)object->readers.peers);
}

/* A sketcher, in replies. */
static json_t *sketch__sketcher_to_json(const struct remote_object *object,
					const struct remote_peer *peer)
{
	const struct report_qp *sketcher = (const struct report_qp *)peer;
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &peer->address, text, sizeof(text));
	return json_pack("{s:s, s:s, s:I, s:I}", "sketch", object->name, "sketcher", text, "part",
			 (json_int_t)sketch__part((const struct sketch *)object, sketcher), "qpn",
			 (json_int_t)sketcher->queue_pair->qp_num);
}

/* The numbers that sketchers need, as in dart_sketches(5). */
static json_t *sketch__export(const struct remote_object *object)
{
	const struct sketch *sketch = (const struct sketch *)object;
	const struct remote_peer *peer;
	json_t *list = json_array();

	TAILQ_FOREACH(peer, &object->peers, link) {
		struct dart_sketch_target target = { .geometry = sketch->geometry };

		report_qp__describe((const struct report_qp *)peer, &target.collector);
		target.collector.epoch = sketch->epoch;
		snprintf(target.collector.name, sizeof(target.collector.name), "%s", object->name);
		reply__append(&list, dart_sketch_target__to_json(&target));
	}
	return list;
}

const struct remote_kind sketch_kind = {
	.noun = SKETCH_NOUN,
	.peer = "sketcher",
	.purpose = "counters",
	.contents = "counters",
	.print_kept = sketch__print_kept,
	.attached = sketch__attached,
	.free_peer = free_sketcher,
	.offer = sketch__offer,
	.to_json = sketch__to_json,
	.peer_to_json = sketch__sketcher_to_json,
	.export = sketch__export,
};

const struct peer_kind sketch_reader_kind = {
	.name = "sketch reader",
	.magic = DART_SKETCH_ACCESS_MAGIC,
	.abi_version = DART_SKETCH_ACCESS_ABI_VERSION,
	.request_length = sizeof(struct dart_sketch_request),
	.offer = remote_objects__offer,
};
