// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the list of tables, counts and announces changes, and offers the tables to readers. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "lookup_tables.h"
#include "table_kept.h"

_Static_assert(DART_TEA_NAME_MAX == REMOTE_OBJECT_NAME_MAX, "all names fit");

void lookup_tables__open(struct lookup_tables *tables, const struct remote_objects *objects,
			 struct lookup_counts *counts)
{
	*tables = (struct lookup_tables){ .objects = *objects, .counts = counts };
	TAILQ_INIT(&tables->list);
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
static void count_table(const struct lookup_tables *tables,
			const struct lookup_table *table, int more)
{
	count__add(&tables->counts->tables, more);
	remote_objects__count(&tables->objects, table->memory.length, more);
}

/* Counts it, and tells of it as @event. */
static void note_requester(const struct lookup_tables *tables, const struct lookup_table *table,
			   const struct requester *requester, const char *event, int more)
{
	remote_objects__announce_peer(&tables->objects, event, "requester",
				      requester->requester_qp.path.peer, table->name);
	if (!more)
		return;
	count__add(&tables->counts->requesters, more);
	remote_objects__count(&tables->objects, requester->memory.length, more);
}

/* Returns an epoch after the epochs of all tables, and after @old, the last epoch of this table. */
static uint32_t lookup_tables__next_epoch(struct lookup_tables *tables, uint32_t old)
{
	if (old && table_epoch__is_behind(old, tables->last_epoch))
		tables->last_epoch = old;
	tables->last_epoch = table_epoch__next(tables->last_epoch, time(NULL));
	return tables->last_epoch;
}

int lookup_tables__create(struct lookup_tables *tables, const char *name,
			  const struct table_parameters *parameters, struct table_origin *origin,
			  struct lookup_table **result, struct dart_error *error)
{
	struct kept_memory *memory = &tables->objects.kept;
	char kept[FD_STORE_NAME_MAX];
	int ret;

	ret = remote_objects__check_name(&tables->objects, name, lookup_tables__find(tables, name),
					 error);
	if (ret)
		return ret;
	table_kept__name(name, parameters, kept);
	origin->kept = -1;
	if (!origin->file)
		origin->kept = kept_memory__find(memory, kept,
						 dart_tea_geometry__length(&parameters->geometry));
	ret = lookup_table__new(tables->objects.device, name, parameters, origin,
				lookup_tables__next_epoch(tables, origin->epoch), result, error);
	if (ret)
		return ret;
	kept_memory__settle(memory, name, kept, origin->kept >= 0,
			    origin->file ? -1 : (*result)->memory.fd);
	TAILQ_INSERT_TAIL(&tables->list, *result, link);
	count_table(tables, *result, 1);
	changes__announce(tables->objects.changes, "added", "table", name);
	return 0;
}

/* Call this before the requesters are removed. */
static void note_end_of_requesters(const struct lookup_tables *tables,
				   const struct lookup_table *table)
{
	const struct requester *requester;

	TAILQ_FOREACH(requester, &table->requesters, link)
		note_requester(tables, table, requester, "removed", -1);
}

void lookup_tables__detach(struct lookup_tables *tables)
{
	struct lookup_table *table;

	TAILQ_FOREACH(table, &tables->list, link) {
		note_end_of_requesters(tables, table);
		lookup_table__detach(table);
	}
}

int lookup_tables__attach(struct lookup_tables *tables, struct dart_error *error)
{
	struct lookup_table *table;
	int ret = 0;

	TAILQ_FOREACH(table, &tables->list, link)
		ret = ret ?: lookup_table__attach(table, error);
	return ret;
}

void lookup_tables__delete(struct lookup_tables *tables, struct lookup_table *table)
{
	char kept[FD_STORE_NAME_MAX];

	listener__disconnect(tables->objects.listener, &table->readers);
	note_end_of_requesters(tables, table);
	changes__announce(tables->objects.changes, "removed", "table", table->name);
	count_table(tables, table, -1);
	if (!table->file) {
		table_kept__name(table->name, &table->parameters, kept);
		kept_memory__remove(&tables->objects.kept, kept);
	}
	TAILQ_REMOVE(&tables->list, table, link);
	lookup_table__free(table);
}

struct lookup_table *lookup_tables__find(const struct lookup_tables *tables, const char *name)
{
	struct lookup_table *table;

	TAILQ_FOREACH(table, &tables->list, link)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

int lookup_tables__add_requester(struct lookup_tables *tables, struct lookup_table *table,
				 struct in_addr address, struct requester **result,
				 struct dart_error *error)
{
	int ret = lookup_table__add_requester(table, address, result, error);

	if (!ret)
		note_requester(tables, table, *result, "added", 1);
	return ret;
}

int lookup_tables__renew_requester(struct lookup_tables *tables, struct lookup_table *table,
				   struct requester *requester, struct dart_error *error)
{
	int ret = requester__renew(requester, tables->objects.device, error);

	if (ret)
		return ret;
	note_requester(tables, table, requester, "renewed", 0);
	count__add(&tables->counts->renewals, 1);
	return 0;
}

void lookup_tables__remove_requester(struct lookup_tables *tables, struct lookup_table *table,
				     struct requester *requester)
{
	note_requester(tables, table, requester, "removed", -1);
	lookup_table__remove_requester(table, requester);
}

static int offer_table(void *subject, const void *data,
		       struct peer_offer *offer, struct dart_error *error)
{
	const struct dart_tea_request *request = data;
	const struct lookup_tables *tables = subject;
	struct lookup_table *table;
	int ret;

	ret = remote_objects__check_asked(&tables->objects, request->name, error);
	if (ret)
		return ret;
	table = lookup_tables__find(tables, request->name);
	if (!table)
		return dart_error__set(error, ENOENT, "there is no table '%s'", request->name);
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
