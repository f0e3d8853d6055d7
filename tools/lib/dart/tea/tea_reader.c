// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looks keys up in a table on another host by READs: see tea_reader.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/tea_access.h>
#include <libdart/rdma/blocking_reads_internal.h>
#include <libdart/tea/tea_hash_internal.h>

#include "tea_reader.h"

/* READs in flight at once: few enough for a slow host to answer all of them in time. */
#define READS_MAX 512

/* A key whose answer is not known yet, and the next READ for it. */
struct search {
	struct dart_tea_place place;
	size_t key;		/* its number among the caller's keys */
	uint32_t tries;		/* READs of the row so far */
	uint32_t sequence;	/* of the row when the stash was READ */
	enum { ROW, STASH, ROW_AGAIN } next;
};

struct dart_tea_reader {
	struct dart_endpoint *endpoint;
	struct dart_tea_geometry geometry;
	struct dart_tea_hash *hash;
	uint64_t base;			/* remote address of row 0 */
	uint32_t rkey;
	uint32_t epoch;
	size_t landing_length;		/* of one READ */
	struct search searches[READS_MAX];
	struct dart_read reads[READS_MAX];
};

/* The keys of a caller. */
struct batch {
	const uint8_t *keys;
	struct dart_tea_answer *answers;
};

/* The answer of the agent may be hostile. */
static int take_answer(struct dart_tea_reader *reader, struct dart_error *error)
{
	struct dart_tea_geometry *geometry = &reader->geometry;
	struct dart_tea_accept accept;
	int ret;

	ret = dart_endpoint__answer(reader->endpoint, DART_TEA_ACCESS_MAGIC,
				    DART_TEA_ACCESS_ABI_VERSION, &accept, sizeof(accept), error);
	if (ret)
		return ret;
	geometry->rows_log2 = le32toh(accept.rows_log2);
	geometry->cells = le32toh(accept.cells);
	geometry->key_length = le32toh(accept.key_length);
	geometry->value_length = le32toh(accept.value_length);
	geometry->packet_length = le32toh(accept.packet_length);
	reader->base = le64toh(accept.base);
	reader->rkey = le32toh(accept.rkey);
	reader->epoch = le32toh(accept.epoch);
	if (dart_tea_geometry__check(geometry) || !reader->epoch ||
	    reader->epoch > DART_TEA_EPOCH_MAX ||
	    reader->base > UINT64_MAX - dart_tea_geometry__length(geometry))
		return dart_error__set(error, EBADMSG, "the agent offers a table that cannot be");
	return 0;
}

int dart_tea_reader__open(const char *host, uint16_t port, const char *name,
			  struct dart_tea_reader **result, struct dart_error *error)
{
	struct dart_tea_request request = {
		.magic = htole64(DART_TEA_ACCESS_MAGIC),
		.abi_version = htole32(DART_TEA_ACCESS_ABI_VERSION),
	};
	struct dart_tea_reader *reader;
	size_t row, window;
	int ret;

	if (!*name || strlen(name) >= sizeof(request.name))
		return dart_error__set(error, EINVAL, "'%.60s' is not a name of a table", name);
	strcpy(request.name, name);

	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return dart_error__no_memory(error);
	ret = dart_blocking__connect(host, port, &request, sizeof(request),
				     DART_TEA_READER_TIMEOUT_MS,
				     &reader->endpoint, error) ?:
	      take_answer(reader, error);
	if (ret)
		goto err_close;

	row = dart_tea_geometry__row_length(&reader->geometry);
	window = DART_TEA_STASH_WINDOW * dart_tea_geometry__cell_length(&reader->geometry);
	reader->landing_length = row > window ? row : window;
	ret = dart_tea_hash__new(&reader->geometry, &reader->hash);
	if (ret) {
		dart_error__no_memory(error);
		goto err_close;
	}
	*result = reader;
	return 0;

err_close:
	dart_tea_reader__close(reader);
	return ret;
}

void dart_tea_reader__close(struct dart_tea_reader *reader)
{
	if (!reader)
		return;
	dart_endpoint__free(reader->endpoint);
	dart_tea_hash__free(reader->hash);
	free(reader);
}

const struct dart_tea_geometry *dart_tea_reader__geometry(const struct dart_tea_reader *reader)
{
	return &reader->geometry;
}

const struct dart_tea_hash *dart_tea_reader__hash(const struct dart_tea_reader *reader)
{
	return reader->hash;
}

static void plan_read(struct dart_tea_reader *reader, uint32_t index)
{
	const struct search *search = &reader->searches[index];
	const struct tea_layout *layout = &reader->hash->layout;
	struct dart_read *read = &reader->reads[index];

	*read = (struct dart_read){
		.address = reader->base + (uint64_t)search->place.home * layout->stride,
		.rkey = reader->rkey,
		.length = layout->row,
		.landing = index * reader->landing_length,
	};
	if (search->next != STASH)
		return;
	read->address = reader->base + layout->stash + (uint64_t)search->place.stash * layout->cell;
	read->length = DART_TEA_STASH_WINDOW * layout->cell;
}

static uint32_t sequence_of(const void *row)
{
	uint32_t word;

	memcpy(&word, row, sizeof(word));
	return be32toh(word);
}

/*
 * The key of a row with stashed entries is absent if it is not in the stash, and the row has
 * not changed since: each change of the stash is one of the row that is its home.
 */
static int take_row(const struct dart_tea_reader *reader, struct search *search, const void *row,
		    const struct batch *batch)
{
	struct dart_tea_answer *answer = &batch->answers[search->key];
	const bool is_again = search->next == ROW_AGAIN;

	search->tries++;
	switch (dart_tea_lookup__row(reader->hash, reader->epoch, row,
				     batch->keys + search->key * reader->geometry.key_length,
				     answer->value)) {
	case DART_TEA_FOUND:
		return 0;
	case DART_TEA_ABSENT:
		return -ENOENT;
	case DART_TEA_IN_STASH:
		if (is_again && search->sequence == sequence_of(row))
			return -ENOENT;
		search->sequence = sequence_of(row);
		search->next = STASH;
		break;
	case DART_TEA_CHANGING:
		search->next = ROW;
		break;
	}
	return search->tries < DART_TEA_LOOKUP_TRIES ? 1 : -EAGAIN;
}

static int take_stash(const struct dart_tea_reader *reader, struct search *search,
		      const void *window, const struct batch *batch)
{
	struct dart_tea_answer *answer = &batch->answers[search->key];

	search->next = ROW_AGAIN;
	return dart_tea_lookup__stash(reader->hash, window, DART_TEA_STASH_WINDOW,
				      batch->keys + search->key * reader->geometry.key_length,
				      answer->value) == DART_TEA_FOUND ?
		       0 :
		       1;
}

/* Answers as many searches as it can, and returns how many go on: the first ones. */
static uint32_t take_all(struct dart_tea_reader *reader, uint32_t count,
			 const uint8_t *landing, const struct batch *batch)
{
	uint32_t i, left = 0;
	int ret;

	for (i = 0; i < count; i++, landing += reader->landing_length) {
		struct search *search = &reader->searches[i];

		ret = search->next == STASH ? take_stash(reader, search, landing, batch) :
					      take_row(reader, search, landing, batch);
		if (ret > 0)
			reader->searches[left++] = *search;
		else
			batch->answers[search->key].ret = ret;
	}
	return left;
}

/* Begins as many searches as there is room for; *@begun: keys so far. */
static uint32_t begin(struct dart_tea_reader *reader, uint32_t searches,
		      const struct batch *batch, size_t count, size_t *begun)
{
	for (; searches < READS_MAX && *begun < count; searches++, (*begun)++) {
		struct search *search = &reader->searches[searches];

		*search = (struct search){ .key = *begun };
		dart_tea_hash__place(reader->hash,
				     batch->keys + *begun * reader->geometry.key_length,
				     &search->place);
	}
	return searches;
}

int dart_tea__lookup_batch(struct dart_tea_reader *reader, const void *keys, size_t count,
			   struct dart_tea_answer *answers, struct dart_error *error)
{
	const struct batch batch = { keys, answers };
	uint32_t searches = 0, i;
	size_t begun = 0;
	void *landing;
	int ret;

	for (;;) {
		searches = begin(reader, searches, &batch, count, &begun);
		if (!searches)
			return 0;
		for (i = 0; i < searches; i++)
			plan_read(reader, i);
		ret = dart_blocking__read(reader->endpoint, reader->reads, searches,
					  searches * reader->landing_length,
					  DART_TEA_READER_TIMEOUT_MS, &landing, error);
		if (ret)
			return ret;
		searches = take_all(reader, searches, landing, &batch);
	}
}

int dart_tea__lookup(struct dart_tea_reader *reader, const void *key,
		     void *value, struct dart_error *error)
{
	struct dart_tea_answer answer;
	int ret;

	ret = dart_tea__lookup_batch(reader, key, 1, &answer, error);
	if (ret)
		return ret;
	if (!answer.ret)
		memcpy(value, answer.value, reader->geometry.value_length);
	return answer.ret;
}
