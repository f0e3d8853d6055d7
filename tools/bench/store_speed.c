// SPDX-License-Identifier: GPL-2.0-only
/*
 * store_speed [--slots-log2 K] [--rounds N]: measures how many keys per second one
 * core queries in a store in memory, and how many reports it writes, compared with
 * a bound: the bytes of a random slot of the same memory are loaded for each slot of a
 * key, which touch as many lines of the cache.  Slots of 24 bytes, of which a quarter lie
 * across two lines, with huge and with small pages, and of 32 bytes; prints JSON.
 *
 * The measurements alternate and count CPU time, as the machine may run other
 * programs.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/random.h>
#include <libdart/store/store_query.h>
#include <libdart/store/store_sizing.h>

#include "ingest.h"
#include "memory.h"

#define KEYS		(1 << 10)	/* per go */
#define GOES		256		/* per round */
#define ROUNDS_MAX	1000

struct bench {
	struct dart_store *store;
	uint8_t *memory;
	uint64_t slots;
	size_t slot_length;
	uint64_t reported;	/* keys 0 and so on */
	struct dart_random random;
	uint64_t sum;		/* of the loaded words */
	uint64_t found;
	uint8_t keys[KEYS * INGEST_KEY];
	struct dart_store_answer answers[KEYS];
};

static const struct dart_store_rule rule = { DART_STORE_PLURALITY, 0 };

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* ---- measured functions: KEYS keys each */

/*
 * As many loads are in flight as the processor supports, and there is no other
 * work: an address takes one multiplication, the loaded words are added up.
 */
static void load_slots(struct bench *bench)
{
	enum { BATCH = 64 };
	const size_t last = bench->slot_length - sizeof(uint64_t);
	const uint8_t *slots[BATCH];
	uint32_t done, i;
	uint64_t word;
	size_t place;

	for (done = 0; done < KEYS * DART_STORE_REDUNDANCY; done += BATCH) {
		for (i = 0; i < BATCH; i++) {
			slots[i] = bench->memory + bench->slot_length *
				dart_random__below(&bench->random, bench->slots);
			__builtin_prefetch(slots[i]);
			__builtin_prefetch(slots[i] + last);
		}
		for (i = 0; i < BATCH; i++) {
			for (place = 0; place <= last; place += sizeof(word)) {
				memcpy(&word, slots[i] + place, sizeof(word));
				bench->sum += word;
			}
		}
	}
}

static void query_batch(struct bench *bench)
{
	dart_store__query_batch(bench->store, bench->keys, INGEST_KEY, KEYS, &rule, bench->answers);
}

static void query_single(struct bench *bench)
{
	uint32_t i;

	for (i = 0; i < KEYS; i++)
		dart_store__query(bench->store, bench->keys + i * INGEST_KEY,
				  INGEST_KEY, &rule, &bench->answers[i]);
}

static void ingest(struct bench *bench)
{
	ingest__reports(bench->store, bench->memory, bench->keys, bench->reported, KEYS);
	bench->reported += KEYS;
}

enum { BOUND, BATCH, SINGLE, INGEST, KINDS };

static const struct {
	const char *name;
	void (*run)(struct bench *bench);
} kinds[KINDS] = {
	[BOUND] = { "bound", load_slots },
	[BATCH] = { "query_batch", query_batch },
	[SINGLE] = { "query_single", query_single },
	[INGEST] = { "ingest", ingest },
};

/* Chooses reported keys, or new ones. */
static void choose_keys(struct bench *bench, bool is_new)
{
	uint32_t i;

	for (i = 0; i < KEYS; i++)
		ingest__key(is_new ? bench->reported + i :
				     dart_random__below(&bench->random, bench->reported),
			    bench->keys + i * INGEST_KEY);
}

/* CPU time per key in ns. */
static double measure(struct bench *bench, uint32_t kind)
{
	uint64_t start, spent = 0;
	uint32_t go, i;

	for (go = 0; go < GOES; go++) {
		choose_keys(bench, kind == INGEST);
		start = cpu_ns();
		kinds[kind].run(bench);
		spent += cpu_ns() - start;
		if (kind != BATCH)
			continue;
		for (i = 0; i < KEYS; i++)
			bench->found += bench->answers[i].outcome == DART_STORE_FOUND;
	}
	return (double)spent / GOES / KEYS;
}

/* ---- output */

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print_spread(const char *name, double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), compare);
	printf("\"%s\": {\"median\": %.4g, \"min\": %.4g, \"max\": %.4g}", name,
	       values[count / 2], values[0], values[count - 1]);
}

static void print_rounds(double (*ns)[KINDS], uint32_t rounds)
{
	double values[ROUNDS_MAX];
	uint32_t kind, round;

	for (kind = 0; kind < KINDS; kind++) {
		printf("%s{\"name\": \"%s\", ", kind ? ", " : "", kinds[kind].name);
		for (round = 0; round < rounds; round++)
			values[round] = ns[round][kind];
		print_spread("ns", values, rounds);
		printf(", \"per_second_and_core\": %.4g, ", 1e9 / values[rounds / 2]);
		for (round = 0; round < rounds; round++)
			values[round] = ns[round][BOUND] / ns[round][kind];
		print_spread("of_bound", values, rounds);
		printf("}");
	}
}

/* @value: bytes, a multiple of 8 with the checksum */
static void run(uint32_t slots_log2, uint32_t rounds, uint32_t value, bool is_huge)
{
	const struct dart_store_geometry geometry = {
		.slots = UINT64_C(1) << slots_log2, .value_length = value,
		.checksum_bits = 32, .redundancy = DART_STORE_REDUNDANCY,
	};
	const size_t length = dart_store_geometry__length(&geometry);
	struct bench *bench = calloc(1, sizeof(*bench));
	static double ns[ROUNDS_MAX][KINDS];
	uint32_t round, kind;

	if (!bench)
		err(EXIT_FAILURE, "calloc");
	bench->memory = memory__new(length, is_huge);
	bench->slots = geometry.slots;
	bench->slot_length = dart_store_geometry__slot_length(&geometry);
	bench->random = dart_random__of(1);
	if (!bench->memory || dart_store__new(&geometry, bench->memory, &bench->store))
		errx(EXIT_FAILURE, "out of memory (use a smaller --slots-log2)");

	fprintf(stderr, "store_speed: %zu MiB, %s pages: filling\n",
		length >> 20, is_huge ? "huge" : "small");
	while (bench->reported < bench->slots / 2) {
		choose_keys(bench, true);
		ingest(bench);
	}
	for (round = 0; round < rounds; round++) {
		fprintf(stderr, "\rstore_speed: round %u of %u", round + 1, rounds);
		for (kind = 0; kind < KINDS; kind++)
			ns[round][kind] = measure(bench, kind);
	}
	fputc('\n', stderr);

	printf("{\"slot_length\": %zu, \"lines\": %.4g, ", bench->slot_length,
	       dart_store_sizing__lines(bench->slot_length));
	printf("\"pages\": \"%s\", \"memory\": %zu, \"huge\": %zu, \"redundancy\": %u, \"found\": %.4f, \"sum\": %" PRIu64 ", \"results\": [",
	       is_huge ? "huge" : "small", length, memory__huge(bench->memory),
	       geometry.redundancy,
	       (double)bench->found / rounds / GOES / KEYS, bench->sum);
	print_rounds(ns, rounds);
	printf("]}");
	dart_store__free(bench->store);
	memory__free(bench->memory, length);
	free(bench);
}

static uint32_t parse(const char *text, uint32_t max)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !number || number > max)
		errx(EXIT_FAILURE, "usage: store_speed [--slots-log2 K] [--rounds N]");
	return number;
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "slots-log2", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ }
	};
	/* A path of five switches, and one of seven, whose slots lie in a line each. */
	static const struct {
		uint32_t value;
		bool is_huge;
	} stores[] = { { 20, true }, { 28, true }, { 20, false } };
	uint32_t slots_log2 = 26, rounds = 15, i;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			slots_log2 = parse(optarg, 32);
		else if (option == 'r')
			rounds = parse(optarg, ROUNDS_MAX);
		else
			parse("", 0);
	}
	printf("{\"stores\": [");
	for (i = 0; i < sizeof(stores) / sizeof(*stores); i++) {
		printf("%s", i ? ", " : "");
		run(slots_log2, rounds, stores[i].value, stores[i].is_huge);
	}
	printf("]}\n");
	return EXIT_SUCCESS;
}
