// SPDX-License-Identifier: GPL-2.0-only
/* Creates journals, and lets appenders and readers reach their memory. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/journal_access.h>
#include <libdart/report/journal_target.h>

#include "agent/rdma/kept_memory.h"
#include "agent/rdma/report_kept.h"
#include "agent/rdma/report_parts.h"
#include "journal.h"

_Static_assert(DART_JOURNAL_NAME_MAX == REMOTE_OBJECT_NAME_MAX, "all names fit");
_Static_assert(!offsetof(struct journal, object), "it is the first member");

int journals__create(struct remote_objects *journals, const char *name,
		     const struct dart_journal_geometry *geometry, struct remote_origin *origin,
		     struct journal **result, struct dart_error *error)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	int ret;

	if (!journal)
		return dart_error__no_memory(error);
	journal->geometry = *geometry;
	journal->epoch = report_epoch__next(origin->epoch);
	ret = remote_objects__add(journals, &journal->object, name,
				  dart_journal_geometry__length(geometry), origin, error);
	if (ret)
		free(journal);
	else
		*result = journal;
	return ret;
}

/* Appenders get other keys and queue pairs. */
static void journal__attached(struct remote_object *object)
{
	struct journal *journal = (struct journal *)object;

	journal->epoch = report_epoch__next(journal->epoch);
}

static void journal__print_kept(const struct remote_object *object,
				char name[static FD_STORE_NAME_MAX])
{
	const struct dart_journal_geometry *geometry = &((const struct journal *)object)->geometry;

	_Static_assert(KEPT_MEMORY_NAME_FITS(JOURNAL_KEPT_PREFIX, DART_JOURNAL_NAME_MAX,
					     ",20,64,10,16,64"),
		       "the name fits");
	kept_memory__name(name, JOURNAL_NOUN, object->name, "%u,%u,%u,%u,%u",
			  geometry->batches_log2, geometry->entry_length, geometry->batch_log2,
			  geometry->lists_log2, geometry->parts);
}

/* ---- appenders */

static struct report_parts parts_of(const struct journal *journal)
{
	return (struct report_parts){
		.count = journal->geometry.parts,
		.length = dart_journal_geometry__part(&journal->geometry),
		.write_max = 1u << journal->geometry.batch_log2,
	};
}

uint32_t journal__part(const struct journal *journal, const struct report_qp *appender)
{
	const struct report_parts parts = parts_of(journal);

	return report_parts__number(&parts, &journal->object, appender);
}

int journals__add_appender(struct remote_objects *journals, struct journal *journal,
			   struct in_addr address, int part, const struct report_qp_origin *origin,
			   struct report_qp **appender, struct dart_error *error)
{
	const struct report_parts parts = parts_of(journal);

	return report_parts__add(journals, &journal->object, &parts, address, part, origin,
				 appender, error);
}

static void free_appender(struct remote_peer *peer)
{
	report_qp__free((struct report_qp *)peer);
}

/* ---- readers */

static size_t journal__offer(const struct remote_object *object, void *data)
{
	const struct dart_journal_geometry *geometry = &((const struct journal *)object)->geometry;
	const struct dart_journal_accept accept = {
		.magic = htole64(DART_JOURNAL_ACCESS_MAGIC),
		.abi_version = htole32(DART_JOURNAL_ACCESS_ABI_VERSION),
		.rkey = htole32(object->read.memory_region->rkey),
		.base = htole64(object->read.base),
		.parts = htole32(geometry->parts),
		.lists_log2 = htole32(geometry->lists_log2),
		.batches_log2 = htole32(geometry->batches_log2),
		.batch_log2 = htole32(geometry->batch_log2),
		.entry_length = htole32(geometry->entry_length),
	};

	_Static_assert(sizeof(accept) <= PEER_OFFER_MAX, "it fits");
	memcpy(data, &accept, sizeof(accept));
	return sizeof(accept);
}

/* ---- JSON */

/* In replies of <dart/registration.h>. */
static json_t *journal__to_json(const struct remote_object *object)
{
	const struct journal *journal = (const struct journal *)object;
	const struct dart_journal_geometry *geometry = &journal->geometry;

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s*, s:I, s:I, s:I}", "name",
			 object->name, "batches_log2", (json_int_t)geometry->batches_log2,
			 "entry_length", (json_int_t)geometry->entry_length, "batch_log2",
			 (json_int_t)geometry->batch_log2, "lists_log2",
			 (json_int_t)geometry->lists_log2, "parts", (json_int_t)geometry->parts,
			 "bytes", (json_int_t)object->memory.length, "huge_pages",
			 object->memory.is_huge, "file", object->file, "epoch",
			 (json_int_t)journal->epoch, "appenders",
			 remote_object__count_peers(object), "readers",
			 (json_int_t)object->readers.peers);
}

/* An appender, in replies. */
static json_t *journal__appender_to_json(const struct remote_object *object,
					 const struct remote_peer *peer)
{
	const struct report_qp *appender = (const struct report_qp *)peer;
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &peer->address, text, sizeof(text));
	return json_pack("{s:s, s:s, s:I, s:I}", "journal", object->name, "appender", text, "part",
			 (json_int_t)journal__part((const struct journal *)object, appender), "qpn",
			 (json_int_t)appender->queue_pair->qp_num);
}

/* The numbers that appenders need, as in dart_journals(5). */
static json_t *journal__export(const struct remote_object *object)
{
	const struct journal *journal = (const struct journal *)object;
	const struct remote_peer *peer;
	json_t *list = json_array();

	TAILQ_FOREACH(peer, &object->peers, link) {
		struct dart_journal_target target = { .geometry = journal->geometry };

		report_qp__describe((const struct report_qp *)peer, &target.collector);
		target.collector.epoch = journal->epoch;
		snprintf(target.collector.name, sizeof(target.collector.name), "%s", object->name);
		reply__append(&list, dart_journal_target__to_json(&target));
	}
	return list;
}

const struct remote_kind journal_kind = {
	.noun = JOURNAL_NOUN,
	.peer = "appender",
	.purpose = "entries",
	.contents = "entries",
	.print_kept = journal__print_kept,
	.attached = journal__attached,
	.free_peer = free_appender,
	.offer = journal__offer,
	.to_json = journal__to_json,
	.peer_to_json = journal__appender_to_json,
	.export = journal__export,
};

const struct peer_kind journal_reader_kind = {
	.name = "journal reader",
	.magic = DART_JOURNAL_ACCESS_MAGIC,
	.abi_version = DART_JOURNAL_ACCESS_ABI_VERSION,
	.request_length = sizeof(struct dart_journal_request),
	.offer = remote_objects__offer,
};
