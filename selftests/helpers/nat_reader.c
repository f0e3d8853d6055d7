// SPDX-License-Identifier: GPL-2.0-only
/*
 * nat_reader HOST TABLE KIND COUNT SEED: for each line of input, looks all these entries of
 * nat_entry.h up in the lookup table of HOST by READ. Prints as JSON how many values were of
 * version 0, of version 1 or wrong, how many entries were absent or changing at each try,
 * and the time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dart/control.h>
#include <libdart/tea/tea_reader.h>

#include "selftests/lib/nat_entry.h"

#define VERSIONS 2

struct reading {
	bool is_random;
	uint64_t count, seed;
	uint8_t *keys; /* contiguous */
	struct dart_tea_answer *answers;
};

static int reading__init(struct reading *reading, char *argv[])
{
	struct nat_entry entry;
	uint64_t i;

	if (nat_entry__find_kind(argv[3], &reading->is_random))
		return -1;
	reading->count = strtoull(argv[4], NULL, 10);
	reading->seed = strtoull(argv[5], NULL, 10);
	reading->keys = calloc(reading->count, NAT_KEY);
	reading->answers = calloc(reading->count, sizeof(*reading->answers));
	if (!reading->keys || !reading->answers)
		return -1;
	for (i = 0; i < reading->count; i++) {
		entry = nat_entry__make(reading->is_random, reading->seed, i, 0);
		memcpy(reading->keys + i * NAT_KEY, entry.key, NAT_KEY);
	}
	return 0;
}

static void print_answers(const struct reading *reading, uint64_t elapsed_us)
{
	uint64_t versions[VERSIONS + 1] = { 0 }, absent = 0, changing = 0, i;
	struct nat_entry entry;
	uint32_t version;

	for (i = 0; i < reading->count; i++) {
		const struct dart_tea_answer *answer = &reading->answers[i];

		if (answer->ret) {
			absent += answer->ret == -ENOENT;
			changing += answer->ret != -ENOENT;
			continue;
		}
		for (version = 0; version < VERSIONS; version++) {
			entry = nat_entry__make(reading->is_random, reading->seed, i, version);
			if (!memcmp(answer->value, entry.value, NAT_VALUE))
				break;
		}
		versions[version]++;
	}
	printf("{\"old\": %" PRIu64 ", \"new\": %" PRIu64 ", \"wrong\": %" PRIu64
	       ", \"absent\": %" PRIu64 ", \"changing\": %" PRIu64 ", \"elapsed_us\": %" PRIu64
	       "}\n",
	       versions[0], versions[1], versions[2], absent, changing, elapsed_us);
	fflush(stdout);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000) + now.tv_nsec / 1000;
}

int main(int argc, char *argv[])
{
	struct dart_tea_reader *reader;
	struct reading reading;
	struct dart_error error;
	uint64_t start;
	char line[16];

	if (argc != 6 || reading__init(&reading, argv)) {
		fputs("usage: nat_reader HOST TABLE KIND COUNT SEED\n", stderr);
		return EXIT_FAILURE;
	}
	if (dart_tea_reader__open(argv[1], DART_CONTROL_PORT, argv[2], &reader, &error)) {
		fprintf(stderr, "nat_reader: %s\n", error.text);
		return EXIT_FAILURE;
	}
	if (dart_tea_reader__geometry(reader)->key_length != NAT_KEY ||
	    dart_tea_reader__geometry(reader)->value_length != NAT_VALUE) {
		fputs("nat_reader: it is not a table of NAT\n", stderr);
		return EXIT_FAILURE;
	}
	while (fgets(line, sizeof(line), stdin)) {
		start = now_us();
		if (dart_tea__lookup_batch(reader, reading.keys, reading.count,
					   reading.answers, &error)) {
			fprintf(stderr, "nat_reader: %s\n", error.text);
			return EXIT_FAILURE;
		}
		print_answers(&reading, now_us() - start);
	}
	dart_tea_reader__close(reader);
	return EXIT_SUCCESS;
}
