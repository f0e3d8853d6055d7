// SPDX-License-Identifier: GPL-2.0-only
/* Creates a table or takes one over, changes it, and lets switches and readers reach it. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>
#include <libdart/tea/tea_lookup.h>

#include "agent/base/long_work.h"
#include "lookup_table.h"

static bool is_foreign(const struct lookup_table *table, const void *key)
{
	struct dart_tea_place place;

	dart_tea_hash__place(dart_tea_table__hash(table->entries), key, &place);
	return place.share < table->parameters.first_share ||
	       place.share > table->parameters.last_share;
}

/* A file may come from a table with other shares.  A removal moves no other entry. */
static void lookup_table__drop_foreign(struct lookup_table *table, struct long_work *work)
{
	const struct dart_tea_hash *hash = dart_tea_table__hash(table->entries);
	uint8_t entry[DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX];
	struct dart_tea_walk walk = { };
	bool is_stashed;

	if (!table->parameters.first_share && table->parameters.last_share == DART_TEA_SHARES - 1)
		return;
	while (dart_tea_lookup__next(hash, table->memory.address, &walk, entry, &is_stashed)) {
		table->foreign += is_foreign(table, entry) &&
				  !dart_tea_table__remove(table->entries, entry);
		long_work__go_on(work);
	}
}

static int lookup_table__open_memory(struct lookup_table *table, const struct table_origin *origin,
				     struct dart_error *error)
{
	uint64_t length = dart_tea_geometry__length(&table->parameters.geometry);

	if (origin->kept >= 0)
		return remote_memory__resume(&table->memory, TABLE_NOUN, length, origin->kept,
					     error);
	return remote_memory__open(&table->memory, TABLE_NOUN, length, origin->fd, error);
}

static int lookup_table__open_entries(struct lookup_table *table, struct dart_error *error)
{
	const struct dart_tea_geometry *geometry = &table->parameters.geometry;
	void *memory = table->memory.address;
	struct long_work work = { };
	const struct dart_tea_progress progress = { long_work__go_on, &work };
	int ret;

	if (table->memory.has_contents)
		ret = dart_tea_table__resume(geometry, table->epoch, memory, &progress,
					     &table->entries, &table->mended);
	else
		ret = dart_tea_table__new(geometry, table->epoch, memory, &table->entries);
	if (ret)
		return dart_error__system(error, -ret, "cannot open the table");
	if (table->memory.has_contents)
		lookup_table__drop_foreign(table, &work);
	return 0;
}

static int lookup_table__open(struct lookup_table *table, const struct table_origin *origin,
			      struct dart_error *error)
{
	int ret;

	ret = lookup_table__open_memory(table, origin, error);
	if (ret)
		return ret;
	ret = lookup_table__open_entries(table, error);
	if (ret)
		goto close_memory;
	ret = memory_view__open(&table->read, table->device, table->memory.address,
				table->memory.length, IBV_ACCESS_REMOTE_READ, 0, error);
	if (!ret)
		return 0;
	dart_tea_table__free(table->entries);
close_memory:
	remote_memory__close(&table->memory);
	return ret;
}

int lookup_table__new(const struct device *device, const char *name,
		      const struct table_parameters *parameters, const struct table_origin *origin,
		      uint32_t epoch, struct lookup_table **result, struct dart_error *error)
{
	const char *file = origin->file;
	struct lookup_table *table;
	int ret;

	table = calloc(1, sizeof(*table));
	if (!table)
		return dart_error__no_memory(error);
	table->device = device;
	table->parameters = *parameters;
	table->epoch = epoch;
	snprintf(table->name, sizeof(table->name), "%s", name);
	table->readers = (struct peer_object){ .noun = TABLE_NOUN, .name = table->name };
	TAILQ_INIT(&table->requesters);
	table->file = file ? strdup(file) : NULL;

	ret = file && !table->file ? dart_error__no_memory(error) :
				     lookup_table__open(table, origin, error);
	if (!ret) {
		*result = table;
		return 0;
	}
	free(table->file);
	free(table);
	return ret;
}

void lookup_table__detach(struct lookup_table *table)
{
	struct requester *requester;

	while ((requester = TAILQ_FIRST(&table->requesters)))
		lookup_table__remove_requester(table, requester);
	memory_view__close(&table->read);
}

int lookup_table__attach(struct lookup_table *table, struct dart_error *error)
{
	return memory_view__open(&table->read, table->device, table->memory.address,
				 table->memory.length, IBV_ACCESS_REMOTE_READ, 0, error);
}

void lookup_table__free(struct lookup_table *table)
{
	lookup_table__detach(table);
	dart_tea_table__free(table->entries);
	remote_memory__close(&table->memory);
	free(table->file);
	free(table);
}

static void lookup_table__insert(struct lookup_table *table, const struct batched_change *change,
				 struct table_changes *changes)
{
	switch (dart_tea_table__insert(table->entries, change->key, change->value)) {
	case DART_TEA_STASHED:
		changes->stashed++;
		/* fall through */
	case DART_TEA_INSERTED:
		changes->inserted++;
		break;
	case DART_TEA_CHANGED:
		changes->changed++;
		break;
	default:
		changes->full++;
	}
}

void lookup_table__change(struct lookup_table *table, const struct entry_batch *batch,
			  struct table_changes *changes)
{
	struct batched_change change;
	size_t i;

	*changes = (struct table_changes){ };
	for (i = 0; i < batch->count; i++) {
		change = entry_batch__at(batch, i);
		if (is_foreign(table, change.key))
			changes->foreign++;
		else if (change.operation == DART_REGISTRATION_TABLE_INSERT)
			lookup_table__insert(table, &change, changes);
		else if (dart_tea_table__remove(table->entries, change.key))
			changes->missing++;
		else
			changes->removed++;
	}
}

int lookup_table__add_requester(struct lookup_table *table, struct in_addr address,
				struct requester **result, struct dart_error *error)
{
	int ret = requester__new(table->device, table->entries, address, result, error);

	if (!ret)
		TAILQ_INSERT_TAIL(&table->requesters, *result, link);
	return ret;
}

void lookup_table__remove_requester(struct lookup_table *table, struct requester *requester)
{
	TAILQ_REMOVE(&table->requesters, requester, link);
	requester__free(requester);
}

struct requester *lookup_table__find_requester(const struct lookup_table *table,
					       struct in_addr address)
{
	struct requester *requester;

	TAILQ_FOREACH(requester, &table->requesters, link)
		if (requester->requester_qp.path.peer.s_addr == address.s_addr)
			return requester;
	return NULL;
}

void lookup_table__offer(struct lookup_table *table, struct peer_offer *offer)
{
	const struct dart_tea_geometry *geometry = &table->parameters.geometry;
	const struct dart_tea_accept accept = {
		.magic = htole64(DART_TEA_ACCESS_MAGIC),
		.abi_version = htole32(DART_TEA_ACCESS_ABI_VERSION),
		.rkey = htole32(table->read.memory_region->rkey),
		.base = htole64(table->read.base),
		.rows_log2 = htole32(geometry->rows_log2),
		.cells = htole32(geometry->cells),
		.key_length = htole32(geometry->key_length),
		.value_length = htole32(geometry->value_length),
		.packet_length = htole32(geometry->packet_length),
		.epoch = htole32(table->epoch),
	};

	offer->pd = table->read.pd;
	offer->object = &table->readers;
	offer->length = sizeof(accept);
	memcpy(offer->data, &accept, sizeof(accept));
}
