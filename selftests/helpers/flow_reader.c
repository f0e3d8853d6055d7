// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow_reader HOST STORE KIND COUNT SEED: for each line of input, queries the store
 * of HOST by READ for all of dart-report's flows.  Prints as JSON how many paths were
 * found, not found, ambiguous and wrong, the first ambiguous flow (or -1), and the
 * time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dart/control.h>
#include <libdart/error.h>

#include <libdart/report/flows.h>
#include <libdart/store/store_reader.h>

struct flow_set {
	struct dart_flow *list;
	uint8_t *keys;		/* contiguous */
	struct dart_store_answer *answers;
	size_t count;
};

static int flow_set__init(struct flow_set *set, char *argv[])
{
	struct dart_flows_options options = {
		.k = 8,
		.count = strtoull(argv[4], NULL, 10),
		.seed = strtoull(argv[5], NULL, 10),
		.skew = 1,
	};
	struct dart_flows *flows;
	size_t i;

	set->count = options.count;
	set->list = calloc(set->count, sizeof(*set->list));
	set->keys = calloc(set->count, DART_FLOW_KEY_LENGTH);
	set->answers = calloc(set->count, sizeof(*set->answers));
	if (!set->list || !set->keys || !set->answers ||
	    dart_flows_kind__find(argv[3], &options.kind) || dart_flows__new(&options, &flows))
		return -1;
	for (i = 0; i < set->count; i++) {
		dart_flows__get(flows, i, &set->list[i]);
		memcpy(set->keys + i * DART_FLOW_KEY_LENGTH, set->list[i].key,
		       DART_FLOW_KEY_LENGTH);
	}
	dart_flows__free(flows);
	return 0;
}

static void print_answers(const struct flow_set *set, uint64_t elapsed_us)
{
	uint64_t found = 0, empty = 0, ambiguous = 0, wrong = 0;
	int64_t first_ambiguous = -1;
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct dart_store_answer *answer = &set->answers[i];

		if (answer->outcome == DART_STORE_EMPTY)
			empty++;
		else if (answer->outcome == DART_STORE_AMBIGUOUS)
			ambiguous++;
		else if (memcmp(answer->value, set->list[i].path, sizeof(set->list[i].path)))
			wrong++;
		else
			found++;
		if (answer->outcome == DART_STORE_AMBIGUOUS && first_ambiguous < 0)
			first_ambiguous = i;
	}
	printf("{\"found\": %" PRIu64 ", \"empty\": %" PRIu64 ", \"ambiguous\": %" PRIu64
	       ", \"wrong\": %" PRIu64 ", \"first_ambiguous\": %" PRIi64
	       ", \"elapsed_us\": %" PRIu64 "}\n",
	       found, empty, ambiguous, wrong, first_ambiguous, elapsed_us);
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
	const struct dart_store_rule rule = { DART_STORE_PLURALITY, 0 };
	struct dart_store_reader *reader;
	struct flow_set set;
	struct dart_error error;
	uint64_t start;
	char line[16];

	if (argc != 6 || flow_set__init(&set, argv)) {
		fprintf(stderr, "usage: flow_reader HOST STORE KIND COUNT SEED\n");
		return EXIT_FAILURE;
	}
	if (dart_store_reader__open(argv[1], DART_CONTROL_PORT, argv[2], &reader, &error)) {
		fprintf(stderr, "flow_reader: %s\n", error.text);
		return EXIT_FAILURE;
	}
	while (fgets(line, sizeof(line), stdin)) {
		start = now_us();
		if (dart_store_reader__query_batch(reader, set.keys, DART_FLOW_KEY_LENGTH,
						   set.count, &rule, set.answers, &error)) {
			fprintf(stderr, "flow_reader: %s\n", error.text);
			return EXIT_FAILURE;
		}
		print_answers(&set, now_us() - start);
	}
	dart_store_reader__close(reader);
	return EXIT_SUCCESS;
}
