// SPDX-License-Identifier: GPL-2.0-only
/* Entries in tables of simple_switch, see table.h. */
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "tools/dartctl/switch/thrift/call.h"

enum { MATCH_EXACT = 0 };

void bmv2_bytes__set(struct bmv2_bytes *bytes, uint64_t number, uint32_t bits)
{
	uint32_t i;

	bytes->length = (bits + 7) / 8;
	for (i = 0; i < bytes->length; i++)
		bytes->bytes[i] = number >> (8 * (bytes->length - 1 - i));
}

/* UINT64_MAX if there are more than eight bytes. */
static uint64_t number_of(const struct bmv2_bytes *bytes)
{
	uint64_t number = 0;
	uint32_t i;

	if (bytes->length > sizeof(number))
		return UINT64_MAX;
	for (i = 0; i < bytes->length; i++)
		number = number << 8 | bytes->bytes[i];
	return number;
}

void bmv2_entry__set(struct bmv2_entry *entry, const struct switch_table *table,
		     uint64_t key, const struct switch_entry *numbers)
{
	uint32_t i;

	bmv2_bytes__set(&entry->key, key, table->key_bits);
	entry->value_count = table->value_count;
	for (i = 0; i < table->value_count; i++)
		bmv2_bytes__set(&entry->values[i], numbers->values[i], table->values[i].bits);
}

/* ---- changes */

/* The action and its values: two arguments, of which @id is the first. */
static void put_action(struct thrift *thrift, int16_t id, const char *action,
		       const struct bmv2_entry *entry)
{
	uint32_t i;

	thrift__put_string(thrift, id, action);
	thrift__put_list(thrift, id + 1, THRIFT_STRING, entry->value_count);
	for (i = 0; i < entry->value_count; i++)
		thrift__put_element(thrift, entry->values[i].bytes, entry->values[i].length);
}

static void put_key(struct thrift *thrift, int16_t id, const struct bmv2_bytes *key)
{
	thrift__put_list(thrift, id, THRIFT_STRUCT, 1);
	thrift__put_i32(thrift, 1, MATCH_EXACT);
	thrift__put_struct(thrift, 2);
	thrift__put_bytes(thrift, 1, key->bytes, key->length);
	thrift__put_stop(thrift);
	thrift__put_stop(thrift);
}

int bmv2_table__add(struct thrift *thrift, const char *table, const char *action,
		    struct bmv2_entry *entry, struct dart_error *error)
{
	int asked;

	switch_call__begin(thrift, "bm_mt_add_entry", table);
	put_key(thrift, 3, &entry->key);
	put_action(thrift, 4, action, entry);
	thrift__put_struct(thrift, 6); /* options: none */
	thrift__put_stop(thrift);
	asked = thrift__ask(thrift, THRIFT_I32);
	if (!asked)
		entry->handle = thrift__i32(thrift);
	return thrift__end(thrift, asked, action, error);
}

int bmv2_table__change(struct thrift *thrift, const char *table, const char *action,
		       const struct bmv2_entry *entry, struct dart_error *error)
{
	switch_call__begin(thrift, "bm_mt_modify_entry", table);
	thrift__put_i32(thrift, 3, entry->handle);
	put_action(thrift, 4, action, entry);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), action, error);
}

int bmv2_table__remove(struct thrift *thrift, const char *table, int32_t handle,
		       struct dart_error *error)
{
	switch_call__begin(thrift, "bm_mt_delete_entry", table);
	thrift__put_i32(thrift, 3, handle);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), table, error);
}

int bmv2_table__clear(struct thrift *thrift, const char *table, struct dart_error *error)
{
	switch_call__begin(thrift, "bm_mt_clear_entries", table);
	thrift__put_bool(thrift, 3, false);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), table, error);
}

int bmv2_table__count(struct thrift *thrift, const char *table, uint64_t *count,
		      struct dart_error *error)
{
	int asked;

	*count = 0;
	switch_call__begin(thrift, "bm_mt_get_num_entries", table);
	asked = thrift__ask(thrift, THRIFT_I64);
	if (!asked)
		*count = thrift__i64(thrift);
	return thrift__end(thrift, asked, table, error);
}

int bmv2_table__set_default(struct thrift *thrift, const char *table, const char *action,
			    const struct bmv2_entry *entry, struct dart_error *error)
{
	switch_call__begin(thrift, "bm_mt_set_default_action", table);
	put_action(thrift, 3, action, entry);
	return thrift__end(thrift, thrift__ask(thrift, THRIFT_STOP), action, error);
}

/* ---- reading */

static void read_bytes(struct thrift *thrift, struct bmv2_bytes *bytes)
{
	bytes->length = thrift__bytes(thrift, bytes->bytes, BMV2_BYTES_MAX);
}

static void read_values(struct thrift *thrift, struct bmv2_entry *entry)
{
	uint32_t count = thrift__list(thrift, THRIFT_STRING), i;

	if (count > SWITCH_VALUES_MAX) {
		thrift__refuse(thrift);
		return;
	}
	for (i = 0; i < count; i++)
		read_bytes(thrift, &entry->values[i]);
	entry->value_count = count;
}

/* Reads an action with its values; sets is_ours if it is @action. */
static void read_action(struct thrift *thrift, const char *action, struct bmv2_entry *entry)
{
	enum thrift_type type;
	uint32_t length;
	char *name;
	int16_t id;

	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 2 && type == THRIFT_STRING) {
			name = thrift__text(thrift, &length);
			entry->is_ours = name && length == strlen(action) &&
					 !memcmp(name, action, length);
			free(name);
		} else if (id == 3 && type == THRIFT_LIST) {
			read_values(thrift, entry);
		} else {
			thrift__skip(thrift, type);
		}
	}
}

static bool read_exact(struct thrift *thrift, struct bmv2_bytes *key)
{
	bool is_there = false;
	enum thrift_type type;
	int16_t id;

	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_STRING) {
			read_bytes(thrift, key);
			is_there = true;
		} else {
			thrift__skip(thrift, type);
		}
	}
	return is_there;
}

/* Reads a key of one part; false if it has another form. */
static bool read_key(struct thrift *thrift, struct bmv2_bytes *key)
{
	bool is_there = false;
	enum thrift_type type;
	int16_t id;

	if (thrift__list(thrift, THRIFT_STRUCT) != 1) {
		thrift__refuse(thrift);
		return false;
	}
	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 2 && type == THRIFT_STRUCT)
			is_there = read_exact(thrift, key);
		else
			thrift__skip(thrift, type);
	}
	return is_there;
}

/* Returns false if the entry has no key. */
static bool read_entry(struct thrift *thrift, const char *action, struct bmv2_entry *entry)
{
	bool has_key = false;
	enum thrift_type type;
	int16_t id;

	*entry = (struct bmv2_entry){ .handle = 0 };
	while ((type = thrift__next(thrift, &id)) != THRIFT_STOP) {
		if (id == 1 && type == THRIFT_LIST)
			has_key = read_key(thrift, &entry->key);
		else if (id == 3 && type == THRIFT_I32)
			entry->handle = thrift__i32(thrift);
		else if (id == 4 && type == THRIFT_STRUCT)
			read_action(thrift, action, entry);
		else
			thrift__skip(thrift, type);
	}
	return has_key;
}

int bmv2_table__read(struct thrift *thrift, const char *table, const char *action, uint32_t most,
		     bmv2_take take, void *subject, struct dart_error *error)
{
	struct bmv2_entry entry;
	uint32_t i, count = 0;
	int asked;

	switch_call__begin(thrift, "bm_mt_get_entries", table);
	asked = thrift__ask(thrift, THRIFT_LIST);
	if (!asked)
		count = thrift__list(thrift, THRIFT_STRUCT);
	if (count > most) {
		thrift__refuse(thrift);
		count = 0;
	}
	for (i = 0; i < count; i++)
		if (!read_entry(thrift, action, &entry) || !take(subject, &entry))
			thrift__refuse(thrift);
	return thrift__end(thrift, asked, table, error);
}

/* ---- entries that consist of numbers */

static void take_values(const struct bmv2_entry *entry, struct switch_entry *numbers)
{
	uint32_t i;

	numbers->there = true;
	numbers->handle = entry->handle;
	for (i = 0; i < SWITCH_VALUES_MAX; i++)
		if (!entry->is_ours)
			numbers->values[i] = SWITCH_FOREIGN;
		else if (i < entry->value_count)
			numbers->values[i] = number_of(&entry->values[i]);
}

struct numbers {
	const struct switch_table *table;
	struct switch_entry *entries;
};

static bool take_dense(void *subject, const struct bmv2_entry *entry)
{
	const struct numbers *numbers = subject;
	const uint64_t key = number_of(&entry->key);

	if (key >= numbers->table->entries || numbers->entries[key].there)
		return false;
	take_values(entry, &numbers->entries[key]);
	return true;
}

static bool take_sparse(void *subject, const struct bmv2_entry *entry)
{
	const struct numbers *numbers = subject;
	struct switch_entry *free = numbers->entries, *end = free + numbers->table->entries;
	const uint64_t key = number_of(&entry->key);

	for (; free < end && free->there; free++)
		if (free->key == key)
			return false;
	if (free == end || key == UINT64_MAX)
		return false;
	free->key = key;
	take_values(entry, free);
	return true;
}

static int read_default(struct thrift *thrift, const struct switch_table *table,
			struct switch_entry *numbers, struct dart_error *error)
{
	struct bmv2_entry entry = { .handle = 0 };
	int asked, ret;

	switch_call__begin(thrift, "bm_mt_get_default_entry", table->name);
	asked = thrift__ask(thrift, THRIFT_STRUCT);
	if (!asked)
		read_action(thrift, table->action, &entry);
	ret = thrift__end(thrift, asked, table->name, error);
	if (ret)
		return ret;
	take_values(&entry, numbers);
	numbers->there = entry.is_ours;
	return 0;
}

int bmv2_table__read_numbers(struct thrift *thrift, const struct switch_table *table,
			     struct switch_entry *entries, struct dart_error *error)
{
	struct numbers numbers = { table, entries };

	if (!table->key_bits)
		return read_default(thrift, table, entries, error);
	return bmv2_table__read(thrift, table->name, table->action, table->entries,
				table->is_sparse ? take_sparse : take_dense, &numbers, error);
}
