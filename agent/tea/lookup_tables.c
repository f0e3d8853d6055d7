// SPDX-License-Identifier: GPL-2.0-only
/* Creates tables, each with an epoch of its own, and adds and renews requesters. */
#include <stdlib.h>
#include <time.h>

#include <dart/tea_access.h>

#include "lookup_tables.h"
#include "table_kept.h"
#include "tables_json.h"

_Static_assert(DART_TEA_NAME_MAX == REMOTE_OBJECT_NAME_MAX, "all names fit");
_Static_assert(!offsetof(struct lookup_tables, objects) && !offsetof(struct lookup_table, object) &&
		       !offsetof(struct requester, peer),
	       "they are the first members");

/* Returns an epoch after the epochs of all tables, and after @old, the last epoch of this table. */
static uint32_t lookup_tables__next_epoch(struct lookup_tables *tables, uint32_t old)
{
	if (old && table_epoch__is_behind(old, tables->last_epoch))
		tables->last_epoch = old;
	tables->last_epoch = table_epoch__next(tables->last_epoch, time(NULL));
	return tables->last_epoch;
}

int lookup_tables__create(struct lookup_tables *tables, const char *name,
			  const struct table_parameters *parameters, struct remote_origin *origin,
			  struct lookup_table **result, struct dart_error *error)
{
	struct lookup_table *table = calloc(1, sizeof(*table));
	int ret;

	if (!table)
		return dart_error__no_memory(error);
	table->parameters = *parameters;
	table->epoch = lookup_tables__next_epoch(tables, origin->epoch);
	ret = remote_objects__add(&tables->objects, &table->object, name,
				  dart_tea_geometry__length(&parameters->geometry), origin, error);
	if (ret)
		free(table);
	else
		*result = table;
	return ret;
}

int lookup_tables__add_requester(struct lookup_tables *tables, struct lookup_table *table,
				 struct in_addr address, struct requester **result,
				 struct dart_error *error)
{
	int ret = requester__new(tables->objects.device, table->entries, address, result, error);

	if (!ret)
		remote_objects__add_peer(&tables->objects, &table->object, &(*result)->peer);
	return ret;
}

int lookup_tables__renew_requester(struct lookup_tables *tables, struct lookup_table *table,
				   struct requester *requester, struct dart_error *error)
{
	int ret = requester__renew(requester, tables->objects.device, error);

	if (ret)
		return ret;
	remote_objects__announce_peer(&tables->objects, "renewed", &requester->peer,
				      &table->object);
	count__add(tables->renewal_count, 1);
	return 0;
}

static void print_kept(const struct remote_object *object, char name[static FD_STORE_NAME_MAX])
{
	table_kept__name(object->name, &((const struct lookup_table *)object)->parameters, name);
}

static void free_requester(struct remote_peer *peer)
{
	requester__free((struct requester *)peer);
}

const struct remote_kind table_kind = {
	.noun = TABLE_NOUN,
	.peer = "requester",
	.purpose = "requests of switches",
	.contents = "entries",
	.print_kept = print_kept,
	.open = lookup_table__open,
	.close = lookup_table__close,
	.free_peer = free_requester,
	.offer = lookup_table__offer,
	.to_json = tables_json__table,
	.peer_to_json = tables_json__requester,
	.export = tables_json__export,
};

const struct peer_kind table_reader_kind = {
	.name = "table reader",
	.magic = DART_TEA_ACCESS_MAGIC,
	.abi_version = DART_TEA_ACCESS_ABI_VERSION,
	.request_length = sizeof(struct dart_tea_request),
	.offer = remote_objects__offer,
};
