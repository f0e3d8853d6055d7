// SPDX-License-Identifier: GPL-2.0-only
/* Lists and changes entries for callers: see served_lookups.h. */
#include <errno.h>
#include <string.h>

#include <libdart/rpc/lookups.h>
#include <libdart/tea/tea_lookup.h>

#include "served_lookups.h"

/* Rows that one request looks at: a caller asks for more, and other work of dartd goes first. */
#define ROWS_MAX 4096

#define ENTRY_MAX (DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX)

_Static_assert(DART_RPC_LOOKUP_TABLE_MAX == REMOTE_OBJECT_NAME_MAX, "all names fit");
_Static_assert(sizeof(struct dart_rpc_lookups) + DART_TEA_CELLS_MAX * ENTRY_MAX <=
		       DART_RPC_LOOKUPS_LENGTH_MAX,
	       "an answer has room for the entries of a row");

/* @epoch: 0 for any. */
static int find(struct lookup_tables *tables, const char *name, uint32_t epoch,
		struct lookup_table **table, struct dart_error *error)
{
	*table = (struct lookup_table *)remote_objects__find(&tables->objects, name);
	if (!*table)
		return dart_error__set(error, ENOENT,
				       "there is no table '%s' (see dartctl table list there)",
				       name);
	if (epoch && epoch != (*table)->epoch)
		return dart_error__set(error, ESTALE,
				       "table '%s' is another one now: list it again", name);
	return 0;
}

/*
 * Writes the entries of whole rows before @end, which the table has, as many as have room, to
 * @entries, and moves the walk on.  Returns how many.
 */
static uint32_t copy_entries(const struct lookup_table *table, struct dart_tea_walk *walk,
			     uint64_t end, uint8_t *entries, size_t size)
{
	const struct dart_tea_hash *hash = dart_tea_table__hash(table->entries);
	const struct dart_tea_geometry *geometry = &table->parameters.geometry;
	const size_t length = geometry->key_length + geometry->value_length;
	uint8_t entry[ENTRY_MAX];
	uint32_t count = 0;
	bool is_stashed;

	while (walk->row < end && (count + geometry->cells) * length <= size) {
		const uint64_t next = walk->row + 1;

		while (dart_tea_lookup__next_until(hash, table->object.memory.address, next, walk,
						   entry, &is_stashed))
			memcpy(entries + count++ * length, entry, length);
	}
	return count;
}

static ssize_t list(void *subject, const struct dart_rpc_lookups_wanted *wanted, void *bytes,
		    struct dart_error *error)
{
	const size_t head = sizeof(struct dart_rpc_lookups);
	struct dart_tea_walk walk = { .row = wanted->first };
	const struct dart_tea_geometry *geometry;
	struct dart_rpc_lookups_values values;
	struct lookup_table *table;
	uint64_t rows, end;
	int ret;

	ret = find(subject, wanted->table, wanted->epoch, &table, error);
	if (ret)
		return ret;
	geometry = &table->parameters.geometry;
	rows = dart_tea_geometry__rows(geometry) + dart_tea_geometry__stash_cells(geometry);
	if (walk.row > rows)
		walk.row = rows;
	end = rows - walk.row < ROWS_MAX ? rows : walk.row + ROWS_MAX;
	values = (struct dart_rpc_lookups_values){
		.rows_log2 = geometry->rows_log2,
		.cells = geometry->cells,
		.key_length = geometry->key_length,
		.value_length = geometry->value_length,
		.packet_length = geometry->packet_length,
		.epoch = table->epoch,
		.count = copy_entries(table, &walk, end, (uint8_t *)bytes + head,
				      DART_RPC_LOOKUPS_LENGTH_MAX - head),
	};
	values.next = walk.row < rows ? walk.row : 0;
	return dart_rpc_lookups__put(bytes, &values);
}

static int change(void *subject, const struct dart_rpc_lookup_changes *changes, uint8_t *outcomes,
		  struct dart_error *error)
{
	struct batched_change next;
	struct lookup_table *table;
	struct entry_batch batch;
	size_t i;
	int ret;

	ret = find(subject, changes->table, changes->epoch, &table, error) ?:
		      entry_batch__borrow(&batch, &table->parameters.geometry, changes->records,
					  changes->length, changes->count, error);
	if (ret)
		return ret;
	for (i = 0; i < batch.count; i++) {
		next = entry_batch__at(&batch, i);
		outcomes[i] = lookup_table__change_one(table, &next);
	}
	entry_batch__close(&batch);
	return 0;
}

struct lookup_service served_lookups__service(struct lookup_tables *tables)
{
	return (struct lookup_service){ tables, list, change };
}
