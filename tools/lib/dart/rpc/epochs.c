// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks and writes lists of epochs of <dart/rpc.h>. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "epochs.h"

#define HEAD sizeof(struct dart_rpc_epochs)
#define EPOCH sizeof(struct dart_rpc_epoch)

#define refuse(error, ...) dart_error__set(error, EBADMSG, __VA_ARGS__)

static struct dart_rpc_epoch raw_epoch(const struct dart_rpc_epochs_values *values, uint32_t index)
{
	struct dart_rpc_epoch raw;

	memcpy(&raw, values->raw + index * EPOCH, EPOCH);
	return raw;
}

struct dart_rpc_epoch_values dart_rpc_epochs__get(const struct dart_rpc_epochs_values *values,
						  uint32_t index)
{
	const struct dart_rpc_epoch raw = raw_epoch(values, index);

	return (struct dart_rpc_epoch_values){
		.since_ns = le64toh(raw.since_ns),
		.until_ns = le64toh(raw.until_ns),
		.length = le64toh(raw.length),
		.place = le32toh(raw.place),
	};
}

/* Times have 63 bits, as those of JSON and of files; each epoch begins after the one before. */
static int check_epoch(const struct dart_rpc_epochs_values *values, uint32_t index, uint64_t last_ns,
		       struct dart_error *error)
{
	const struct dart_rpc_epoch_values epoch = dart_rpc_epochs__get(values, index);

	if (epoch.since_ns <= last_ns || epoch.since_ns > INT64_MAX ||
	    epoch.until_ns > INT64_MAX || (epoch.until_ns && epoch.until_ns <= epoch.since_ns))
		return refuse(error, "epoch %u of the agent's list is not after the one before",
			      index);
	if (epoch.place != DART_RPC_EPOCH_FILE && epoch.place != DART_RPC_EPOCH_MEMORY)
		return refuse(error, "epoch %u of the agent's list is in the unknown place %u",
			      index, epoch.place);
	if (raw_epoch(values, index).reserved)
		return refuse(error, "epoch %u of the agent's list breaks a rule", index);
	return 0;
}

int dart_rpc_epochs__decode(const void *bytes, size_t length, struct dart_rpc_epochs_values *values,
			    struct dart_error *error)
{
	struct dart_rpc_epochs raw;
	uint64_t last_ns = 0;
	uint32_t i;
	int ret;

	if (length < HEAD)
		return refuse(error, "the agent's list of epochs has %zu bytes", length);
	memcpy(&raw, bytes, HEAD);
	*values = (struct dart_rpc_epochs_values){
		.slots_log2 = le32toh(raw.slots_log2),
		.value_length = le32toh(raw.value_length),
		.checksum_bits = le32toh(raw.checksum_bits),
		.redundancy = le32toh(raw.redundancy),
		.count = le32toh(raw.count),
		.more_ns = le64toh(raw.more_ns),
		.raw = (const uint8_t *)bytes + HEAD,
	};
	if (raw.reserved || values->count > DART_RPC_EPOCHS_MAX ||
	    length != HEAD + values->count * EPOCH)
		return refuse(error, "the agent's list of %u epochs has %zu bytes", values->count,
			      length);
	for (i = 0; i < values->count; i++) {
		ret = check_epoch(values, i, last_ns, error);
		if (ret)
			return ret;
		last_ns = dart_rpc_epochs__get(values, i).since_ns;
	}
	/* A reader asks again from there: each answer has to bring it forward. */
	if (values->more_ns && (!values->count || values->more_ns <= last_ns ||
				values->more_ns > INT64_MAX))
		return refuse(error, "the agent's list of epochs does not go on after its end");
	return 0;
}

size_t dart_rpc_epochs__put(void *bytes, const struct dart_rpc_epochs_values *values)
{
	const struct dart_rpc_epochs raw = {
		.slots_log2 = htole32(values->slots_log2),
		.value_length = htole32(values->value_length),
		.checksum_bits = htole32(values->checksum_bits),
		.redundancy = htole32(values->redundancy),
		.count = htole32(values->count),
		.more_ns = htole64(values->more_ns),
	};

	memcpy(bytes, &raw, HEAD);
	return HEAD + values->count * EPOCH;
}

size_t dart_rpc_epochs__put_epoch(void *bytes, uint32_t index,
				  const struct dart_rpc_epoch_values *epoch)
{
	const struct dart_rpc_epoch raw = {
		.since_ns = htole64(epoch->since_ns),
		.until_ns = htole64(epoch->until_ns),
		.length = htole64(epoch->length),
		.place = htole32(epoch->place),
	};

	memcpy((uint8_t *)bytes + HEAD + index * EPOCH, &raw, EPOCH);
	return HEAD + (index + 1) * EPOCH;
}
