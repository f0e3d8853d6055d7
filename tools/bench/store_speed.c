// SPDX-License-Identifier: GPL-2.0-only
/*
 * store_speed [--slots-log2 K] [--rounds N]: measures how many keys per second one
 * core queries in a store in memory, and how many reports it writes, compared with
 * a bound that only loads the bytes of the same slots, of many keys at a time; queries of
 * one key after the other are compared with loads that wait for the slots of the key
 * before.  Slots of 24 bytes, of which a quarter lie across two lines, with huge and with
 * small pages, and of 32 bytes; keys that are asked for alike, by a Zipf distribution, and
 * as an adversary chooses them; prints JSON.
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
#include "store_keys.h"

#define KEYS		(1 << 10)	/* per go */
#define GOES		16		/* per turn */
#define TURNS		32		/* per round: all change with the machine alike */
#define ROUNDS_MAX	1000

struct bench {
	struct dart_store *store;
	uint8_t *memory;
	size_t slot_length;
	uint64_t slots;
	uint64_t reported;	/* keys 0 and so on */
	enum store_keys_kind kind;
	struct store_keys *chosen;
	struct dart_random random;
	uint64_t sum;		/* of the loaded words */
	uint64_t zero;		/* which a compiler does not know */
	uint64_t found;
	uint8_t keys[KEYS * INGEST_KEY];
	const uint8_t *places[KEYS * DART_STORE_REDUNDANCY]; /* of their slots */
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

static void bench__load(struct bench *bench, const uint8_t *slot)
{
	uint64_t word;
	size_t place;

	for (place = 0; place + sizeof(word) <= bench->slot_length; place += sizeof(word)) {
		memcpy(&word, slot + place, sizeof(word));
		bench->sum += word;
	}
}

/* As many loads are in flight as the processor supports, and it does no other work. */
static void load_many(struct bench *bench)
{
	enum { AHEAD = 64 };
	const size_t last = bench->slot_length - 1;
	uint32_t done, i;

	for (done = 0; done < KEYS * DART_STORE_REDUNDANCY; done += AHEAD) {
		for (i = done; i < done + AHEAD; i++) {
			__builtin_prefetch(bench->places[i]);
			__builtin_prefetch(bench->places[i] + last);
		}
		for (i = done; i < done + AHEAD; i++)
			bench__load(bench, bench->places[i]);
	}
}

/* The loads of a key wait for the words of the key before, as if these had chosen the key. */
static void load_one_by_one(struct bench *bench)
{
	const uint8_t *const *places = bench->places;
	uint32_t i, copy;

	for (i = 0; i < KEYS; i++) {
		const uint64_t after = bench->sum & bench->zero;

		for (copy = 0; copy < DART_STORE_REDUNDANCY; copy++)
			bench__load(bench, *places++ + after);
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
}

enum { BOUND, ONE_BY_ONE, BATCH, SINGLE, INGEST, MEASURED };

static const struct {
	const char *name;
	void (*run)(struct bench *bench);
	uint32_t beside; /* compared with */
} measured[MEASURED] = {
	[BOUND] = { "bound", load_many, BOUND },
	[ONE_BY_ONE] = { "one_by_one", load_one_by_one, ONE_BY_ONE },
	[BATCH] = { "query_batch", query_batch, BOUND },
	[SINGLE] = { "query_single", query_single, ONE_BY_ONE },
	[INGEST] = { "ingest", ingest, BOUND },
};

static void bench__choose(struct bench *bench, uint32_t i, uint64_t number)
{
	uint8_t *key = bench->keys + i * INGEST_KEY;
	struct dart_store_place place;
	uint32_t copy;

	ingest__key(number, key);
	dart_store_hash__place(dart_store__hash(bench->store), key, INGEST_KEY, &place);
	for (copy = 0; copy < DART_STORE_REDUNDANCY; copy++)
		bench->places[i * DART_STORE_REDUNDANCY + copy] =
			bench->memory + place.slots[copy] * bench->slot_length;
}

/* New keys, or keys that the store has, by their distribution. */
static void bench__choose_keys(struct bench *bench, bool is_new)
{
	uint32_t i;

	for (i = 0; i < KEYS; i++)
		bench__choose(bench, i, is_new ? bench->reported + i :
			      store_keys__next(bench->chosen, &bench->random));
}

/* CPU time per key in ns. */
static double measure(struct bench *bench, uint32_t what)
{
	const bool is_new = what == INGEST && bench->kind == STORE_KEYS_UNIFORM;
	uint64_t start, spent = 0;
	uint32_t go, i;

	for (go = 0; go < GOES; go++) {
		bench__choose_keys(bench, is_new);
		start = cpu_ns();
		measured[what].run(bench);
		spent += cpu_ns() - start;
		if (is_new)
			bench->reported += KEYS;
		if (what != BATCH)
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

static void print_rounds(double (*ns)[MEASURED], uint32_t rounds)
{
	double values[ROUNDS_MAX];
	uint32_t what, round;

	for (what = 0; what < MEASURED; what++) {
		printf("%s{\"name\": \"%s\", ", what ? ", " : "", measured[what].name);
		for (round = 0; round < rounds; round++)
			values[round] = ns[round][what];
		/* Rounds are compared by their ratios: all times of a round change with the machine. */
		qsort(values, rounds, sizeof(*values), compare);
		printf("\"ns\": {\"median\": %.4g}, \"per_second_and_core\": %.4g, ",
		       values[rounds / 2], 1e9 / values[rounds / 2]);
		for (round = 0; round < rounds; round++)
			values[round] = ns[round][measured[what].beside] / ns[round][what];
		print_spread("of_bound", values, rounds);
		printf("}");
	}
}

/* @value: bytes, a multiple of 8 with the checksum */
static void run(uint32_t slots_log2, uint32_t rounds, uint32_t value, bool is_huge,
		enum store_keys_kind kind)
{
	const struct dart_store_geometry geometry = {
		.slots = UINT64_C(1) << slots_log2, .value_length = value,
		.checksum_bits = 32, .redundancy = DART_STORE_REDUNDANCY,
	};
	const size_t length = dart_store_geometry__length(&geometry);
	struct bench *bench = calloc(1, sizeof(*bench));
	static double ns[ROUNDS_MAX][MEASURED];
	uint32_t round, turn, what, i;

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
	for (; bench->reported < bench->slots / 2; bench->reported += KEYS) {
		for (i = 0; i < KEYS; i++)
			ingest__key(bench->reported + i, bench->keys + i * INGEST_KEY);
		ingest(bench);
	}
	bench->kind = kind;
	bench->chosen = store_keys__new(kind, bench->store, bench->reported);
	/* The first round after the store was filled is of other memory in the caches. */
	for (what = 0; what < MEASURED; what++)
		measure(bench, what);
	bench->found = 0;
	for (round = 0; round < rounds; round++) {
		fprintf(stderr, "\rstore_speed: round %u of %u", round + 1, rounds);
		for (what = 0; what < MEASURED; what++)
			ns[round][what] = 0;
		for (turn = 0; turn < TURNS; turn++)
			for (what = 0; what < MEASURED; what++)
				ns[round][what] += measure(bench, what) / TURNS;
	}
	fputc('\n', stderr);

	printf("{\"slot_length\": %zu, \"lines\": %.4g, \"keys\": \"%s\", ", bench->slot_length,
	       dart_store_sizing__lines(bench->slot_length), store_keys__name(kind));
	printf("\"pages\": \"%s\", \"memory\": %zu, \"huge\": %zu, \"redundancy\": %u, \"found\": %.4f, \"sum\": %" PRIu64 ", \"results\": [",
	       is_huge ? "huge" : "small", length, memory__huge(bench->memory),
	       geometry.redundancy,
	       (double)bench->found / rounds / TURNS / GOES / KEYS, bench->sum);
	print_rounds(ns, rounds);
	printf("]}");
	store_keys__free(bench->chosen);
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
		enum store_keys_kind keys;
	} stores[] = {
		{ 20, true, STORE_KEYS_UNIFORM }, { 28, true, STORE_KEYS_UNIFORM },
		{ 20, false, STORE_KEYS_UNIFORM }, { 20, true, STORE_KEYS_ZIPF },
		{ 20, true, STORE_KEYS_CROWDED },
	};
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
		run(slots_log2, rounds, stores[i].value, stores[i].is_huge, stores[i].keys);
	}
	printf("]}\n");
	return EXIT_SUCCESS;
}
