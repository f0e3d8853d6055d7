// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of <dart/rpc.h>: decoded, as both ends do, and written again; and as the
 * requests of a peer of the agent.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>

#include <libdart/rpc/epochs.h>
#include <libdart/rpc/lookups.h>
#include <libdart/rpc/message.h>
#include <libdart/table/table_writer.h>

#include "agent/serve/session.h"
#include "fuzz.h"

#define TABLE_MAX 4096

static uint8_t memory[4096] __attribute__((aligned(64)));

/* ---- the rooms around the session */

const void *exposure__memory(const struct exposure *exposure, uint64_t address)
{
	require(address < sizeof(memory));
	return memory + address;
}

uint32_t control_region__capacity(void)
{
	return TABLE_MAX;
}

/* ---- an epoch of any store, in memory and in no file */

static ssize_t list_epochs(void *subject, const char *store, uint64_t since_ns, uint64_t until_ns,
			   void *bytes, struct dart_error *error)
{
	const struct dart_rpc_epochs_values values = { .redundancy = 1 };

	require(strlen(store) < DART_RPC_STORE_MAX && since_ns <= until_ns);
	return dart_rpc_epochs__put(bytes, &values);
}

static int open_epoch(void *subject, const struct dart_rpc_epoch_bytes *wanted, int *fd,
		      struct dart_error *error)
{
	*fd = -1;
	if (wanted->place == DART_RPC_EPOCH_MEMORY && wanted->offset <= sizeof(memory) &&
	    wanted->length <= sizeof(memory) - wanted->offset)
		return 0;
	return dart_error__set(error, ENOENT, "it has no such bytes");
}

static int read_epoch(void *subject, const struct dart_rpc_epoch_bytes *wanted, int fd,
		      uint32_t offset, void *bytes, size_t size, struct dart_error *error)
{
	require(size && wanted->offset + offset + size <= sizeof(memory));
	memcpy(bytes, memory + wanted->offset + offset, size);
	return 0;
}

static const struct sockaddr_in loopback = { .sin_family = AF_INET };
static struct dart_prefix everywhere = { .family = AF_INET };
static const struct dart_prefixes readers = { .is_given = true, .list = &everywhere, .count = 1 };
static const struct epoch_service epochs = {
	.readers = &readers,
	.list = list_epochs, .open = open_epoch, .read = read_epoch,
};

/* ---- lookup tables: changes of two bytes each, and lists without entries */

static ssize_t list_lookups(void *subject, const struct dart_rpc_lookups_wanted *wanted, void *bytes,
			    struct dart_error *error)
{
	const struct dart_rpc_lookups_values values = { .key_length = 1, .value_length = 1,
							.epoch = 1 };

	require(strlen(wanted->table) < DART_RPC_LOOKUP_TABLE_MAX);
	return dart_rpc_lookups__put(bytes, &values);
}

static int change_lookups(void *subject, const struct dart_rpc_lookup_changes *changes,
			  uint8_t *outcomes, struct dart_error *error)
{
	uint8_t sum = 0;
	uint32_t i;

	require(strlen(changes->table) < DART_RPC_LOOKUP_TABLE_MAX && changes->epoch);
	require(changes->count && changes->count <= changes->length);
	for (i = 0; i < changes->length; i++)
		sum += changes->records[i];
	if (changes->length != 2 * changes->count)
		return dart_error__set(error, EINVAL, "its records have another length");
	memset(outcomes, sum % DART_RPC_LOOKUP_FULL + 1, changes->count);
	return 0;
}

static const struct lookup_service lookups = { NULL, list_lookups, change_lookups };
static const char *const changers[] = { "changer.example" };

/* ---- */

/* Written again, a message is the same. */
static void write_again(const struct dart_rpc_message *message, const uint8_t *data, size_t size)
{
	static uint8_t bytes[1 << 16];
	struct dart_rpc_entries runs[DART_RPC_RUNS_MAX];
	size_t length;
	uint32_t i;

	switch (message->type) {
	case DART_RPC_GET_TABLE:
		length = dart_rpc__put_get_table(bytes, message->id, message->table_length);
		break;
	case DART_RPC_FOLLOW_TABLE:
		length = dart_rpc__put_follow_table(bytes, message->id, message->table_length);
		break;
	case DART_RPC_GET_VALUES:
		for (i = 0; i < message->values.runs; i++)
			runs[i] = dart_rpc_message__run(message, i);
		length = dart_rpc__put_get_values(bytes, message->id, message->values.instance,
						  message->values.generation, runs,
						  message->values.runs);
		break;
	case DART_RPC_GET_EPOCHS:
		length = dart_rpc__put_get_epochs(bytes, message->id, message->epochs.store,
						  message->epochs.since_ns,
						  message->epochs.until_ns);
		break;
	case DART_RPC_GET_EPOCH:
		length = dart_rpc__put_get_epoch(bytes, message->id, &message->epoch);
		break;
	case DART_RPC_GET_LOOKUPS:
		length = dart_rpc__put_get_lookups(bytes, message->id, &message->lookups);
		break;
	case DART_RPC_CHANGE_LOOKUPS:
		length = dart_rpc__put_change_lookups(bytes, message->id, &message->changes);
		break;
	case DART_RPC_PART:
		require(message->part.length <= size);
		if (size > sizeof(bytes))
			return;
		memcpy(bytes + DART_RPC_PART_HEAD, message->part.data, message->part.length);
		length = dart_rpc__put_part(bytes, message->id, message->part.offset,
					    message->part.length, message->is_last);
		break;
	default:
		return;
	}
	require(length == size && !memcmp(bytes, data, size));
}

/* A list of epochs that is read can be walked through, and written again. */
static void decode_epochs(const uint8_t *data, size_t size)
{
	static uint8_t bytes[DART_RPC_EPOCHS_LENGTH_MAX];
	struct dart_rpc_epochs_values values;
	struct dart_rpc_epoch_values epoch;
	struct dart_error error = {};
	uint64_t last_ns = 0;
	uint32_t i;

	if (dart_rpc_epochs__decode(data, size, &values, &error)) {
		require_sentence(&error);
		return;
	}
	for (i = 0; i < values.count; i++) {
		epoch = dart_rpc_epochs__get(&values, i);
		require(epoch.since_ns > last_ns);
		last_ns = epoch.since_ns;
		dart_rpc_epochs__put_epoch(bytes, i, &epoch);
	}
	require(dart_rpc_epochs__put(bytes, &values) == size && !memcmp(bytes, data, size));
}

/* A list of entries that is read has all of them, and its beginning is written again. */
static void decode_lookups(const uint8_t *data, size_t size)
{
	static uint8_t bytes[DART_RPC_LOOKUPS_LENGTH_MAX];
	struct dart_rpc_lookups_values values;
	struct dart_error error = {};
	size_t length;

	if (dart_rpc_lookups__decode(data, size, 0, &values, &error)) {
		require_sentence(&error);
		return;
	}
	length = values.count * (size_t)(values.key_length + values.value_length);
	require(values.entries + length == data + size);
	memcpy(bytes + (size - length), values.entries, length);
	require(dart_rpc_lookups__put(bytes, &values) == size && !memcmp(bytes, data, size));
}

static void decode(const uint8_t *data, size_t size)
{
	struct dart_rpc_welcome_values welcome;
	struct dart_rpc_hello_values hello;
	struct dart_rpc_message message;
	struct dart_error error = {};

	if (dart_rpc_message__decode(data, size, &message, &error))
		require_sentence(&error);
	else
		write_again(&message, data, size);
	if (dart_rpc_hello__decode(data, size, &hello, &error))
		require_sentence(&error);
	if (dart_rpc_welcome__decode(data, size, &welcome, &error))
		require_sentence(&error);
	else
		require(welcome.used <= welcome.length);
}

#define ROWS 7
#define ROW_LENGTH (2 * DART_CONTROL_LINE)

/* Rows of two lines, the second with separate sequences. */
static struct dart_schema *make_schema(void)
{
	static const uint32_t offsets[] = { 0, 60, 64, 124 };
	struct dart_schema *schema = dart_schema__new("row", ROW_LENGTH);
	struct dart_field field = {
		.unit = "", .width = 4, .count = 1,
		.kind = DART_CONTROL_FIELD_SEQUENCE,
	};
	char name[] = "sequence0";
	size_t i;

	require(schema);
	for (i = 0; i < 4; i++, name[8]++) {
		field.name = name;
		field.offset = offsets[i];
		require(!dart_schema__add(schema, &field));
	}
	return schema;
}

/* A table with one entry of seven rows, and a place that is empty. */
static void publish(struct control_region *control_region, void *table_memory)
{
	struct dart_schema *schema = make_schema();
	struct dart_memory_region region = { 0, sizeof(memory), 1 };
	struct dart_range ranges[2] = {
		{ .stride = ROW_LENGTH, .copies = ROWS, .length = ROW_LENGTH },
		{ .address = ROWS * ROW_LENGTH, .stride = 2 * ROW_LENGTH,
		  .copies = ROWS, .length = ROW_LENGTH },
	};
	struct dart_entry entries[2] = {
		{ .name = "gone", .schema = schema,
		  .kind = DART_CONTROL_ENTRY_MAP,
		  .lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
		  .copies_are = DART_CONTROL_COPIES_ROW, .copies = ROWS,
		  .ranges = &ranges[0], .range_count = 1 },
	};
	struct dart_table table = {
		.generation = 1, .instance = 1, .page_size = 4096, .cpus = 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.memory_regions = &region, .memory_region_count = 1,
		.entries = entries, .entry_count = 2,
	};

	entries[1] = entries[0];
	entries[1].name = "rows";
	entries[1].ranges = &ranges[1];
	control_region->memory = table_memory;
	control_region->writer = dart_table_writer__new(table_memory, TABLE_MAX);
	require(control_region->writer);
	require(dart_table_writer__rewrite(control_region->writer, &table) > 0);
	table.generation = 2;
	table.entry_count = 0;
	table.memory_region_count = 0;
	control_region->used = dart_table_writer__remove(control_region->writer, &table, "gone");
	require(control_region->used <= TABLE_MAX);
	control_region->instance = 1;
	control_region->generation = 2;
	generations__publish(&control_region->generations, 1, true, 0);
	generations__publish(&control_region->generations, 2, false, INT64_MAX);
	dart_schema__free(schema);
}

/* The table does not change. */
static void has_message(struct session *session)
{
	require(false);
}

/* The request, and all messages of its answer. */
static void serve(const uint8_t *data, size_t size)
{
	static uint8_t table_memory[TABLE_MAX] __attribute__((aligned(64)));
	static struct control_region control_region;
	static struct serve_counts counts;
	uint8_t bytes[DART_RPC_ANSWER_MIN];
	struct dart_rpc_message message;
	struct dart_error error = {};
	struct snapshots snapshots;
	struct sessions sessions;
	struct session session;
	uint32_t offset = 0;
	size_t length;

	if (!control_region.writer)
		publish(&control_region, table_memory);
	snapshots__open(&snapshots, &control_region);
	sessions__open(&sessions, &snapshots, &counts);
	sessions.epochs = &epochs;
	sessions.lookups = &lookups;
	sessions.changers = changers;
	sessions.changer_count = 1;
	session__open(&session, &sessions, (const struct sockaddr *)&loopback,
		      has_message);
	session__name(&session, changers[0]);
	if (session__take(&session, data, size, &error))
		require_sentence(&error);
	while ((length = session__next(&session, bytes, sizeof(bytes)))) {
		require(length <= sizeof(bytes));
		require(!dart_rpc_message__decode(bytes, length, &message, &error));
		if (message.type != DART_RPC_PART)
			continue;
		require(message.part.offset == offset);
		offset += message.part.length;
		require(offset <= 2 * ROWS * ROW_LENGTH + TABLE_MAX +
					  sizeof(struct dart_control_header));
	}
	session__close(&session);
	require(!snapshots.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = exact_copy(data, size);
	struct dart_rpc_header header;
	uint32_t length;

	if (size >= sizeof(header)) {
		memcpy(&header, bytes, sizeof(header));
		length = dart_rpc__message_length(&header, DART_RPC_REQUEST_MAX);
		require(!length || (length >= sizeof(header) && length <= DART_RPC_REQUEST_MAX));
	}
	decode(bytes, size);
	decode_epochs(bytes, size);
	decode_lookups(bytes, size);
	serve(bytes, size);
	free(bytes);
	return 0;
}
