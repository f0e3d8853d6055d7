// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks and writes messages of <dart/rpc.h>. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dart/control.h>

#include "message.h"

#define HEAD sizeof(struct dart_rpc_header)

#define refuse(error, ...) dart_error__set(error, EBADMSG, __VA_ARGS__)

uint32_t dart_rpc__message_length(const struct dart_rpc_header *header, uint32_t most)
{
	uint32_t length = le32toh(header->length);

	return length >= HEAD && length <= most ? length : 0;
}

/* Copies a structure that begins @length bytes or, with @is_all, makes up all of them. */
static int take(void *raw, size_t size, const void *bytes, size_t length,
		bool is_all, struct dart_error *error)
{
	if (length < size || (is_all && length != size)) {
		refuse(error, "a message has %zu bytes behind its header, not %zu", length, size);
		return -EBADMSG;
	}
	memcpy(raw, bytes, size);
	return 0;
}

static int check_magic(__le64 magic, struct dart_error *error)
{
	if (magic == htole64(DART_RPC_MAGIC))
		return 0;
	return refuse(error, "the magic number of its handshake is another one");
}

int dart_rpc_hello__decode(const void *bytes, size_t length, struct dart_rpc_hello_values *values,
			   struct dart_error *error)
{
	struct dart_rpc_hello raw;
	int ret = take(&raw, sizeof(raw), bytes, length, false, error) ?:
			  check_magic(raw.magic, error);

	if (ret)
		return ret;
	*values = (struct dart_rpc_hello_values){
		.abi_version = le32toh(raw.abi_version),
		.answer_max = le32toh(raw.answer_max),
		.receives = le32toh(raw.receives),
		.interval_ms = le32toh(raw.interval_ms),
	};
	if (values->abi_version != DART_RPC_ABI_VERSION)
		return 0;
	if (values->answer_max < DART_RPC_ANSWER_MIN || values->answer_max > DART_RPC_ANSWER_MAX)
		return refuse(error, "it takes messages of %u bytes, not of %d to %d",
			      values->answer_max, DART_RPC_ANSWER_MIN, DART_RPC_ANSWER_MAX);
	if (values->receives > DART_RPC_RECEIVES_MAX)
		return refuse(error, "it has %u receives, more than %d",
			      values->receives, DART_RPC_RECEIVES_MAX);
	return 0;
}

int dart_rpc_welcome__decode(const void *bytes, size_t length,
			     struct dart_rpc_welcome_values *values, struct dart_error *error)
{
	struct dart_rpc_welcome raw;
	int ret = take(&raw, sizeof(raw), bytes, length, false, error) ?:
			  check_magic(raw.magic, error);

	if (ret)
		return ret;
	if (le32toh(raw.abi_version) != DART_RPC_ABI_VERSION)
		return dart_error__set(
			error, EPROTONOSUPPORT,
			"the agent speaks version %u of the protocol and this program version %u",
			le32toh(raw.abi_version), DART_RPC_ABI_VERSION);
	*values = (struct dart_rpc_welcome_values){
		.length = le32toh(raw.length),
		.used = le32toh(raw.used),
		.time_ns = le64toh(raw.time_ns),
	};
	if (raw.reserved || values->length > DART_CONTROL_LENGTH_MAX ||
	    values->used > values->length || values->used < sizeof(struct dart_control_header))
		return refuse(error,
			      "the agent offers a control region that cannot be: %u of %u bytes",
			      values->used, values->length);
	return 0;
}

static int decode_get_table(const void *body, size_t length, struct dart_rpc_message *message,
			    struct dart_error *error)
{
	struct dart_rpc_get_table raw;
	int ret = take(&raw, sizeof(raw), body, length, true, error);

	if (ret)
		return ret;
	message->table_length = le32toh(raw.length);
	if (raw.reserved || message->table_length < sizeof(struct dart_control_header))
		return refuse(error, "%u bytes of a table are asked for", message->table_length);
	return 0;
}

struct dart_rpc_entries dart_rpc_message__run(const struct dart_rpc_message *message,
					      uint32_t index)
{
	struct dart_rpc_run raw;

	memcpy(&raw, message->values.raw_runs + index * sizeof(raw), sizeof(raw));
	return (struct dart_rpc_entries){ le32toh(raw.first), le32toh(raw.count) };
}

/* Ascending, so that a request is for each entry once. */
static int check_runs(const struct dart_rpc_message *message, struct dart_error *error)
{
	struct dart_rpc_entries run;
	uint32_t i, next = 0;

	for (i = 0; i < message->values.runs; i++) {
		run = dart_rpc_message__run(message, i);
		if (run.first < next || !run.count ||
		    __builtin_add_overflow(run.first, run.count, &next))
			return refuse(
				error,
				"run %u of a request for values is empty or not behind the one before",
				i);
	}
	return 0;
}

static int decode_get_values(const void *body, size_t length, struct dart_rpc_message *message,
			     struct dart_error *error)
{
	struct dart_rpc_get_values raw;
	int ret = take(&raw, sizeof(raw), body, length, false, error);

	if (ret)
		return ret;
	message->values.instance = le64toh(raw.instance);
	message->values.generation = le64toh(raw.generation);
	message->values.runs = le32toh(raw.runs);
	message->values.raw_runs = (const uint8_t *)body + sizeof(raw);
	if (raw.reserved || message->values.runs > DART_RPC_RUNS_MAX ||
	    length - sizeof(raw) != message->values.runs * sizeof(struct dart_rpc_run))
		return refuse(error, "a request for values has %zu bytes for %u runs of entries",
			      length - sizeof(raw), message->values.runs);
	return check_runs(message, error);
}

_Static_assert(DART_RPC_LOOKUP_TABLE_MAX == DART_RPC_STORE_MAX, "is_name() checks both");

/* Is it a name of at least one byte, followed by NULs only? */
static bool is_name(const char name[static DART_RPC_STORE_MAX])
{
	size_t length = strnlen(name, DART_RPC_STORE_MAX), i;

	for (i = length; i < DART_RPC_STORE_MAX; i++)
		if (name[i])
			return false;
	return length && length < DART_RPC_STORE_MAX;
}

static int decode_get_epochs(const void *body, size_t length, struct dart_rpc_message *message,
			     struct dart_error *error)
{
	struct dart_rpc_get_epochs raw;
	int ret = take(&raw, sizeof(raw), body, length, true, error);

	if (ret)
		return ret;
	if (!is_name(raw.store))
		return refuse(error, "a request for epochs does not name a store");
	memcpy(message->epochs.store, raw.store, sizeof(raw.store));
	message->epochs.since_ns = le64toh(raw.since_ns);
	message->epochs.until_ns = le64toh(raw.until_ns);
	if (message->epochs.until_ns < message->epochs.since_ns)
		return refuse(error, "a request for epochs has a time that ends before it begins");
	return 0;
}

static int decode_get_epoch(const void *body, size_t length, struct dart_rpc_message *message,
			    struct dart_error *error)
{
	struct dart_rpc_get_epoch raw;
	int ret = take(&raw, sizeof(raw), body, length, true, error);

	if (ret)
		return ret;
	if (!is_name(raw.store))
		return refuse(error, "a request for an epoch does not name a store");
	memcpy(message->epoch.store, raw.store, sizeof(raw.store));
	message->epoch.since_ns = le64toh(raw.since_ns);
	message->epoch.offset = le64toh(raw.offset);
	message->epoch.length = le32toh(raw.length);
	message->epoch.place = le32toh(raw.place);
	if (!message->epoch.length || message->epoch.length > DART_RPC_EPOCH_MAX ||
	    message->epoch.offset > UINT64_MAX - message->epoch.length)
		return refuse(error, "a request for an epoch asks for %u bytes at %llu",
			      message->epoch.length, (unsigned long long)message->epoch.offset);
	if (message->epoch.place != DART_RPC_EPOCH_FILE &&
	    message->epoch.place != DART_RPC_EPOCH_MEMORY)
		return refuse(error, "a request for an epoch asks for the unknown place %u",
			      message->epoch.place);
	return 0;
}

static int decode_get_lookups(const void *body, size_t length, struct dart_rpc_message *message,
			      struct dart_error *error)
{
	struct dart_rpc_get_lookups raw;
	int ret = take(&raw, sizeof(raw), body, length, true, error);

	if (ret)
		return ret;
	if (!is_name(raw.table) || raw.reserved)
		return refuse(error, "a request for entries does not name a lookup table");
	memcpy(message->lookups.table, raw.table, sizeof(raw.table));
	message->lookups.first = le64toh(raw.first);
	message->lookups.epoch = le32toh(raw.epoch);
	return 0;
}

static int decode_change_lookups(const void *body, size_t length, struct dart_rpc_message *message,
				 struct dart_error *error)
{
	struct dart_rpc_lookup_changes *changes = &message->changes;
	struct dart_rpc_change_lookups raw;
	int ret = take(&raw, sizeof(raw), body, length, false, error);

	if (ret)
		return ret;
	if (!is_name(raw.table))
		return refuse(error, "a request for changes does not name a lookup table");
	memcpy(changes->table, raw.table, sizeof(raw.table));
	changes->epoch = le32toh(raw.epoch);
	changes->count = le32toh(raw.count);
	changes->records = (const uint8_t *)body + sizeof(raw);
	changes->length = length - sizeof(raw);
	if (!changes->epoch || !changes->count || !changes->length ||
	    changes->length > DART_RPC_RECORDS_LENGTH_MAX || changes->length % changes->count)
		return refuse(error, "a request has %u bytes for %u changes in epoch %u",
			      changes->length, changes->count, changes->epoch);
	return 0;
}

static int decode_part(const void *body, size_t length, struct dart_rpc_message *message,
		       struct dart_error *error)
{
	struct dart_rpc_part raw;
	int ret = take(&raw, sizeof(raw), body, length, false, error);

	if (ret)
		return ret;
	message->part.offset = le32toh(raw.offset);
	message->part.data = (const uint8_t *)body + sizeof(raw);
	message->part.length = length - sizeof(raw);
	if (raw.reserved || !message->part.length ||
	    message->part.offset > UINT32_MAX - message->part.length)
		return refuse(error, "a part of an answer has %u bytes at %u",
			      message->part.length, message->part.offset);
	return 0;
}

static int decode_error(const void *body, size_t length, struct dart_rpc_message *message,
			struct dart_error *error)
{
	struct dart_rpc_error raw;
	int ret = take(&raw, sizeof(raw), body, length, false, error);

	if (ret)
		return ret;
	message->error.code = le32toh(raw.code);
	message->error.abi_version = le32toh(raw.abi_version);
	memcpy(message->error.reason, raw.reason, sizeof(raw.reason));
	message->error.reason[sizeof(raw.reason)] = '\0';
	return 0;
}

static bool is_handshake(uint16_t type)
{
	return type == DART_RPC_HELLO || type == DART_RPC_WELCOME;
}

/* Only another version has bytes after the handshake of this one. */
static int check_tail(size_t length, size_t size, uint32_t abi_version, struct dart_error *error)
{
	if (length == size || abi_version != DART_RPC_ABI_VERSION)
		return 0;
	return refuse(error, "its handshake has %zu bytes, not %zu", length, size);
}

int dart_rpc_message__decode(const void *bytes, size_t length, struct dart_rpc_message *message,
			     struct dart_error *error)
{
	const uint8_t *body = (const uint8_t *)bytes + HEAD;
	struct dart_rpc_header header;
	uint16_t flags;

	*message = (struct dart_rpc_message){};
	if (length < HEAD)
		return refuse(error, "a message of %zu bytes has no header", length);
	memcpy(&header, bytes, HEAD);
	flags = le16toh(header.flags);
	message->type = le16toh(header.type);
	message->id = le32toh(header.id);
	message->is_last = flags & DART_RPC_LAST;
	if (le32toh(header.length) != length || header.reserved ||
	    (flags && (flags != DART_RPC_LAST || message->type != DART_RPC_PART)))
		return refuse(error, "the header of a message of type %u breaks a rule",
			      message->type);
	if (is_handshake(message->type) && message->id)
		return refuse(error, "its handshake has the id of a request");
	length -= HEAD;
	switch (message->type) {
	case DART_RPC_HELLO:
		return dart_rpc_hello__decode(body, length, &message->hello, error) ?:
			       check_tail(length, sizeof(struct dart_rpc_hello),
					  message->hello.abi_version, error);
	case DART_RPC_GET_TABLE:
	case DART_RPC_FOLLOW_TABLE:
		return decode_get_table(body, length, message, error);
	case DART_RPC_GET_VALUES:
		return decode_get_values(body, length, message, error);
	case DART_RPC_GET_EPOCHS:
		return decode_get_epochs(body, length, message, error);
	case DART_RPC_GET_EPOCH:
		return decode_get_epoch(body, length, message, error);
	case DART_RPC_GET_LOOKUPS:
		return decode_get_lookups(body, length, message, error);
	case DART_RPC_CHANGE_LOOKUPS:
		return decode_change_lookups(body, length, message, error);
	case DART_RPC_WELCOME:
		return dart_rpc_welcome__decode(body, length, &message->welcome, error) ?:
			       check_tail(length, sizeof(struct dart_rpc_welcome),
					  DART_RPC_ABI_VERSION, error);
	case DART_RPC_PART:
		return decode_part(body, length, message, error);
	case DART_RPC_ERROR:
		return decode_error(body, length, message, error);
	case DART_RPC_CHANGED:
		return length ? refuse(error, "a message that the table changed has %zu bytes more",
				       length) :
				0;
	default:
		return refuse(error, "a message " DART_RPC_UNKNOWN_TYPE " %u", message->type);
	}
}

/* Writes the header in front of a body of @length bytes. */
static size_t put(void *bytes, enum dart_rpc_type type, uint16_t flags,
		  uint32_t id, const void *body, size_t length, size_t more)
{
	const struct dart_rpc_header header = {
		.length = htole32(HEAD + length + more),
		.type = htole16(type),
		.flags = htole16(flags),
		.id = htole32(id),
	};

	memcpy(bytes, &header, HEAD);
	memcpy((uint8_t *)bytes + HEAD, body, length);
	return HEAD + length + more;
}

struct dart_rpc_hello dart_rpc_hello__make(uint32_t answer_max, uint32_t receives,
					   uint32_t interval_ms)
{
	return (struct dart_rpc_hello){
		.magic = htole64(DART_RPC_MAGIC),
		.abi_version = htole32(DART_RPC_ABI_VERSION),
		.interval_ms = htole32(interval_ms),
		.answer_max = htole32(answer_max),
		.receives = htole32(receives),
	};
}

struct dart_rpc_welcome dart_rpc_welcome__make(const struct dart_rpc_welcome_values *values)
{
	return (struct dart_rpc_welcome){
		.magic = htole64(DART_RPC_MAGIC),
		.abi_version = htole32(DART_RPC_ABI_VERSION),
		.length = htole32(values->length),
		.used = htole32(values->used),
		.time_ns = htole64(values->time_ns),
	};
}

size_t dart_rpc__put_hello(void *bytes, uint32_t answer_max, uint32_t receives,
			   uint32_t interval_ms)
{
	const struct dart_rpc_hello raw = dart_rpc_hello__make(answer_max, receives, interval_ms);

	return put(bytes, DART_RPC_HELLO, 0, 0, &raw, sizeof(raw), 0);
}

size_t dart_rpc__put_welcome(void *bytes, const struct dart_rpc_welcome_values *values)
{
	const struct dart_rpc_welcome raw = dart_rpc_welcome__make(values);

	return put(bytes, DART_RPC_WELCOME, 0, 0, &raw, sizeof(raw), 0);
}

static size_t put_table_request(void *bytes, enum dart_rpc_type type, uint32_t id, uint32_t length)
{
	const struct dart_rpc_get_table raw = { .length = htole32(length) };

	return put(bytes, type, 0, id, &raw, sizeof(raw), 0);
}

size_t dart_rpc__put_get_table(void *bytes, uint32_t id, uint32_t length)
{
	return put_table_request(bytes, DART_RPC_GET_TABLE, id, length);
}

size_t dart_rpc__put_follow_table(void *bytes, uint32_t id, uint32_t length)
{
	return put_table_request(bytes, DART_RPC_FOLLOW_TABLE, id, length);
}

size_t dart_rpc__put_changed(void *bytes, uint32_t id)
{
	return put(bytes, DART_RPC_CHANGED, 0, id, "", 0, 0);
}

size_t dart_rpc__put_get_values(void *bytes, uint32_t id, uint64_t instance, uint64_t generation,
				const struct dart_rpc_entries *runs, uint32_t count)
{
	const struct dart_rpc_get_values raw = {
		.instance = htole64(instance),
		.generation = htole64(generation),
		.runs = htole32(count),
	};
	uint8_t *to = (uint8_t *)bytes + HEAD + sizeof(raw);
	struct dart_rpc_run run;
	uint32_t i;

	for (i = 0; i < count; i++) {
		run = (struct dart_rpc_run){ htole32(runs[i].first), htole32(runs[i].count) };
		memcpy(to + i * sizeof(run), &run, sizeof(run));
	}
	return put(bytes, DART_RPC_GET_VALUES, 0, id, &raw, sizeof(raw), count * sizeof(run));
}

size_t dart_rpc__put_get_epochs(void *bytes, uint32_t id, const char *store, uint64_t since_ns,
				uint64_t until_ns)
{
	struct dart_rpc_get_epochs raw = {
		.since_ns = htole64(since_ns),
		.until_ns = htole64(until_ns),
	};

	snprintf(raw.store, sizeof(raw.store), "%s", store);
	return put(bytes, DART_RPC_GET_EPOCHS, 0, id, &raw, sizeof(raw), 0);
}

size_t dart_rpc__put_get_epoch(void *bytes, uint32_t id, const struct dart_rpc_epoch_bytes *wanted)
{
	struct dart_rpc_get_epoch raw = {
		.since_ns = htole64(wanted->since_ns),
		.offset = htole64(wanted->offset),
		.length = htole32(wanted->length),
		.place = htole32(wanted->place),
	};

	snprintf(raw.store, sizeof(raw.store), "%s", wanted->store);
	return put(bytes, DART_RPC_GET_EPOCH, 0, id, &raw, sizeof(raw), 0);
}

size_t dart_rpc__put_get_lookups(void *bytes, uint32_t id,
				 const struct dart_rpc_lookups_wanted *wanted)
{
	struct dart_rpc_get_lookups raw = {
		.first = htole64(wanted->first),
		.epoch = htole32(wanted->epoch),
	};

	snprintf(raw.table, sizeof(raw.table), "%s", wanted->table);
	return put(bytes, DART_RPC_GET_LOOKUPS, 0, id, &raw, sizeof(raw), 0);
}

size_t dart_rpc__put_change_lookups(void *bytes, uint32_t id,
				    const struct dart_rpc_lookup_changes *changes)
{
	struct dart_rpc_change_lookups raw = {
		.epoch = htole32(changes->epoch),
		.count = htole32(changes->count),
	};

	snprintf(raw.table, sizeof(raw.table), "%s", changes->table);
	memcpy((uint8_t *)bytes + HEAD + sizeof(raw), changes->records, changes->length);
	return put(bytes, DART_RPC_CHANGE_LOOKUPS, 0, id, &raw, sizeof(raw), changes->length);
}

size_t dart_rpc__put_part(void *bytes, uint32_t id, uint32_t offset,
			  uint32_t data_length, bool is_last)
{
	const struct dart_rpc_part raw = { .offset = htole32(offset) };

	return put(bytes, DART_RPC_PART, is_last ? DART_RPC_LAST : 0, id, &raw,
		   sizeof(raw), data_length);
}

size_t dart_rpc__put_error(void *bytes, uint32_t id,
			   enum dart_rpc_error_code code, const char *reason)
{
	struct dart_rpc_error raw = {
		.code = htole32(code),
		.abi_version = htole32(DART_RPC_ABI_VERSION),
	};

	snprintf(raw.reason, sizeof(raw.reason), "%s", reason);
	return put(bytes, DART_RPC_ERROR, 0, id, &raw, sizeof(raw), 0);
}
