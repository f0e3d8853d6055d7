// SPDX-License-Identifier: GPL-2.0-only
/* Fills a store with flows, queries them, and counts the outcomes. */
#include "simulation.h"

#include <err.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/store/store_sizing.h>

#include "tools/bench/ingest.h"
#include "tools/bench/memory.h"

#define CHUNK	1024	/* keys made at once */

struct simulation {
	struct dart_store *store;
	uint8_t *memory;
	size_t length;
	uint64_t reported;
	enum simulation_copies copies;
	uint8_t keys[CHUNK * INGEST_KEY];
	struct dart_store_answer answers[CHUNK];
};

static const struct dart_store_rule rule = { DART_STORE_PLURALITY, 0 };

struct simulation *simulation__new(const struct dart_store_geometry *geometry,
				   enum simulation_copies copies)
{
	struct simulation *simulation = calloc(1, sizeof(*simulation));

	if (!simulation)
		err(EXIT_FAILURE, "simulation");
	simulation->copies = copies;
	simulation->length = dart_store_geometry__length(geometry);
	simulation->memory = memory__new(simulation->length, true);
	if (!simulation->memory ||
	    dart_store__new(geometry, simulation->memory, &simulation->store))
		errx(EXIT_FAILURE, "out of memory (use a smaller --scale)");
	return simulation;
}

void simulation__free(struct simulation *simulation)
{
	dart_store__free(simulation->store);
	memory__free(simulation->memory, simulation->length);
	free(simulation);
}

static uint32_t make_keys(struct simulation *simulation, uint64_t first, uint64_t end)
{
	const uint32_t count = end - first < CHUNK ? end - first : CHUNK;
	uint32_t i;

	for (i = 0; i < count; i++)
		ingest__key(first + i, simulation->keys + i * INGEST_KEY);
	return count;
}

#define SAMPLES 16384	/* as dartd takes */

/* Reports @count keys to as many copies as the fill of the store asks for. */
static void report_falling(struct simulation *simulation, uint32_t count)
{
	const uint64_t written =
		dart_store__sample(simulation->store, SAMPLES, simulation->reported);
	uint32_t copies = dart_store_sizing__falling((double)written / SAMPLES), copy, i;
	uint8_t value[DART_STORE_VALUE_MAX] = {};
	uint32_t number;

	if (copies > dart_store__geometry(simulation->store)->redundancy)
		copies = dart_store__geometry(simulation->store)->redundancy;
	for (i = 0; i < count; i++) {
		number = simulation->reported + i;
		memcpy(value, &number, sizeof(number));
		for (copy = 0; copy < copies; copy++)
			dart_store__write(simulation->store, simulation->keys + i * INGEST_KEY,
					  INGEST_KEY, copy, value);
	}
}

static bool is_empty(const struct dart_store_geometry *geometry, const uint8_t *slot)
{
	static const uint8_t zeros[8];

	return !memcmp(slot, zeros, geometry->checksum_bits / 8);
}

/* Reports @count keys to their first slots, and to their other slots that are empty. */
static void report_claiming(struct simulation *simulation, uint32_t count)
{
	const struct dart_store_geometry *geometry = dart_store__geometry(simulation->store);
	const size_t length = dart_store_geometry__slot_length(geometry);
	uint8_t value[DART_STORE_VALUE_MAX] = {}, *slot;
	struct dart_store_place place;
	uint32_t number, copy, i;

	for (i = 0; i < count; i++) {
		number = simulation->reported + i;
		memcpy(value, &number, sizeof(number));
		dart_store_hash__place(dart_store__hash(simulation->store),
				       simulation->keys + i * INGEST_KEY, INGEST_KEY, &place);
		for (copy = 0; copy < geometry->redundancy; copy++) {
			slot = simulation->memory + place.slots[copy] * length;
			if (!copy || is_empty(geometry, slot))
				dart_store__fill(geometry, &place, value, slot);
		}
	}
}

void simulation__report(struct simulation *simulation, uint64_t flows)
{
	uint32_t count;

	for (; simulation->reported < flows; simulation->reported += count) {
		count = make_keys(simulation, simulation->reported, flows);
		if (simulation->copies == SIMULATION_FALLING)
			report_falling(simulation, count);
		else if (simulation->copies == SIMULATION_CLAIMING)
			report_claiming(simulation, count);
		else
			ingest__reports(simulation->store, simulation->memory,
					simulation->keys, simulation->reported, count);
		simulation__progress("%.0f of %.0f million flows reported",
				     simulation->reported / 1e6, flows / 1e6);
	}
}

static void tally__add(struct simulation_tally *tally,
		       const struct dart_store_answer *answer, uint32_t number)
{
	if (answer->outcome == DART_STORE_AMBIGUOUS)
		tally->ambiguous++;
	else if (answer->outcome == DART_STORE_FOUND &&
		 memcmp(answer->value, &number, sizeof(number)))
		tally->wrong++;
	else if (answer->outcome == DART_STORE_FOUND)
		tally->right++;
}

struct simulation_tally simulation__ask(struct simulation *simulation, uint64_t first, uint64_t end)
{
	struct simulation_tally tally = { 0 };
	uint32_t count, i;

	for (; first < end; first += count) {
		count = make_keys(simulation, first, end);
		dart_store__query_batch(simulation->store, simulation->keys, INGEST_KEY, count,
					&rule, simulation->answers);
		for (i = 0; i < count; i++)
			tally__add(&tally, &simulation->answers[i], first + i);
		simulation__progress("%.0f of %.0f million flows queried", first / 1e6, end / 1e6);
	}
	return tally;
}

void simulation__progress(const char *format, ...)
{
	static struct timespec last;
	struct timespec now;
	va_list arguments;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000 < 500)
		return;
	last = now;
	fputs("\r\033[Kdart-sim: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
}
