// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks and writes entries of lookup tables in answers of <dart/rpc.h>. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "lookups.h"

#define HEAD sizeof(struct dart_rpc_lookups)

#define refuse(error, ...) dart_error__set(error, EBADMSG, __VA_ARGS__)

static uint64_t length_of(const struct dart_rpc_lookups_values *values)
{
	return HEAD +
	       (uint64_t)values->count * ((uint64_t)values->key_length + values->value_length);
}

int dart_rpc_lookups__decode(const void *bytes, size_t length, uint64_t first,
			     struct dart_rpc_lookups_values *values, struct dart_error *error)
{
	struct dart_rpc_lookups raw;

	if (length < HEAD || length > DART_RPC_LOOKUPS_LENGTH_MAX)
		return refuse(error, "the agent's list of entries has %zu bytes", length);
	memcpy(&raw, bytes, HEAD);
	*values = (struct dart_rpc_lookups_values){
		.rows_log2 = le32toh(raw.rows_log2),
		.cells = le32toh(raw.cells),
		.key_length = le32toh(raw.key_length),
		.value_length = le32toh(raw.value_length),
		.packet_length = le32toh(raw.packet_length),
		.epoch = le32toh(raw.epoch),
		.count = le32toh(raw.count),
		.next = le64toh(raw.next),
		.entries = (const uint8_t *)bytes + HEAD,
	};
	if (raw.reserved || !values->epoch || !values->key_length || !values->value_length ||
	    values->key_length > DART_RPC_LOOKUPS_LENGTH_MAX ||
	    values->value_length > DART_RPC_LOOKUPS_LENGTH_MAX || length != length_of(values))
		return refuse(error, "the agent's list of %u entries has %zu bytes", values->count,
			      length);
	/* A caller asks again from there: each answer has to bring it forward. */
	if (values->next && values->next <= first)
		return refuse(error, "the agent's list of entries does not go on after its end");
	return 0;
}

size_t dart_rpc_lookups__put(void *bytes, const struct dart_rpc_lookups_values *values)
{
	const struct dart_rpc_lookups raw = {
		.rows_log2 = htole32(values->rows_log2),
		.cells = htole32(values->cells),
		.key_length = htole32(values->key_length),
		.value_length = htole32(values->value_length),
		.packet_length = htole32(values->packet_length),
		.epoch = htole32(values->epoch),
		.count = htole32(values->count),
		.next = htole64(values->next),
	};

	memcpy(bytes, &raw, HEAD);
	return length_of(values);
}
