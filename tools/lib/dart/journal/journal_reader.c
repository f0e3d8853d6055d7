// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fetches batches of a journal from memory or by READs: see journal_reader.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/journal_access.h>
#include <libdart/rdma/blocking_reads_internal.h>

#include "journal_reader.h"

/* Bytes of a scan that are fetched together, a multiple of every batch. */
#define SCAN_BYTES (256 * 1024)

struct dart_journal_reader {
	struct dart_journal_geometry geometry;
	struct dart_endpoint *endpoint; /* NULL: the memory is here */
	const uint8_t *memory;
	uint64_t base; /* remote address of the journal */
	uint32_t rkey;
	uint32_t list;
	struct dart_journal_cursor cursors[DART_JOURNAL_PARTS_MAX];
	uint8_t copies[SCAN_BYTES]; /* of the memory here */
};

_Static_assert(DART_JOURNAL_PLACES_MAX *DART_JOURNAL_BATCH_MAX <= SCAN_BYTES, "copies fit");

/* ---- opening */

int dart_journal_reader__map(const struct dart_journal_geometry *geometry, const void *memory,
			     struct dart_journal_reader **result)
{
	struct dart_journal_reader *reader;

	if (dart_journal_geometry__check(geometry))
		return -EINVAL;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->geometry = *geometry;
	reader->memory = memory;
	*result = reader;
	return 0;
}

/* The answer of the agent may be hostile. */
static int take_answer(struct dart_journal_reader *reader, struct dart_error *error)
{
	struct dart_journal_accept accept;
	int ret;

	ret = dart_endpoint__answer(reader->endpoint, DART_JOURNAL_ACCESS_MAGIC,
				    DART_JOURNAL_ACCESS_ABI_VERSION, &accept, sizeof(accept),
				    error);
	if (ret)
		return ret;
	reader->geometry = (struct dart_journal_geometry){
		.parts = le32toh(accept.parts),
		.lists_log2 = le32toh(accept.lists_log2),
		.batches_log2 = le32toh(accept.batches_log2),
		.batch_log2 = le32toh(accept.batch_log2),
		.entry_length = le32toh(accept.entry_length),
	};
	reader->base = le64toh(accept.base);
	reader->rkey = le32toh(accept.rkey);
	if (dart_journal_geometry__check(&reader->geometry) ||
	    reader->base > UINT64_MAX - dart_journal_geometry__length(&reader->geometry))
		return dart_error__set(error, EBADMSG, "the agent offers a journal that cannot be");
	return 0;
}

int dart_journal_reader__open(const char *host, uint16_t port, const char *name,
			      struct dart_journal_reader **result, struct dart_error *error)
{
	struct dart_journal_request request = {
		.magic = htole64(DART_JOURNAL_ACCESS_MAGIC),
		.abi_version = htole32(DART_JOURNAL_ACCESS_ABI_VERSION),
	};
	struct dart_journal_reader *reader;
	int ret;

	if (!*name || strlen(name) >= sizeof(request.name))
		return dart_error__set(error, EINVAL, "'%.60s' is not a name of a journal", name);
	strcpy(request.name, name);
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return dart_error__no_memory(error);
	ret = dart_blocking__connect(host, port, &request, sizeof(request), DART_JOURNAL_READER_TIMEOUT_MS, &reader->endpoint, error) ?:
		      take_answer(reader, error);
	if (ret)
		dart_journal_reader__close(reader);
	else
		*result = reader;
	return ret;
}

void dart_journal_reader__close(struct dart_journal_reader *reader)
{
	if (!reader)
		return;
	dart_endpoint__free(reader->endpoint);
	free(reader);
}

const struct dart_journal_geometry *
dart_journal_reader__geometry(const struct dart_journal_reader *reader)
{
	return &reader->geometry;
}

/* ---- fetching */

/* Where the ring of @appender begins in the journal. */
static uint64_t ring_of(const struct dart_journal_reader *reader, uint32_t appender)
{
	return appender * dart_journal_geometry__part(&reader->geometry) +
	       dart_journal_geometry__offset(&reader->geometry, reader->list, 0);
}

/* A run of batches side by side. */
struct run {
	uint32_t place, count;
};

static int fetch_here(struct dart_journal_reader *reader, uint64_t ring, const struct run *runs,
		      uint32_t count, const uint8_t **copies)
{
	const uint32_t batch_log2 = reader->geometry.batch_log2;
	size_t used = 0, length;
	uint32_t i;

	for (i = 0; i < count; i++, used += length) {
		length = (size_t)runs[i].count << batch_log2;
		memcpy(reader->copies + used,
		       reader->memory + ring + ((size_t)runs[i].place << batch_log2), length);
	}
	*copies = reader->copies;
	return 0;
}

static int fetch_there(struct dart_journal_reader *reader, uint64_t ring, const struct run *runs,
		       uint32_t count, const uint8_t **copies, struct dart_error *error)
{
	const uint32_t batch_log2 = reader->geometry.batch_log2;
	struct dart_read reads[DART_JOURNAL_PLACES_MAX];
	size_t used = 0, length;
	void *landing;
	uint32_t i;
	int ret;

	for (i = 0; i < count; i++, used += length) {
		length = (size_t)runs[i].count << batch_log2;
		reads[i] = (struct dart_read){
			.address = reader->base + ring + ((uint64_t)runs[i].place << batch_log2),
			.rkey = reader->rkey,
			.length = length,
			.landing = used,
		};
	}
	ret = dart_blocking__read(reader->endpoint, reads, count, used,
				  DART_JOURNAL_READER_TIMEOUT_MS, &landing, error);
	*copies = landing;
	return ret;
}

static int fetch(struct dart_journal_reader *reader, uint64_t ring, const struct run *runs,
		 uint32_t count, const uint8_t **copies, struct dart_error *error)
{
	return reader->endpoint ? fetch_there(reader, ring, runs, count, copies, error) :
				  fetch_here(reader, ring, runs, count, copies);
}

/* ---- following */

static int scan(struct dart_journal_reader *reader, uint32_t appender, struct dart_error *error)
{
	const struct dart_journal_geometry *geometry = &reader->geometry;
	const uint32_t ring = 1u << geometry->batches_log2;
	const uint32_t most = SCAN_BYTES >> geometry->batch_log2;
	struct run run = {};
	const uint8_t *copies;
	int ret = 0;

	for (; !ret && run.place < ring; run.place += run.count) {
		run.count = ring - run.place < most ? ring - run.place : most;
		ret = fetch(reader, ring_of(reader, appender), &run, 1, &copies, error);
		if (!ret)
			dart_journal_cursor__scan(&reader->cursors[appender], geometry, run.place,
						  run.count, copies);
	}
	return ret;
}

int dart_journal_reader__begin(struct dart_journal_reader *reader, uint32_t list, bool is_new_only,
			       struct dart_error *error)
{
	uint32_t i;
	int ret;

	reader->list = list;
	for (i = 0; i < reader->geometry.parts; i++) {
		struct dart_journal_cursor *cursor = &reader->cursors[i];

		dart_journal_cursor__init(cursor);
		ret = scan(reader, i, error);
		if (ret)
			return ret;
		if (is_new_only)
			dart_journal_cursor__skip(cursor, &reader->geometry);
		else
			dart_journal_cursor__rewind(cursor);
	}
	return 0;
}

/* Adds the appender to events. */
struct relay {
	dart_journal_handler handler;
	void *context;
	uint32_t appender;
};

static void pass_on(void *context, const struct dart_journal_event *event)
{
	const struct relay *relay = context;
	struct dart_journal_event whole = *event;

	whole.appender = relay->appender;
	relay->handler(relay->context, &whole);
}

static int poll_one(struct dart_journal_reader *reader, struct relay *relay,
		    struct dart_error *error)
{
	struct dart_journal_cursor *cursor = &reader->cursors[relay->appender];
	uint32_t places[DART_JOURNAL_PLACES_MAX];
	struct run runs[DART_JOURNAL_PLACES_MAX];
	uint32_t count = dart_journal_cursor__plan(cursor, &reader->geometry, places);
	uint32_t run_count = 0, i;
	const uint8_t *copies;
	int ret;

	for (i = 0; i < count; i++) {
		if (i && places[i] == places[i - 1] + 1)
			runs[run_count - 1].count++;
		else
			runs[run_count++] = (struct run){ places[i], 1 };
	}
	ret = fetch(reader, ring_of(reader, relay->appender), runs, run_count, &copies, error);
	if (ret)
		return ret;
	return dart_journal_cursor__take(cursor, &reader->geometry, places, count, copies, pass_on,
					 relay);
}

int dart_journal_reader__poll(struct dart_journal_reader *reader, dart_journal_handler handler,
			      void *context, struct dart_error *error)
{
	struct relay relay = { handler, context, 0 };
	int ret, more = 0;

	for (; relay.appender < reader->geometry.parts; relay.appender++) {
		ret = poll_one(reader, &relay, error);
		if (ret < 0)
			return ret;
		more |= ret;
	}
	return more;
}

/* Nothing more comes with the start of the cursor, and the newest batch has another one. */
static int find_next_start(struct dart_journal_reader *reader, uint32_t appender,
			   struct dart_error *error)
{
	struct dart_journal_cursor *cursor = &reader->cursors[appender];
	const struct dart_journal_position last = cursor->last;
	int ret;

	cursor->oldest = (struct dart_journal_position){};
	ret = scan(reader, appender, error);
	cursor->last = last;
	if (!ret)
		dart_journal_cursor__go_on(cursor);
	return ret;
}

int dart_journal_reader__drain(struct dart_journal_reader *reader, dart_journal_handler handler,
			       void *context, struct dart_error *error)
{
	struct relay relay = { handler, context, 0 };
	int ret;

	for (; relay.appender < reader->geometry.parts; relay.appender++) {
		struct dart_journal_cursor *cursor = &reader->cursors[relay.appender];

		while (!dart_journal_cursor__has_passed(cursor)) {
			ret = poll_one(reader, &relay, error);
			if (ret < 0)
				return ret;
			if (ret)
				continue;
			/* The newest batch may have been overwritten by something else. */
			ret = find_next_start(reader, relay.appender, error);
			if (ret)
				return ret;
			if (!cursor->newer_start)
				break;
		}
	}
	return 0;
}
