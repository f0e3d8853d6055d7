// SPDX-License-Identifier: LGPL-2.1-or-later
/* Queries a store on another host by READs: see store_reader.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/store_access.h>
#include <libdart/random.h>
#include <libdart/rdma/blocking_reads_internal.h>
#include <libdart/store/store_slot_internal.h>

#include "store_reader.h"

/*
 * READs in flight at once: as many as the queue pair takes, and few enough for
 * a slow host to answer all of them in time.
 */
#define READS_MAX 1024

struct dart_store_reader {
	struct dart_endpoint *endpoint;
	struct dart_store_geometry geometry;
	struct dart_store_hash *hash;
	uint64_t base;			/* remote address of slot 0 */
	uint32_t rkey;
	size_t slot_length;
	struct dart_store_place places[READS_MAX];
	struct dart_read reads[READS_MAX];
};

/* The answer of the agent may be hostile. */
static int take_answer(struct dart_store_reader *reader, struct dart_error *error)
{
	struct dart_store_geometry *geometry = &reader->geometry;
	struct dart_store_accept accept;
	int ret;

	ret = dart_endpoint__answer(reader->endpoint, DART_STORE_ACCESS_MAGIC,
				    DART_STORE_ACCESS_ABI_VERSION, &accept, sizeof(accept), error);
	if (ret)
		return ret;
	if (le32toh(accept.slots_log2) <= DART_STORE_SLOTS_LOG2_MAX)
		geometry->slots = UINT64_C(1) << le32toh(accept.slots_log2);
	geometry->value_length = le32toh(accept.value_length);
	geometry->checksum_bits = le32toh(accept.checksum_bits);
	geometry->redundancy = le32toh(accept.redundancy);
	reader->base = le64toh(accept.base);
	reader->rkey = le32toh(accept.rkey);
	if (dart_store_geometry__check(geometry) ||
	    reader->base > UINT64_MAX - dart_store_geometry__length(geometry))
		return dart_error__set(error, EBADMSG, "the agent offers a store that cannot be");
	return 0;
}

int dart_store_reader__open(const char *host, uint16_t port, const char *name,
			    struct dart_store_reader **result, struct dart_error *error)
{
	struct dart_store_request request = {
		.magic = htole64(DART_STORE_ACCESS_MAGIC),
		.abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION),
	};
	struct dart_store_reader *reader;
	int ret;

	if (!*name || strlen(name) >= sizeof(request.name))
		return dart_error__set(error, EINVAL, "'%.60s' is not a name of a store", name);
	strcpy(request.name, name);

	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return dart_error__no_memory(error);
	ret = dart_blocking__connect(host, port, &request, sizeof(request),
				     DART_STORE_READER_TIMEOUT_MS,
				     &reader->endpoint, error) ?:
	      take_answer(reader, error);
	if (ret)
		goto err_close;

	reader->slot_length = dart_store_geometry__slot_length(&reader->geometry);
	ret = dart_store_hash__new(&reader->geometry, &reader->hash);
	if (ret) {
		dart_error__no_memory(error);
		goto err_close;
	}
	*result = reader;
	return 0;

err_close:
	dart_store_reader__close(reader);
	return ret;
}

void dart_store_reader__close(struct dart_store_reader *reader)
{
	if (!reader)
		return;
	dart_endpoint__free(reader->endpoint);
	dart_store_hash__free(reader->hash);
	free(reader);
}

const struct dart_store_geometry *
dart_store_reader__geometry(const struct dart_store_reader *reader)
{
	return &reader->geometry;
}

const struct dart_store_hash *dart_store_reader__hash(const struct dart_store_reader *reader)
{
	return reader->hash;
}

/* The READ number @index of a batch, of this slot. */
static void plan_read(struct dart_store_reader *reader, uint32_t index, uint64_t slot)
{
	reader->reads[index] = (struct dart_read) {
		.address = reader->base + slot * reader->slot_length,
		.rkey = reader->rkey,
		.length = reader->slot_length,
		.landing = index * reader->slot_length,
	};
}

/* Waits for the READs that were planned, and sets @landing to the slots. */
static int read_slots(struct dart_store_reader *reader, uint32_t reads,
		      void **landing, struct dart_error *error)
{
	return dart_blocking__read(reader->endpoint, reader->reads, reads,
				   reads * reader->slot_length, DART_STORE_READER_TIMEOUT_MS,
				   landing, error);
}

/* Plans the READs of @count keys; returns the number of READs. */
static uint32_t plan_reads(struct dart_store_reader *reader,
			   const uint8_t *keys, size_t length, size_t count)
{
	uint32_t reads = 0, copy;
	size_t i;

	for (i = 0; i < count; i++) {
		struct dart_store_place *place = &reader->places[i];

		dart_store_hash__place(reader->hash, keys + i * length, length, place);
		for (copy = 0; copy < reader->geometry.redundancy; copy++)
			plan_read(reader, reads++, place->slots[copy]);
	}
	return reads;
}

static void decide(const struct dart_store_reader *reader, const uint8_t *landing, size_t count,
		   const struct dart_store_rule *rule, struct dart_store_answer *answers)
{
	const uint8_t *slots[DART_STORE_REDUNDANCY_MAX];
	uint32_t copy;
	size_t i;

	for (i = 0; i < count; i++) {
		for (copy = 0; copy < reader->geometry.redundancy; copy++) {
			slots[copy] = landing;
			landing += reader->slot_length;
		}
		dart_store__decide(&reader->geometry, &reader->places[i], slots, rule, &answers[i]);
	}
}

int dart_store_reader__query_batch(struct dart_store_reader *reader, const void *keys,
				   size_t length, size_t count, const struct dart_store_rule *rule,
				   struct dart_store_answer *answers, struct dart_error *error)
{
	const size_t batch_max = READS_MAX / reader->geometry.redundancy;
	const uint8_t *key = keys;
	size_t batch, done;
	uint32_t reads;
	void *landing;
	int ret;

	for (done = 0; done < count; done += batch, key += batch * length) {
		batch = count - done < batch_max ? count - done : batch_max;
		reads = plan_reads(reader, key, length, batch);
		ret = read_slots(reader, reads, &landing, error);
		if (ret)
			return ret;
		decide(reader, landing, batch, rule, answers + done);
	}
	return 0;
}

int dart_store_reader__sample(struct dart_store_reader *reader, uint64_t samples, uint64_t seed,
			      uint64_t *written, struct dart_error *error)
{
	struct dart_random random = dart_random__of(seed);
	const uint8_t *slot;
	uint32_t reads, i;
	void *landing;
	int ret;

	*written = 0;
	for (; samples; samples -= reads) {
		reads = samples < READS_MAX ? samples : READS_MAX;
		for (i = 0; i < reads; i++)
			plan_read(reader, i, dart_random__below(&random, reader->geometry.slots));
		ret = read_slots(reader, reads, &landing, error);
		if (ret)
			return ret;
		for (i = 0, slot = landing; i < reads; i++, slot += reader->slot_length)
			*written += slot__checksum(slot, reader->geometry.checksum_bits) != 0;
	}
	return 0;
}
