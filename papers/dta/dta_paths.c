// SPDX-License-Identifier: GPL-2.0-only
/*
 * dta-paths: how many paths of five hops a store still has, by its load, if each postcard is a
 * separate report (Key-Write), or if a translator gathers the postcards of a path (Postcarding),
 * in the same bytes of memory; by libdart's code, beside the theory.  Prints CSV, and fails if a
 * share differs from the theory by more than a point, or if a path is wrong.
 *
 * With R reports for each slot after it, to n slots each, one copy keeps its value with e^-nR.
 */
#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include <libdart/report/translator.h>
#include <libdart/store/store_query.h>

#include "tools/bench/ingest.h"

#define HOPS 5
#define SLOTS (UINT64_C(1) << 17) /* of paths */
#define WORD 4 /* bytes of a checksum, and of a hop */
#define PATH_SLOT (WORD + WORD * HOPS)
#define HOP_SLOT (WORD + WORD)
#define POINT 0.01
#define LOADS 13 /* from 1/16 to 4 paths for each slot of a path */
#define STEPS 2000 /* of an integral over ages */

struct run {
	bool is_gathered;
	uint32_t copies;
	double loss; /* of postcards */
	void *memory;
	struct dart_store *store;
	struct dart_translator *translator;
	struct dart_random random;
	uint64_t reported; /* paths */
	uint64_t wrong;
};

static double load_of(uint32_t step)
{
	return exp2(step / 2. - 4);
}

/*
 * Keys of paths, or of their hops.  Keys of hops that differ in the number of the hop alone would
 * collide with keys of another path together, because CRCs are linear; the theory has independent
 * keys.
 */
static void make_key(const struct run *run, uint64_t path, uint32_t hop, uint8_t key[INGEST_KEY])
{
	ingest__key(run->is_gathered ? path : path * 8 + hop, key);
}

static uint32_t value_of(uint64_t path, uint32_t hop)
{
	return (uint32_t)path * 8 + hop + 1;
}

static void begin(struct run *run)
{
	const struct dart_store_geometry geometry = {
		.slots = run->is_gathered ? SLOTS : SLOTS * PATH_SLOT / HOP_SLOT,
		.value_length = run->is_gathered ? WORD * HOPS : WORD,
		.checksum_bits = 8 * WORD,
		.redundancy = run->copies,
	};

	run->memory = calloc(1, dart_store_geometry__length(&geometry));
	run->random = dart_random__of(1);
	if (!run->memory || dart_store__new(&geometry, run->memory, &run->store) ||
	    dart_translator__new(DART_TRANSLATOR_ROWS_LOG2, HOPS, UINT64_MAX, &run->translator)) {
		fputs("dta-paths: out of memory\n", stderr);
		exit(1);
	}
}

static void end(struct run *run)
{
	dart_translator__free(run->translator);
	dart_store__free(run->store);
	free(run->memory);
}

/* A complete path to all copies, an incomplete one to a copy in turn: see <dart/postcard.h>. */
static void write_path(struct run *run, const struct dart_translator_report *report)
{
	uint32_t copy;

	for (copy = 0; copy < run->copies; copy++)
		if (report->is_complete || copy == report->number % run->copies)
			dart_store__write(run->store, report->key, report->key_length, copy,
					  report->value);
}

static void tell(struct run *run, uint64_t path, uint32_t hop)
{
	struct dart_translator_report reports[DART_TRANSLATOR_REPORTS_MAX];
	struct dart_postcard postcard = {
		.key_length = INGEST_KEY,
		.hop = hop,
		.hops = HOPS,
		.value = value_of(path, hop),
	};
	uint32_t copy, word;
	int due, i;

	make_key(run, path, hop, postcard.key);
	word = htobe32(postcard.value);
	if (!run->is_gathered) {
		for (copy = 0; copy < run->copies; copy++)
			dart_store__write(run->store, postcard.key, INGEST_KEY, copy, &word);
		return;
	}
	due = dart_translator__add(run->translator, &postcard, 0, reports);
	for (i = 0; i < due; i++)
		write_path(run, &reports[i]);
}

static void report(struct run *run, uint64_t paths)
{
	struct dart_translator_report rest;
	uint32_t hop;

	for (; run->reported < paths; run->reported++) {
		for (hop = 0; hop < HOPS; hop++)
			if (dart_random__fraction(&run->random) >= run->loss)
				tell(run, run->reported, hop);
		while (dart_translator__expire(run->translator, UINT64_MAX, &rest))
			write_path(run, &rest);
	}
}

/* Are all hops of the path known? */
static bool is_found(struct run *run, uint64_t path)
{
	static const struct dart_store_rule plurality = { DART_STORE_PLURALITY, 0 };
	static const struct dart_store_rule merge = { DART_STORE_MERGE, 0 };
	struct dart_store_answer answer;
	uint8_t key[INGEST_KEY];
	uint32_t hop, word;

	for (hop = 0; hop < HOPS; hop++) {
		make_key(run, path, hop, key);
		if (!run->is_gathered || !hop)
			dart_store__query(run->store, key, sizeof(key),
					  run->is_gathered ? &merge : &plurality, &answer);
		if (answer.outcome != DART_STORE_FOUND)
			return false;
		memcpy(&word, answer.value + (run->is_gathered ? WORD * hop : 0), sizeof(word));
		if (be32toh(word) == DART_POSTCARD_UNKNOWN)
			return false;
		run->wrong += be32toh(word) != value_of(path, hop);
	}
	return true;
}

static double measure(struct run *run, double load)
{
	const uint64_t paths = load * SLOTS;
	uint64_t path, found = 0;

	report(run, paths);
	for (path = 0; path < paths; path++)
		found += is_found(run, path);
	return (double)found / paths;
}

/* The share of paths that are found with @age paths for each slot of a path after them. */
static double theory_at(const struct run *run, double age)
{
	const double whole = pow(1 - run->loss, HOPS);
	double writes, found;

	if (run->is_gathered) {
		/* A path of which no postcard came is not reported. */
		writes = whole * run->copies + (1 - whole - pow(run->loss, HOPS));
		return whole * (1 - pow(1 - exp(-age * writes), run->copies));
	}
	writes = (1 - run->loss) * HOPS * run->copies * HOP_SLOT / PATH_SLOT;
	found = (1 - run->loss) * (1 - pow(1 - exp(-age * writes), run->copies));
	return pow(found, HOPS);
}

static double theory(const struct run *run, double load)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < STEPS; i++)
		sum += theory_at(run, load * (i + 0.5) / STEPS);
	return sum / STEPS;
}

static bool compare(struct run *run)
{
	bool agrees = true;
	uint32_t step;

	begin(run);
	for (step = 0; step < LOADS; step++) {
		const double load = load_of(step), expected = theory(run, load);
		const double measured = measure(run, load);

		printf("%s,%u,%g,%.6f,%.6f,%.6f\n", run->is_gathered ? "gathered" : "each",
		       run->copies, run->loss, load, measured, expected);
		agrees &= fabs(measured - expected) <= POINT;
	}
	end(run);
	return agrees && !run->wrong;
}

int main(void)
{
	static const double losses[] = { 0, 0.01 };
	bool agrees = true;
	uint32_t copies;
	size_t i;
	int way;

	puts("postcards,copies,loss,paths per slot,measured,theory");
	for (way = 0; way < 2; way++)
		for (copies = 1; copies <= 4; copies *= 2)
			for (i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
				struct run run = {
					.is_gathered = way,
					.copies = copies,
					.loss = losses[i],
				};

				agrees &= compare(&run);
			}
	if (!agrees)
		fputs("dta-paths: a share differs from theory by more than a point, or a path is wrong\n",
		      stderr);
	return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}
