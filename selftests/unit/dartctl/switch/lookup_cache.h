/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A switch with lookup tables, which this process plays: it answers at a Thrift socket from a
 * thread of its own, and publishes digests at a local socket.
 */
#ifndef LOOKUP_CACHE_TEST_H
#define LOOKUP_CACHE_TEST_H

#include <fcntl.h>
#include <jansson.h>

#include "switch_publishes.h"
#include "tools/dartctl/switch/bmv2/table.h"
#include "tools/dartctl/switch/lookups/kind.h"
#include "tools/dartctl/switch/lookups/program.h"
#include "tools/dartctl/switch/lookups/state.h"

#define KEY 4
#define VALUE 2
#define CELLS 2
#define ROOM 4
#define FIELDS 8 /* of a call */
#define REFUSAL 1 /* a code of BMv2 */

/* The test reads and writes it between calls, the thread during them. */
struct device {
	struct answers *answers;
	pthread_t thread;
	uint32_t program_key; /* bytes of a key in the program */
	uint32_t count;
	struct bmv2_entry entries[ROOM];
	uint64_t packets[ROOM]; /* of each entry */
	int32_t next_handle;
	uint64_t threshold;
	uint32_t clears; /* of registers */
	uint64_t acknowledged; /* buffers, from the first one to the last acknowledged one */
	bool fails; /* refuses changes and removals */
	uint32_t senseless; /* calls that a switch with this program refuses */

	char address[128]; /* of the digests */
	int listener;
	struct pair publisher; /* its end of the connection */
	uint64_t published; /* buffers */
	struct message message; /* the next one */
	uint32_t reports; /* in it */
};

/* ---- its program */

static json_t *program__table(const struct switch_table *table)
{
	json_t *key = table->key_bits ? json_pack("[{s:s}]", "match_type", "exact") : json_array();

	return json_pack("{s:s, s:o, s:i, s:[s]}", "name", table->name, "key", key, "max_size",
			 table->room, "actions", table->action);
}

static json_t *program__action(const struct switch_table *table)
{
	json_t *parameters = json_array();
	uint32_t i;

	for (i = 0; i < table->value_count; i++)
		json_array_append_new(parameters,
				      json_pack("{s:i}", "bitwidth", table->values[i].bits));
	return json_pack("{s:s, s:o}", "name", table->action, "runtime_data", parameters);
}

/* An action that fills @field with a hash whose name is that of the field. */
static json_t *program__hash(const char *field)
{
	return json_pack("{s:s, s:[{s:s, s:[{s:s, s:[s, s]}, {}, {s:s, s:s}]}]}", "name", field,
			 "primitives", "op", "modify_field_with_hash_based_offset", "parameters",
			 "type", "field", "value", "scalars", field, "type", "calculation", "value",
			 field);
}

/* Tables whose facts the program tells: their sizes, and those of keys and values. */
static void program__add_facts(json_t *tables, uint32_t key)
{
	char text[8];

	snprintf(text, sizeof(text), "0x%x", key);
	json_array_append_new(tables, json_pack("{s:s, s:i}", "name", LOOKUP_TABLE_CACHE,
						"max_size", ROOM));
	json_array_append_new(tables,
			      json_pack("{s:s, s:{s:[s, s, s]}}", "name", "tea_geometry",
					"default_entry", "action_data", text, "0x2", "0x2"));
}

/* What lookup_kind needs, abridged as p4c would write it; the caller frees the text. */
static char *program__text(uint32_t key)
{
	const struct switch_needs *needs = &lookup_kind.needs;
	json_t *tables = json_array(), *actions = json_array(), *registers = json_array();
	json_t *calculations = json_array(), *program;
	const char *field;
	char *text;
	uint32_t i;

	for (i = 0; i < needs->table_count; i++) {
		json_array_append_new(tables, program__table(&needs->tables[i]));
		json_array_append_new(actions, program__action(&needs->tables[i]));
	}
	program__add_facts(tables, key);
	for (i = 0; i < needs->register_count; i++)
		json_array_append_new(registers,
				      json_pack("{s:s, s:i}", "name", needs->registers[i].name,
						"size", needs->registers[i].size));
	for (i = 0; i < needs->polynomial_count; i++) {
		field = needs->polynomials[i].field;
		json_array_append_new(actions, program__hash(field));
		json_array_append_new(calculations, json_pack("{s:s, s:s}", "name", field, "algo",
							      "crc32_custom"));
	}
	program = json_pack("{s:[{s:o}], s:o, s:o, s:o, s:[{s:s, s:i}]}", "pipelines", "tables",
			    tables, "actions", actions, "register_arrays", registers,
			    "calculations", calculations, "learn_lists", "name", "tea_popular_t",
			    "id", LIST);
	text = json_dumps(program, 0);
	json_decref(program);
	return text;
}

/* ---- calls */

/* The last number and the last string of each argument, however deep they lie in it. */
struct call {
	char method[64]; /* without the service */
	uint32_t sequence;
	struct {
		int64_t number;
		struct bmv2_bytes bytes;
	} fields[FIELDS];
};

static uint64_t take_number(FILE *stream, uint32_t bytes)
{
	uint64_t number = 0;

	while (bytes--)
		number = number << 8 | (uint8_t)fgetc(stream);
	return number;
}

static void take_bytes(FILE *stream, struct bmv2_bytes *bytes)
{
	const uint32_t length = take_number(stream, 4);

	bytes->length = length < BMV2_BYTES_MAX ? length : BMV2_BYTES_MAX - 1;
	bytes->length = fread(bytes->bytes, 1, bytes->length, stream);
	bytes->bytes[bytes->length] = '\0';
}

/* Takes a value of @type, with all that lies in it, as that of argument @field. */
static void take_value(FILE *stream, struct call *call, uint8_t type, uint32_t field)
{
	uint32_t count;

	switch (type) {
	case THRIFT_BOOL:
		call->fields[field].number = take_number(stream, 1);
		break;
	case THRIFT_I32:
		call->fields[field].number = take_number(stream, 4);
		break;
	case THRIFT_I64:
		call->fields[field].number = take_number(stream, 8);
		break;
	case THRIFT_STRING:
		take_bytes(stream, &call->fields[field].bytes);
		break;
	case THRIFT_LIST:
		type = take_number(stream, 1);
		for (count = take_number(stream, 4); count && !feof(stream); count--)
			take_value(stream, call, type, field);
		break;
	case THRIFT_STRUCT:
		while (!feof(stream) && (type = take_number(stream, 1)) != THRIFT_STOP) {
			take_number(stream, 2);
			take_value(stream, call, type, field);
		}
	}
}

/* Returns false at the end of the connection. */
static bool take_call(FILE *stream, struct call *call)
{
	struct bmv2_bytes name;
	const char *method;
	uint8_t type;

	*call = (struct call){ .sequence = 0 };
	take_number(stream, 4);
	if (feof(stream))
		return false;
	take_bytes(stream, &name);
	method = strchr((const char *)name.bytes, ':');
	snprintf(call->method, sizeof(call->method), "%s", method ? method + 1 : "");
	call->sequence = take_number(stream, 4);
	while (!feof(stream) && (type = take_number(stream, 1)) != THRIFT_STOP)
		take_value(stream, call, type, take_number(stream, 2) % FIELDS);
	return !feof(stream);
}

/* ---- answers */

static bool is_text(const struct call *call, uint32_t field, const char *text)
{
	return !strcmp((const char *)call->fields[field].bytes.bytes, text);
}

/* The entry whose handle is argument 3 of a call about the cache, or NULL. */
static struct bmv2_entry *device__entry(struct device *device, const struct call *call)
{
	uint32_t i;

	if (is_text(call, 2, LOOKUP_TABLE_CACHE))
		for (i = 0; i < device->count; i++)
			if (device->entries[i].handle == call->fields[3].number)
				return &device->entries[i];
	return NULL;
}

static bool device__has(const struct device *device, const struct bmv2_bytes *key)
{
	uint32_t i;

	for (i = 0; i < device->count; i++)
		if (device->entries[i].key.length == key->length &&
		    !memcmp(device->entries[i].key.bytes, key->bytes, key->length))
			return true;
	return false;
}

/* The functions below change the device and append a result; false: it refuses the call. */
static bool device__add(struct device *device, const struct call *call)
{
	const struct bmv2_bytes *key = &call->fields[3].bytes, *value = &call->fields[5].bytes;

	if (!is_text(call, 2, LOOKUP_TABLE_CACHE) || !is_text(call, 4, LOOKUP_ACTION_CACHE) ||
	    key->length != device->program_key || value->length != VALUE || device->count == ROOM ||
	    device__has(device, key))
		return false;
	device->packets[device->count] = 0;
	device->entries[device->count++] = (struct bmv2_entry){
		.handle = device->next_handle,
		.key = *key,
		.values[0] = *value,
	};
	append_i32(device->answers, 0, device->next_handle++);
	return true;
}

static bool device__change(struct device *device, const struct call *call)
{
	struct bmv2_entry *entry = device__entry(device, call);

	if (!entry || !is_text(call, 4, LOOKUP_ACTION_CACHE) ||
	    call->fields[5].bytes.length != VALUE)
		return false;
	entry->values[0] = call->fields[5].bytes;
	return true;
}

static bool device__remove(struct device *device, const struct call *call)
{
	struct bmv2_entry *entry = device__entry(device, call);

	if (!entry)
		return false;
	device->packets[entry - device->entries] = device->packets[--device->count];
	*entry = device->entries[device->count];
	return true;
}

static bool device__clear(struct device *device, const struct call *call)
{
	device->count = 0;
	return is_text(call, 2, LOOKUP_TABLE_CACHE);
}

static bool device__set_default(struct device *device, const struct call *call)
{
	const uint8_t *bytes = call->fields[4].bytes.bytes;

	device->threshold = bytes[0] << 8 | bytes[1];
	return is_text(call, 2, "tea_popular") && is_text(call, 3, "tea_popular_from") &&
	       call->fields[4].bytes.length == 2;
}

static bool device__reset(struct device *device, const struct call *call)
{
	device->clears++;
	return call->fields[2].bytes.length;
}

static bool device__count(struct device *device, const struct call *call)
{
	const struct bmv2_entry *entry = device__entry(device, call);
	uint64_t packets;

	if (!entry)
		return false;
	packets = htobe64(device->packets[entry - device->entries]);
	append_field(device->answers, THRIFT_STRUCT, 0);
	append_field(device->answers, THRIFT_I64, 2);
	append(device->answers, &packets, sizeof(packets));
	append_u8(device->answers, THRIFT_STOP);
	return true;
}

static bool device__acknowledge(struct device *device, const struct call *call)
{
	device->acknowledged = call->fields[3].number + 1;
	return call->fields[2].number == LIST;
}

static bool device__tell_program(struct device *device, const struct call *call)
{
	char *text = program__text(device->program_key);

	append_field(device->answers, THRIFT_STRING, 0);
	append_string(device->answers, text);
	free(text);
	return true;
}

static const struct {
	const char *method;
	bool (*apply)(struct device *device, const struct call *call);
	bool may_fail; /* refused while device.fails is set */
} methods[] = {
	{ "bm_mt_add_entry", device__add, false },
	{ "bm_mt_modify_entry", device__change, true },
	{ "bm_mt_delete_entry", device__remove, true },
	{ "bm_mt_clear_entries", device__clear, false },
	{ "bm_mt_set_default_action", device__set_default, false },
	{ "bm_register_reset", device__reset, false },
	{ "bm_mt_read_counter", device__count, false },
	{ "bm_learning_ack_buffer", device__acknowledge, false },
	{ "bm_get_config", device__tell_program, false },
};

static void device__answer(struct device *device, const struct call *call)
{
	struct answers *answers = device->answers;
	bool is_refused = true;
	size_t i;

	answers->length = 0;
	append_header(answers, REPLY, call->method, call->sequence);
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(methods[i].method, call->method))
			continue;
		is_refused = device->fails && methods[i].may_fail;
		if (!is_refused && !methods[i].apply(device, call)) {
			is_refused = true;
			device->senseless++;
		}
		break;
	}
	device->senseless += i == sizeof(methods) / sizeof(methods[0]);
	if (is_refused) {
		append_field(answers, THRIFT_STRUCT, 1);
		append_i32(answers, 1, REFUSAL);
		append_u8(answers, THRIFT_STOP);
	}
	append_u8(answers, THRIFT_STOP);
}

static void *device__run(void *context)
{
	struct device *device = context;
	const int socket = accept(device->answers->listener, NULL, NULL);
	FILE *stream = fdopen(socket, "r");
	struct call call;

	while (take_call(stream, &call)) {
		device__answer(device, &call);
		send(socket, device->answers->bytes, device->answers->length, MSG_NOSIGNAL);
	}
	fclose(stream);
	return NULL;
}

/* ---- its digests */

/* Another key of the next message. */
static void device__report(struct device *device, const uint8_t *key)
{
	struct message *message = &device->message;

	if (!device->reports++)
		message->length = HEADER;
	memcpy(message->bytes + message->length, key, device->program_key);
	message->length += device->program_key;
}

static void device__publish(struct device *device)
{
	const uint32_t length = device->message.length;

	device->message.length = 0;
	put_header(&device->message, LIST, device->published++, device->reports);
	device->message.length = length;
	device->reports = 0;
	send_message(&device->publisher, &device->message);
}

static void device__hang_up(struct device *device)
{
	if (device->publisher.socket >= 0)
		close(device->publisher.socket);
	device->publisher.socket = -1;
}

/* Publishes to the listener that has connected last, if one has. */
static void device__greet(struct device *device)
{
	const int socket = accept4(device->listener, NULL, NULL, SOCK_CLOEXEC);

	if (socket < 0)
		return;
	device__hang_up(device);
	device->publisher.socket = socket;
	send_bytes(&device->publisher, "\0SP\0\0\040\0", 8);
}

/* ---- the whole */

static struct device *device__new(void)
{
	struct device *device = calloc(1, sizeof(*device));

	assert_non_null(device);
	device->program_key = KEY;
	device->publisher = (struct pair){ .socket = -1, .is_local = true };
	listen_local(&device->listener, device->address);
	assert_int_equal(fcntl(device->listener, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(listen(device->listener, 1), 0);
	device->answers = answers__new();
	assert_int_equal(pthread_create(&device->thread, NULL, device__run, device), 0);
	return device;
}

/* The client has closed its connection. */
static void device__free(struct device *device)
{
	pthread_join(device->thread, NULL);
	assert_int_equal(device->senseless, 0);
	answers__free(device->answers);
	device__hang_up(device);
	close(device->listener);
	remove_local(device->address);
	free(device);
}

#endif /* LOOKUP_CACHE_TEST_H */
