// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fetches strips of a sketch from memory or by READs: see sketch_reader.h. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dart/sketch_access.h>
#include <libdart/rdma/blocking_reads_internal.h>

#include "sketch_reader.h"

/* Strips of a part that are looked at to find the period, of each bank. */
#define SAMPLES 64
#define SAMPLES_MAX (SAMPLES * DART_SKETCH_BANKS)

/* Bytes that are fetched together. */
#define FETCH_BYTES (256 * 1024)

struct dart_sketch_reader {
	struct dart_sketch_geometry geometry;
	struct dart_endpoint *endpoint; /* NULL: the memory is here */
	const uint8_t *memory;
	uint64_t base; /* remote address of the sketch */
	uint32_t rkey;
	uint8_t copies[FETCH_BYTES]; /* of the memory here */
};

_Static_assert(SAMPLES_MAX *DART_SKETCH_STRIP_MAX <= FETCH_BYTES, "copies fit");

/* ---- opening */

int dart_sketch_reader__map(const struct dart_sketch_geometry *geometry, const void *memory,
			    struct dart_sketch_reader **result)
{
	struct dart_sketch_reader *reader;

	if (dart_sketch_geometry__check(geometry))
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
static int take_answer(struct dart_sketch_reader *reader, struct dart_error *error)
{
	struct dart_sketch_accept accept;
	int ret;

	ret = dart_endpoint__answer(reader->endpoint, DART_SKETCH_ACCESS_MAGIC,
				    DART_SKETCH_ACCESS_ABI_VERSION, &accept, sizeof(accept), error);
	if (ret)
		return ret;
	reader->geometry = (struct dart_sketch_geometry){
		.parts = le32toh(accept.parts),
		.kind = le32toh(accept.kind),
		.rows = le32toh(accept.rows),
		.columns_log2 = le32toh(accept.columns_log2),
		.period = le32toh(accept.period),
	};
	reader->base = le64toh(accept.base);
	reader->rkey = le32toh(accept.rkey);
	if (dart_sketch_geometry__check(&reader->geometry) ||
	    reader->base > UINT64_MAX - dart_sketch_geometry__length(&reader->geometry))
		return dart_error__set(error, EBADMSG, "the agent offers a sketch that cannot be");
	return 0;
}

int dart_sketch_reader__open(const char *host, uint16_t port, const char *name,
			     struct dart_sketch_reader **result, struct dart_error *error)
{
	struct dart_sketch_request request = {
		.magic = htole64(DART_SKETCH_ACCESS_MAGIC),
		.abi_version = htole32(DART_SKETCH_ACCESS_ABI_VERSION),
	};
	struct dart_sketch_reader *reader;
	int ret;

	if (!*name || strlen(name) >= sizeof(request.name))
		return dart_error__set(error, EINVAL, "'%.60s' is not a name of a sketch", name);
	strcpy(request.name, name);
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return dart_error__no_memory(error);
	ret = dart_blocking__connect(host, port, &request, sizeof(request),
				     DART_SKETCH_READER_TIMEOUT_MS, &reader->endpoint, error);
	ret = ret ?: take_answer(reader, error);
	if (ret)
		dart_sketch_reader__close(reader);
	else
		*result = reader;
	return ret;
}

void dart_sketch_reader__close(struct dart_sketch_reader *reader)
{
	if (!reader)
		return;
	dart_endpoint__free(reader->endpoint);
	free(reader);
}

const struct dart_sketch_geometry *
dart_sketch_reader__geometry(const struct dart_sketch_reader *reader)
{
	return &reader->geometry;
}

/* ---- fetching */

/* Strips side by side. */
struct run {
	uint64_t offset; /* in the sketch */
	uint32_t count;
};

/* Copies @count runs, at most SAMPLES_MAX, to memory that nobody else changes. */
static int fetch(struct dart_sketch_reader *reader, const struct run *runs, uint32_t count,
		 const uint8_t **copies, struct dart_error *error)
{
	const uint32_t strip = dart_sketch_geometry__strip_length(&reader->geometry);
	struct dart_read reads[SAMPLES_MAX];
	size_t used = 0, length;
	void *landing;
	uint32_t i;
	int ret;

	for (i = 0; i < count; i++, used += length) {
		length = (size_t)runs[i].count * strip;
		if (!reader->endpoint)
			memcpy(reader->copies + used, reader->memory + runs[i].offset, length);
		reads[i] = (struct dart_read){
			.address = reader->base + runs[i].offset,
			.rkey = reader->rkey,
			.length = length,
			.landing = used,
		};
	}
	*copies = reader->copies;
	if (!reader->endpoint)
		return 0;
	ret = dart_blocking__read(reader->endpoint, reads, count, used,
				  DART_SKETCH_READER_TIMEOUT_MS, &landing, error);
	*copies = landing;
	return ret;
}

/* Where strip @number of bank @bank of @part begins in the sketch. */
static uint64_t place_of(const struct dart_sketch_reader *reader, uint32_t part, uint32_t bank,
			 uint32_t number)
{
	return part * dart_sketch_geometry__part(&reader->geometry) +
	       dart_sketch_geometry__offset(&reader->geometry, bank, number);
}

/* ---- the period */

/* Periods of strips that were looked at. */
struct census {
	uint32_t count;
	uint32_t periods[DART_SKETCH_PARTS_MAX * SAMPLES_MAX];
	/* That nearly all of a bank has; 0: none. */
	uint32_t whole[DART_SKETCH_PARTS_MAX][DART_SKETCH_BANKS];
	bool has_bytes[DART_SKETCH_PARTS_MAX][DART_SKETCH_BANKS];
};

static int compare(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Sorts periods.  Returns the most frequent one up to @last, the newest of these; 0: there is none. */
static uint32_t most_frequent(uint32_t *periods, uint32_t count, uint32_t last, uint32_t *times)
{
	uint32_t i, run = 0, found = 0;

	*times = 0;
	qsort(periods, count, sizeof(*periods), compare);
	for (i = 0; i < count && periods[i] <= last; i++) {
		run = i && periods[i] == periods[i - 1] ? run + 1 : 1;
		if (run >= *times) {
			*times = run;
			found = periods[i];
		}
	}
	return found;
}

/* 7/8 of @all */
static bool is_nearly(uint32_t count, uint32_t all)
{
	return 8 * count >= 7 * all;
}

/* The last of as many equal groups of strips, so that the last strip is in it. */
static uint32_t sample_of(const struct dart_sketch_geometry *geometry, uint32_t i)
{
	const uint32_t strips = dart_sketch_geometry__strips(geometry);

	return strips <= SAMPLES ? i : (i + 1) * (strips / SAMPLES) - 1;
}

static int look_at_part(struct dart_sketch_reader *reader, uint32_t part, struct census *census,
			struct dart_error *error)
{
	const struct dart_sketch_geometry *geometry = &reader->geometry;
	const uint32_t strips = dart_sketch_geometry__strips(geometry);
	const uint32_t samples = strips < SAMPLES ? strips : SAMPLES;
	struct dart_sketch_strip strip;
	struct run runs[SAMPLES_MAX] = {};
	const uint8_t *copies;
	uint32_t i, begin = census->count, times;
	int ret;

	for (i = 0; i < samples * DART_SKETCH_BANKS; i++)
		runs[i] = (struct run){
			place_of(reader, part, i / samples, sample_of(geometry, i % samples)), 1
		};
	ret = fetch(reader, runs, samples * DART_SKETCH_BANKS, &copies, error);
	if (ret)
		return ret;
	for (i = 0; i < samples * DART_SKETCH_BANKS; i++) {
		const enum dart_sketch_state state = dart_sketch_strip__read(
			geometry, copies + i * dart_sketch_geometry__strip_length(geometry),
			sample_of(geometry, i % samples), &strip);

		census->has_bytes[part][i / samples] |= state != DART_SKETCH_EMPTY;
		/* A strip in the other bank is in the wrong place. */
		if (state == DART_SKETCH_WHOLE && strip.period % DART_SKETCH_BANKS == i / samples)
			census->periods[census->count++] = strip.period;
		if (i % samples < samples - 1)
			continue;
		strip.period = most_frequent(census->periods + begin, census->count - begin,
					     UINT32_MAX, &times);
		if (is_nearly(times, samples))
			census->whole[part][i / samples] = strip.period;
		begin = census->count;
	}
	return 0;
}

/* The newest period up to @last that a part has nearly all of; 0: there is none. */
static uint32_t newest(const struct census *census, uint32_t last)
{
	const uint32_t *whole = census->whole[0];
	uint32_t i, found = 0;

	for (i = 0; i < DART_SKETCH_PARTS_MAX * DART_SKETCH_BANKS; i++)
		if (whole[i] <= last && whole[i] > found)
			found = whole[i];
	return found;
}

static uint32_t parts_with(const struct census *census, uint32_t period)
{
	uint32_t part, count = 0;

	for (part = 0; part < DART_SKETCH_PARTS_MAX; part++)
		count += census->whole[part][period % DART_SKETCH_BANKS] == period;
	return count;
}

/* See dart_sketch_reader__read(); @now: the present period.  0: there is none. */
static uint32_t choose(struct census *census, uint32_t now)
{
	uint32_t period = newest(census, now) ?: newest(census, UINT32_MAX), times;

	if (!period)
		return most_frequent(census->periods, census->count, now, &times) ?:
			       most_frequent(census->periods, census->count, UINT32_MAX, &times);
	if (period > 1 && !is_nearly(parts_with(census, period), parts_with(census, period - 1)))
		period--;
	return period;
}

/* ---- the sum */

static int add_part(struct dart_sketch_reader *reader, uint32_t part, bool is_silent,
		    struct dart_sketch_merge *merge, struct dart_error *error)
{
	const uint32_t bank = dart_sketch_merge__summary(merge)->period % DART_SKETCH_BANKS;
	const uint32_t strips = dart_sketch_geometry__strips(&reader->geometry);
	const uint32_t most = FETCH_BYTES / dart_sketch_geometry__strip_length(&reader->geometry);
	const uint8_t *copies;
	uint32_t first, count;
	int ret;

	for (first = 0; first < strips; first += count) {
		struct run run = { place_of(reader, part, bank, first), 0 };

		count = strips - first < most ? strips - first : most;
		run.count = count;
		ret = fetch(reader, &run, 1, &copies, error);
		if (ret)
			return ret;
		dart_sketch_merge__add(merge, first, count, copies);
	}
	dart_sketch_merge__end_part(merge, is_silent);
	return 0;
}

static int add_parts(struct dart_sketch_reader *reader, const struct census *census,
		     struct dart_sketch_merge *merge, struct dart_error *error)
{
	const uint32_t period = dart_sketch_merge__summary(merge)->period;
	uint32_t part;
	int ret = 0;

	for (part = 0; !ret && part < reader->geometry.parts; part++)
		ret = add_part(reader, part, !census->has_bytes[part][(period + 1) % 2], merge,
			       error);
	if (ret)
		return ret;
	dart_sketch_merge__finish(merge);
	if (!dart_sketch_merge__summary(merge)->present)
		return dart_error__set(error, ENODATA, "no sketcher has written period %u", period);
	return 0;
}

/* By the clock of this host. */
static uint32_t present_period(const struct dart_sketch_reader *reader)
{
	const uint64_t period = time(NULL) / reader->geometry.period;

	return period < UINT32_MAX ? period : UINT32_MAX;
}

static int read_period(struct dart_sketch_reader *reader, uint32_t period, struct census *census,
		       struct dart_sketch_merge **result, struct dart_error *error)
{
	struct dart_sketch_merge *merge;
	uint32_t part;
	int ret = 0;

	for (part = 0; !ret && part < reader->geometry.parts; part++)
		ret = look_at_part(reader, part, census, error);
	if (ret)
		return ret;
	period = period ?: choose(census, present_period(reader));
	if (!period)
		return dart_error__set(error, ENODATA, "no sketcher has written a period yet");
	if (dart_sketch_merge__new(&reader->geometry, period, &merge))
		return dart_error__no_memory(error);
	ret = add_parts(reader, census, merge, error);
	if (ret)
		dart_sketch_merge__free(merge);
	else
		*result = merge;
	return ret;
}

int dart_sketch_reader__read(struct dart_sketch_reader *reader, uint32_t period,
			     struct dart_sketch_merge **merge, struct dart_error *error)
{
	struct census *census = calloc(1, sizeof(*census));
	int ret;

	if (!census)
		return dart_error__no_memory(error);
	ret = read_period(reader, period, census, merge, error);
	free(census);
	return ret;
}
