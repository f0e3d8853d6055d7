// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fetches words of a ledger from memory or by READs: see ledger_reader.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/ledger_access.h>
#include <libdart/rdma/blocking_reads_internal.h>

#include "ledger_reader.h"

/* Keys whose words are READ together, and the READs: one for each row, and one for the total. */
#define KEYS_MAX 64
#define READS_MAX (KEYS_MAX * DART_LEDGER_ROWS_MAX + 1)

struct dart_ledger_reader {
	struct dart_ledger_geometry geometry;
	struct dart_store_hash *hash;
	struct dart_endpoint *endpoint; /* NULL: the memory is here */
	const uint8_t *memory;
	uint64_t base; /* remote address of the ledger */
	uint32_t rkey;
	uint32_t offset_count;
	uint64_t offsets[READS_MAX]; /* of the words of the next READs */
};

/* ---- opening */

int dart_ledger_reader__map(const struct dart_ledger_geometry *geometry, const void *memory,
			    struct dart_ledger_reader **result)
{
	struct dart_ledger_reader *reader = calloc(1, sizeof(*reader));
	int ret;

	if (!reader)
		return -ENOMEM;
	ret = dart_ledger_geometry__hash(geometry, &reader->hash);
	if (ret) {
		free(reader);
		return ret;
	}
	reader->geometry = *geometry;
	reader->memory = memory;
	*result = reader;
	return 0;
}

/* The answer of the agent may be hostile. */
static int take_answer(struct dart_ledger_reader *reader, struct dart_error *error)
{
	struct dart_ledger_accept accept;
	int ret;

	ret = dart_endpoint__answer(reader->endpoint, DART_LEDGER_ACCESS_MAGIC,
				    DART_LEDGER_ACCESS_ABI_VERSION, &accept, sizeof(accept), error);
	if (ret)
		return ret;
	reader->geometry = (struct dart_ledger_geometry){
		.rows = le32toh(accept.rows),
		.words_log2 = le32toh(accept.words_log2),
	};
	reader->base = le64toh(accept.base);
	reader->rkey = le32toh(accept.rkey);
	if (dart_ledger_geometry__check(&reader->geometry) ||
	    reader->base > UINT64_MAX - dart_ledger_geometry__length(&reader->geometry))
		return dart_error__set(error, EBADMSG, "the agent offers a ledger that cannot be");
	ret = dart_ledger_geometry__hash(&reader->geometry, &reader->hash);
	return ret ? dart_error__no_memory(error) : 0;
}

int dart_ledger_reader__open(const char *host, uint16_t port, const char *name,
			     struct dart_ledger_reader **result, struct dart_error *error)
{
	struct dart_ledger_request request = {
		.magic = htole64(DART_LEDGER_ACCESS_MAGIC),
		.abi_version = htole32(DART_LEDGER_ACCESS_ABI_VERSION),
	};
	struct dart_ledger_reader *reader;
	int ret;

	if (!*name || strlen(name) >= sizeof(request.name))
		return dart_error__set(error, EINVAL, "'%.60s' is not a name of a ledger", name);
	strcpy(request.name, name);
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return dart_error__no_memory(error);
	ret = dart_blocking__connect(host, port, &request, sizeof(request),
				     DART_LEDGER_READER_TIMEOUT_MS, &reader->endpoint, error);
	ret = ret ?: take_answer(reader, error);
	if (ret)
		dart_ledger_reader__close(reader);
	else
		*result = reader;
	return ret;
}

void dart_ledger_reader__close(struct dart_ledger_reader *reader)
{
	if (!reader)
		return;
	dart_endpoint__free(reader->endpoint);
	dart_store_hash__free(reader->hash);
	free(reader);
}

const struct dart_ledger_geometry *
dart_ledger_reader__geometry(const struct dart_ledger_reader *reader)
{
	return &reader->geometry;
}

/* ---- asking */

/* Lists the words of @count keys, then the total. */
static void list_words(struct dart_ledger_reader *reader, const uint8_t *keys, size_t length,
		       size_t count)
{
	const struct dart_ledger_geometry *geometry = &reader->geometry;
	struct dart_store_place place;
	uint32_t row;
	size_t i;

	reader->offset_count = 0;
	for (i = 0; i < count; i++) {
		dart_store_hash__place(reader->hash, keys + i * length, length, &place);
		for (row = 0; row < geometry->rows; row++)
			reader->offsets[reader->offset_count++] =
				dart_ledger_geometry__offset(geometry, row, place.slots[row]);
	}
	reader->offsets[reader->offset_count++] =
		dart_ledger_geometry__offset(geometry, geometry->rows, 0);
}

static void fetch_here(const struct dart_ledger_reader *reader, uint64_t *words)
{
	uint32_t i;

	/* The mapping begins at a page, so words do not tear. */
	for (i = 0; i < reader->offset_count; i++)
		words[i] = le64toh(__atomic_load_n(
			(const uint64_t *)(reader->memory + reader->offsets[i]), __ATOMIC_RELAXED));
}

static int fetch_there(struct dart_ledger_reader *reader, uint64_t *words, struct dart_error *error)
{
	const uint32_t count = reader->offset_count;
	struct dart_read reads[READS_MAX];
	void *landing;
	uint32_t i;
	int ret;

	for (i = 0; i < count; i++)
		reads[i] = (struct dart_read){
			.address = reader->base + reader->offsets[i],
			.rkey = reader->rkey,
			.length = sizeof(*words),
			.landing = i * sizeof(*words),
		};
	ret = dart_blocking__read(reader->endpoint, reads, count, count * sizeof(*words),
				  DART_LEDGER_READER_TIMEOUT_MS, &landing, error);
	if (ret)
		return ret;
	memcpy(words, landing, count * sizeof(*words));
	for (i = 0; i < count; i++)
		words[i] = le64toh(words[i]);
	return 0;
}

static void decide(const struct dart_ledger_reader *reader, const uint64_t *words, size_t count,
		   struct dart_ledger_sum *sums)
{
	const uint32_t rows = reader->geometry.rows;
	size_t i;

	for (i = 0; i < count; i++) {
		sums[i] = (struct dart_ledger_sum){ .total = words[count * rows] };
		memcpy(sums[i].words, words + i * rows, rows * sizeof(*words));
		dart_ledger_sum__decide(&sums[i], &reader->geometry);
	}
}

int dart_ledger_reader__ask(struct dart_ledger_reader *reader, const void *keys, size_t length,
			    size_t count, struct dart_ledger_sum *sums, struct dart_error *error)
{
	uint64_t words[READS_MAX];
	size_t done, part;
	int ret;

	for (done = 0; done < count; done += part) {
		part = count - done < KEYS_MAX ? count - done : KEYS_MAX;
		list_words(reader, (const uint8_t *)keys + done * length, length, part);
		if (reader->endpoint) {
			ret = fetch_there(reader, words, error);
			if (ret)
				return ret;
		} else {
			fetch_here(reader, words);
		}
		decide(reader, words, part, sums + done);
	}
	return 0;
}
