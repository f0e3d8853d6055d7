// SPDX-License-Identifier: GPL-2.0-only
/* Opens the entries of a table, which may be another table's, changes them, and offers them to readers. */
#include <endian.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>

#include <dart/registration.h>
#include <dart/tea_access.h>
#include <libdart/tea/tea_lookup.h>

#include "agent/base/long_work.h"
#include "lookup_table.h"

int lookup_table__check_user(struct lookup_table *table, uid_t uid, struct dart_error *error)
{
	const char *name = table->parameters.user;
	const struct passwd *user;

	if (!uid || uid == table->user)
		return 0;
	/* The user may be new, or have a new number. */
	user = getpwnam(name);
	table->user = user ? user->pw_uid : 0;
	if (user && uid == user->pw_uid)
		return 0;
	return dart_error__set(error, EPERM,
			       "only root and user '%s'%s may change table '%s' (see dartctl table create --user)",
			       name, user ? "" : ", which does not exist,", table->object.name);
}

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
	while (dart_tea_lookup__next(hash, table->object.memory.address, &walk, entry,
				     &is_stashed)) {
		table->foreign += is_foreign(table, entry) &&
				  !dart_tea_table__remove(table->entries, entry);
		long_work__go_on(work);
	}
}

int lookup_table__open(struct remote_object *object, struct dart_error *error)
{
	struct lookup_table *table = (struct lookup_table *)object;
	const struct dart_tea_geometry *geometry = &table->parameters.geometry;
	struct long_work work = { };
	const struct dart_tea_progress progress = { long_work__go_on, &work };
	int ret;

	if (object->memory.has_contents)
		ret = dart_tea_table__resume(geometry, table->epoch, object->memory.address,
					     &progress, &table->entries, &table->mended);
	else
		ret = dart_tea_table__new(geometry, table->epoch, object->memory.address,
					  &table->entries);
	if (ret)
		return dart_error__system(error, -ret, "cannot open the table");
	if (object->memory.has_contents)
		lookup_table__drop_foreign(table, &work);
	return 0;
}

void lookup_table__close(struct remote_object *object)
{
	dart_tea_table__free(((struct lookup_table *)object)->entries);
}

static enum dart_rpc_lookup_outcome lookup_table__insert(struct lookup_table *table,
							 const struct batched_change *change)
{
	switch (dart_tea_table__insert(table->entries, change->key, change->value)) {
	case DART_TEA_STASHED:
		return DART_RPC_LOOKUP_STASHED;
	case DART_TEA_INSERTED:
		return DART_RPC_LOOKUP_INSERTED;
	case DART_TEA_CHANGED:
		return DART_RPC_LOOKUP_CHANGED;
	default:
		return DART_RPC_LOOKUP_FULL;
	}
}

enum dart_rpc_lookup_outcome lookup_table__change_one(struct lookup_table *table,
						      const struct batched_change *change)
{
	if (is_foreign(table, change->key))
		return DART_RPC_LOOKUP_FOREIGN;
	if (change->operation == DART_REGISTRATION_TABLE_INSERT)
		return lookup_table__insert(table, change);
	return dart_tea_table__remove(table->entries, change->key) ? DART_RPC_LOOKUP_MISSING :
								     DART_RPC_LOOKUP_REMOVED;
}

void lookup_table__change(struct lookup_table *table, const struct entry_batch *batch,
			  struct table_changes *changes)
{
	uint64_t counts[DART_RPC_LOOKUP_FULL + 1] = { };
	struct batched_change change;
	size_t i;

	for (i = 0; i < batch->count; i++) {
		change = entry_batch__at(batch, i);
		counts[lookup_table__change_one(table, &change)]++;
	}
	*changes = (struct table_changes){
		.inserted = counts[DART_RPC_LOOKUP_INSERTED] + counts[DART_RPC_LOOKUP_STASHED],
		.changed = counts[DART_RPC_LOOKUP_CHANGED],
		.stashed = counts[DART_RPC_LOOKUP_STASHED],
		.removed = counts[DART_RPC_LOOKUP_REMOVED],
		.missing = counts[DART_RPC_LOOKUP_MISSING],
		.foreign = counts[DART_RPC_LOOKUP_FOREIGN],
		.full = counts[DART_RPC_LOOKUP_FULL],
	};
}

size_t lookup_table__offer(const struct remote_object *object, void *data)
{
	const struct lookup_table *table = (const struct lookup_table *)object;
	const struct dart_tea_geometry *geometry = &table->parameters.geometry;
	const struct dart_tea_accept accept = {
		.magic = htole64(DART_TEA_ACCESS_MAGIC),
		.abi_version = htole32(DART_TEA_ACCESS_ABI_VERSION),
		.rkey = htole32(object->read.memory_region->rkey),
		.base = htole64(object->read.base),
		.rows_log2 = htole32(geometry->rows_log2),
		.cells = htole32(geometry->cells),
		.key_length = htole32(geometry->key_length),
		.value_length = htole32(geometry->value_length),
		.packet_length = htole32(geometry->packet_length),
		.epoch = htole32(table->epoch),
	};

	memcpy(data, &accept, sizeof(accept));
	return sizeof(accept);
}
