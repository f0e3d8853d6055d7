// SPDX-License-Identifier: GPL-2.0-only
/*
 * tea_fill [--cells-log2 K]: fills lookup tables of 2^K cells to rising loads, and prints
 * as JSON how many entries are in the stash and found no place, and the CPU time of an
 * insertion.  The bound is a table that needs no search: each key is hashed, and its
 * cell is copied to a bucket and a shadow bucket.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/random.h>
#include <libdart/tea/tea_table.h>

#include "memory.h"

/* IPv4 addresses, ports and protocol of a connection; its new address, port and flags. */
#define KEY		13
#define VALUE		7
#define CELL		24
#define BATCH		(1 << 12)	/* keys that are made at once */
#define CELLS_LOG2_MIN	14
#define CELLS_LOG2_MAX	30

static const double loads[] = { 0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95 };
#define LOADS		(sizeof(loads) / sizeof(loads[0]))

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* ---- keys */

static void put(uint8_t *bytes, uint64_t number, size_t length)
{
	while (length--) {
		bytes[length] = number;
		number >>= 8;
	}
}

static void make_random(uint64_t number, uint8_t *key)
{
	struct dart_random random = dart_random__of(number);

	put(key, dart_random__next(&random), 8);
	put(key + 8, dart_random__next(&random), KEY - 8);
}

/* Hosts of a network, each with 1,024 ports, which talk to one server. */
static void make_range(uint64_t number, uint8_t *key)
{
	put(key, 0x0a000000 + (number >> 10), 4);
	put(key + 4, 0xc6336407, 4);
	put(key + 8, 0xc000 + number % 1024, 2);
	put(key + 10, 443, 2);
	key[12] = 6;
}

static void make_integer(uint64_t number, uint8_t *key)
{
	memset(key, 0, KEY - 8);
	put(key + KEY - 8, number, 8);
}

static const struct {
	const char *name;
	void (*make)(uint64_t number, uint8_t *key);
} kinds[] = {
	{ "random", make_random },
	{ "addresses and ports", make_range },
	{ "integers", make_integer },
};
#define KINDS		(sizeof(kinds) / sizeof(kinds[0]))

/* ---- measurements */

struct bench {
	struct dart_tea_geometry geometry;
	struct dart_tea_table *table;
	struct dart_tea_hash *hash;
	uint8_t *memory;
	size_t length;
	uint32_t kind;
	uint64_t inserted;
	uint8_t keys[BATCH * KEY];
};

static uint64_t make_keys(struct bench *bench, uint64_t first, uint64_t end)
{
	const uint64_t count = end - first < BATCH ? end - first : BATCH;
	uint64_t i;

	for (i = 0; i < count; i++)
		kinds[bench->kind].make(first + i, bench->keys + i * KEY);
	return count;
}

/* Inserts keys up to @end, and returns the CPU time of that. */
static uint64_t insert(struct bench *bench, uint64_t end)
{
	uint64_t spent = 0, start, count, i;
	uint8_t value[VALUE] = { 0 };

	for (; bench->inserted < end; bench->inserted += count) {
		count = make_keys(bench, bench->inserted, end);
		start = cpu_ns();
		for (i = 0; i < count; i++)
			dart_tea_table__insert(bench->table, bench->keys + i * KEY, value);
		spent += cpu_ns() - start;
	}
	return spent;
}

/* CPU time of a key that is only hashed and copied to two rows. */
static double measure_bound(struct bench *bench, uint64_t keys)
{
	const size_t stride = dart_tea_geometry__stride(&bench->geometry);
	const uint64_t mask = dart_tea_geometry__rows(&bench->geometry) - 1;
	uint64_t spent = 0, start, done, count, i;
	struct dart_tea_place place;
	uint8_t cell[CELL] = { 0 };

	for (done = 0; done < keys; done += count) {
		count = make_keys(bench, done, keys);
		start = cpu_ns();
		for (i = 0; i < count; i++) {
			const uint8_t *key = bench->keys + i * KEY;
			uint32_t check;

			dart_tea_hash__place(bench->hash, key, &place);
			memcpy(cell + 4, key, KEY);
			check = dart_tea_hash__check(bench->hash, cell + 4);
			memcpy(cell, &check, sizeof(check));
			memcpy(bench->memory + place.home * stride + 8, cell, CELL);
			memcpy(bench->memory + ((place.home - 1) & mask) * stride + 8 +
				       CELL * bench->geometry.cells,
			       cell, CELL);
		}
		spent += cpu_ns() - start;
	}
	return (double)spent / keys;
}

static void print_loads(struct bench *bench)
{
	struct dart_tea_statistics statistics, before;
	uint64_t first, ns;
	size_t i;

	for (i = 0; i < LOADS; i++) {
		dart_tea_table__statistics(bench->table, &before);
		first = bench->inserted;
		ns = insert(bench, loads[i] * before.cells);
		dart_tea_table__statistics(bench->table, &statistics);
		printf("%s{\"load\": %.2f, \"entries\": %" PRIu64 ", \"stashed\": %" PRIu64
		       ", \"full\": %" PRIu64 ", \"moves\": %" PRIu64 ", \"ns\": %.4g}",
		       i ? ", " : "", loads[i], statistics.entries, statistics.stashed,
		       statistics.full, statistics.moves - before.moves,
		       (double)ns / (bench->inserted - first));
	}
}

static void run(uint32_t cells, uint32_t cells_log2, uint32_t kind)
{
	struct bench bench = {
		.geometry = {
			.rows_log2 = cells_log2 - __builtin_ctz(cells),
			.cells = cells, .key_length = KEY,
			.value_length = VALUE, .packet_length = DART_TEA_PACKET,
		},
		.kind = kind,
	};
	double bound;

	bench.length = dart_tea_geometry__length(&bench.geometry);
	bench.memory = memory__new(bench.length, true);
	if (!bench.memory || dart_tea_hash__new(&bench.geometry, &bench.hash))
		errx(EXIT_FAILURE, "out of memory (use a smaller --cells-log2)");
	/* The bound before the table, and all pages are there. */
	memset(bench.memory, 0, bench.length);
	bound = measure_bound(&bench, UINT64_C(1) << (cells_log2 - 1));
	memset(bench.memory, 0, bench.length);
	if (dart_tea_table__new(&bench.geometry, 1, bench.memory, &bench.table))
		errx(EXIT_FAILURE, "out of memory");

	fprintf(stderr, "tea_fill: %u cells, %s\n", cells, kinds[kind].name);
	printf("{\"cells\": %u, \"keys\": \"%s\", \"memory\": %zu, \"bound_ns\": %.4g, \"loads\": [",
	       cells, kinds[kind].name, bench.length, bound);
	print_loads(&bench);
	printf("]}");
	dart_tea_table__free(bench.table);
	dart_tea_hash__free(bench.hash);
	memory__free(bench.memory, bench.length);
}

static uint32_t parse(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number < CELLS_LOG2_MIN ||
	    number > CELLS_LOG2_MAX)
		errx(EXIT_FAILURE, "usage: tea_fill [--cells-log2 K]");
	return number;
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "cells-log2", required_argument, NULL, 'c' },
		{ }
	};
	uint32_t cells_log2 = 22, cells, kind;
	const char *separator = "";
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		cells_log2 = parse(option == 'c' ? optarg : "");
	printf("{\"cells_of_all\": %" PRIu64 ", \"tables\": [", UINT64_C(1) << cells_log2);
	for (cells = 1; cells <= DART_TEA_CELLS_MAX; cells *= 2)
		for (kind = 0; kind < KINDS; kind++, separator = ", ") {
			fputs(separator, stdout);
			run(cells, cells_log2, kind);
		}
	printf("]}\n");
	return EXIT_SUCCESS;
}
