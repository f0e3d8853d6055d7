// SPDX-License-Identifier: GPL-2.0-only
/*
 * store_answers HOST STORE KIND COUNT SEED: asks the store at HOST, by RDMA READ,
 * for the path of every flow that dart-report makes with these options, and compares
 * with what it was.  Prints as JSON how many answers were correct, empty, ambiguous
 * and wrong, and how long it took.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dart/control.h>

#include "dart/flows.h"
#include "dart/store_reader.h"

#define BATCH 256	/* keys asked for at once */

struct tally {
	uint64_t correct, empty, ambiguous, wrong;
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "store_answers: %s: %s\n", what, why);
	return EXIT_FAILURE;
}

static void tally__count(struct tally *tally,
			 const struct dart_store_answer *answer,
			 const struct dart_flow *flow)
{
	switch (answer->outcome) {
	case DART_STORE_EMPTY:
		tally->empty++;
		break;
	case DART_STORE_AMBIGUOUS:
		tally->ambiguous++;
		break;
	case DART_STORE_FOUND:
		if (memcmp(answer->value, flow->path, sizeof(flow->path)))
			tally->wrong++;
		else
			tally->correct++;
	}
}

static int ask_all(struct dart_store_reader *reader,
		   const struct dart_flows *flows, uint64_t count,
		   struct tally *tally, char why[DART_WHY_MAX])
{
	static const struct dart_store_rule plurality;
	struct dart_store_answer answers[BATCH];
	uint8_t keys[BATCH][DART_FLOW_KEY_LENGTH];
	struct dart_flow asked[BATCH];
	uint64_t first, batch, i;
	int ret;

	for (first = 0; first < count; first += batch) {
		batch = count - first < BATCH ? count - first : BATCH;
		for (i = 0; i < batch; i++) {
			dart_flows__get(flows, first + i, &asked[i]);
			memcpy(keys[i], asked[i].key, sizeof(keys[i]));
		}
		ret = dart_store_reader__query_batch(reader, keys,
						     sizeof(keys[0]), batch,
						     &plurality, answers, why);
		if (ret)
			return ret;
		for (i = 0; i < batch; i++)
			tally__count(tally, &answers[i], &asked[i]);
	}
	return 0;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct dart_flows_options options = { .k = 8, .skew = 1 };
	struct dart_store_reader *reader;
	struct tally tally = { .wrong = 0 };
	struct dart_flows *flows;
	char why[DART_WHY_MAX];
	double begin;
	int ret;

	if (argc != 6 || dart_flows_kind__find(argv[3], &options.kind))
		return fail("arguments", "see the source");
	options.count = strtoull(argv[4], NULL, 0);
	options.seed = strtoull(argv[5], NULL, 0);
	ret = dart_flows__new(&options, &flows);
	if (ret)
		return fail("flows", strerror(-ret));
	if (dart_store_reader__open(argv[1], DART_CONTROL_PORT, argv[2],
				    &reader, why)) {
		dart_flows__free(flows);
		return fail(argv[1], why);
	}

	begin = seconds();
	ret = ask_all(reader, flows, options.count, &tally, why);
	if (!ret)
		printf("{\"asked\": %" PRIu64 ", \"correct\": %" PRIu64
		       ", \"empty\": %" PRIu64 ", \"ambiguous\": %" PRIu64
		       ", \"wrong\": %" PRIu64 ", \"seconds\": %.2f}\n",
		       options.count, tally.correct, tally.empty,
		       tally.ambiguous, tally.wrong, seconds() - begin);
	else
		fail(argv[2], why);
	dart_store_reader__close(reader);
	dart_flows__free(flows);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
