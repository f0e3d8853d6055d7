// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the list of tables, counts and announces what changes, and offers them to readers. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "agent/base/entry_name.h"
#include "agent/base/log.h"
#include "lookup_tables.h"
#include "table_epoch.h"

void lookup_tables__open(struct lookup_tables *tables,
			 const struct device *device,
			 struct fd_store *descriptors,
			 struct listener *listener,
			 const struct changes *changes,
			 struct lookup_counts *counts,
			 struct memory_counts *memory_counts)
{
	*tables = (struct lookup_tables){
		.device = device,
		.listener = listener,
		.changes = changes,
		.counts = counts,
		.memory_counts = memory_counts,
	};
	TAILQ_INIT(&tables->list);
	kept_memory__open(&tables->kept, descriptors, TABLE_NOUN);
}

/* The listener must be closed, so that there are no readers. */
void lookup_tables__close(struct lookup_tables *tables)
{
	struct lookup_table *table;

	while ((table = TAILQ_FIRST(&tables->list))) {
		TAILQ_REMOVE(&tables->list, table, link);
		lookup_table__free(table);
	}
}

/* @more: 1 or -1, as below */
static void count_region(const struct lookup_tables *tables, uint64_t length,
			 int more)
{
	count__add(&tables->memory_counts->regions, more);
	count__add(&tables->memory_counts->bytes, more * (int64_t)length);
}

static void count_table(const struct lookup_tables *tables,
			const struct lookup_table *table, int more)
{
	count__add(&tables->counts->tables, more);
	count_region(tables, table->memory.length, more);
}

/* Counts it, and tells of it as @event. */
static void note_requester(const struct lookup_tables *tables,
			   const struct lookup_table *table,
			   const struct requester *requester, const char *event,
			   int more)
{
	char address[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &requester->requester_qp.path.peer, address,
		  sizeof(address));
	changes__announce_in(tables->changes, event, "requester", address,
			     TABLE_NOUN, table->name);
	if (!more)
		return;
	count__add(&tables->counts->requesters, more);
	count_region(tables, requester->memory.length, more);
}

static int lookup_tables__check_name(const struct lookup_tables *tables,
				     const char *name, struct dart_error *error)
{
	int ret = entry_name__check(name, error);

	if (ret)
		return ret;
	if (!tables->device->context)
		return dart_error__set(
			error, ENODEV,
			"tables need an RDMA device, and the configuration says that there is none");
	if (strlen(name) >= DART_TEA_NAME_MAX)
		return dart_error__set(
			error, ENAMETOOLONG,
			"the name of a table has at most %d characters",
			DART_TEA_NAME_MAX - 1);
	if (lookup_tables__find(tables, name))
		return dart_error__set(error, EEXIST,
				       "the table '%s' already exists", name);
	return 0;
}

/* Returns an epoch after those of all tables, and after @old, the one of this table before. */
static uint32_t lookup_tables__next_epoch(struct lookup_tables *tables,
					  uint32_t old)
{
	if (old && table_epoch__is_behind(old, tables->last_epoch))
		tables->last_epoch = old;
	tables->last_epoch = table_epoch__next(tables->last_epoch, time(NULL));
	return tables->last_epoch;
}

bool lookup_tables__drop_kept(struct lookup_tables *tables, const char *name)
{
	return kept_memory__drop_others(&tables->kept, name, NULL);
}

void lookup_tables__log_kept(const struct lookup_tables *tables)
{
	kept_memory__log(&tables->kept);
}

int lookup_tables__create(struct lookup_tables *tables, const char *name,
			  const struct table_parameters *parameters,
			  struct table_origin *origin,
			  struct lookup_table **result,
			  struct dart_error *error)
{
	char kept[FD_STORE_NAME_MAX];
	int ret = lookup_tables__check_name(tables, name, error);

	if (ret)
		return ret;
	table_kept__name(name, parameters, kept);
	origin->kept = -1;
	if (!origin->file)
		origin->kept = kept_memory__find(
			&tables->kept, kept,
			dart_tea_geometry__length(&parameters->geometry));
	ret = lookup_table__new(tables->device, name, parameters, origin,
				lookup_tables__next_epoch(tables,
							  origin->epoch),
				result, error);
	if (ret)
		return ret;
	if (kept_memory__drop_others(&tables->kept, name,
				     origin->kept < 0 ? NULL : kept))
		log__warning(
			"dropped the kept memory of table %s: it has another geometry or other shares, or a file",
			name);
	if (origin->kept >= 0)
		kept_memory__release(&tables->kept, kept);
	else if (!origin->file)
		kept_memory__put(&tables->kept, kept, (*result)->memory.fd);
	TAILQ_INSERT_TAIL(&tables->list, *result, link);
	count_table(tables, *result, 1);
	changes__announce(tables->changes, "added", "table", name);
	return 0;
}

void lookup_tables__disconnect_readers(struct lookup_tables *tables,
				       struct lookup_table *table)
{
	listener__disconnect(tables->listener, &table->readers);
}

void lookup_tables__delete(struct lookup_tables *tables,
			   struct lookup_table *table)
{
	const struct requester *requester;
	char kept[FD_STORE_NAME_MAX];

	lookup_tables__disconnect_readers(tables, table);
	TAILQ_FOREACH(requester, &table->requesters, link)
		note_requester(tables, table, requester, "removed", -1);
	changes__announce(tables->changes, "removed", "table", table->name);
	count_table(tables, table, -1);
	if (!table->file) {
		table_kept__name(table->name, &table->parameters, kept);
		kept_memory__remove(&tables->kept, kept);
	}
	TAILQ_REMOVE(&tables->list, table, link);
	lookup_table__free(table);
}

struct lookup_table *lookup_tables__find(const struct lookup_tables *tables,
					 const char *name)
{
	struct lookup_table *table;

	TAILQ_FOREACH(table, &tables->list, link)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

int lookup_tables__add_requester(struct lookup_tables *tables,
				 struct lookup_table *table,
				 struct in_addr address,
				 struct requester **result,
				 struct dart_error *error)
{
	int ret = lookup_table__add_requester(table, address, result, error);

	if (!ret)
		note_requester(tables, table, *result, "added", 1);
	return ret;
}

int lookup_tables__renew_requester(struct lookup_tables *tables,
				   struct lookup_table *table,
				   struct requester *requester,
				   struct dart_error *error)
{
	int ret = requester__renew(requester, tables->device, error);

	if (ret)
		return ret;
	note_requester(tables, table, requester, "renewed", 0);
	count__add(&tables->counts->renewals, 1);
	return 0;
}

void lookup_tables__remove_requester(struct lookup_tables *tables,
				     struct lookup_table *table,
				     struct requester *requester)
{
	note_requester(tables, table, requester, "removed", -1);
	lookup_table__remove_requester(table, requester);
}

static int offer_table(void *tables, const void *data, struct peer_offer *offer,
		       struct dart_error *error)
{
	const struct dart_tea_request *request = data;
	size_t length = strnlen(request->name, sizeof(request->name));
	struct lookup_table *table;
	size_t i;

	if (length == sizeof(request->name))
		return dart_error__set(error, EPROTO,
				       "its request does not name a table");
	for (i = length; i < sizeof(request->name); i++)
		if (request->name[i])
			return dart_error__set(
				error, EPROTO,
				"its request has data behind the name");
	table = lookup_tables__find(tables, request->name);
	if (!table)
		return dart_error__set(error, ENOENT, "there is no table '%s'",
				       request->name);
	lookup_table__offer(table, offer);
	return 0;
}

const struct peer_kind table_reader_kind = {
	.name = "table reader",
	.magic = DART_TEA_ACCESS_MAGIC,
	.abi_version = DART_TEA_ACCESS_ABI_VERSION,
	.request_length = sizeof(struct dart_tea_request),
	.offer = offer_table,
};
