// SPDX-License-Identifier: GPL-2.0-only
/*
 * store_flows COLLECTORS FILE KIND COUNT SEED: waits until the store in FILE contains
 * the last of these flows. dart-report sent each copy of each flow once.
 *
 * Prints as JSON how many paths are found, empty and wrong, and whether the store
 * equals, byte for byte, a store that this program fills with the flows.  All
 * collectors in the file must belong to this store.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <libdart/error.h>
#include <libdart/report/collectors.h>
#include <libdart/report/flows.h>
#include <libdart/store/store_query.h>

#define WAIT_MAX	60	/* seconds */

struct check {
	struct dart_store_geometry geometry;
	struct dart_flows *flows;
	uint64_t count;
	uint8_t *memory;	/* of the store */
	uint8_t *expected;	/* contents of the store after all reports */
	struct dart_store *store;
	struct dart_store *model;
	uint64_t found, empty, wrong;
};

static struct dart_collectors load(const char *path)
{
	struct dart_collectors collectors;
	struct in_addr reporter;
	struct dart_error error;
	json_t *file = json_load_file(path, 0, NULL);
	const char *text = NULL;

	json_unpack(file, "{s:[{s:s}]}", "collectors", "reporter", &text);
	if (!text || inet_pton(AF_INET, text, &reporter) != 1 ||
	    dart_collectors__load(&path, 1, reporter, &collectors, &error)) {
		fprintf(stderr, "store_flows: no collectors in %s\n", path);
		exit(EXIT_FAILURE);
	}
	json_decref(file);
	return collectors;
}

static int check__init(struct check *check, char *argv[])
{
	struct dart_collectors collectors = load(argv[1]);
	struct dart_flows_options options = {
		.k = 8,
		.count = strtoull(argv[4], NULL, 10),
		.seed = strtoull(argv[5], NULL, 10),
		.skew = 1,
	};
	int fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	uint64_t length;

	check->count = options.count;
	check->geometry = collectors.list[0].geometry;
	dart_collectors__free(&collectors);
	length = dart_store_geometry__length(&check->geometry);
	check->expected = calloc(1, length);
	check->memory = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
	return fd < 0 || !check->expected || check->memory == MAP_FAILED ||
	       dart_flows_kind__find(argv[3], &options.kind) ||
	       dart_flows__new(&options, &check->flows) ||
	       dart_store__new(&check->geometry, check->memory, &check->store) ||
	       dart_store__new(&check->geometry, check->expected, &check->model);
}

static void check__write_model(struct check *check)
{
	uint8_t value[DART_STORE_VALUE_MAX] = { 0 };
	struct dart_flow flow;
	uint64_t i;
	uint32_t copy;

	for (i = 0; i < check->count; i++) {
		dart_flows__get(check->flows, i, &flow);
		memcpy(value, flow.path, sizeof(flow.path));
		for (copy = 0; copy < check->geometry.redundancy; copy++)
			dart_store__write(check->model, flow.key, sizeof(flow.key), copy, value);
	}
}

/* Waits for the last copy of the last flow: reports arrive in order. */
static bool check__wait(const struct check *check)
{
	const size_t length = dart_store_geometry__slot_length(&check->geometry);
	const time_t end = time(NULL) + WAIT_MAX;
	struct dart_store_place place;
	struct dart_flow flow;
	size_t offset;

	dart_flows__get(check->flows, check->count - 1, &flow);
	dart_store_hash__place(dart_store__hash(check->store), flow.key, sizeof(flow.key), &place);
	offset = place.slots[check->geometry.redundancy - 1] * length;
	while (memcmp(check->memory + offset, check->expected + offset, length)) {
		if (time(NULL) > end)
			return false;
		sched_yield();
	}
	return true;
}

static void check__query(struct check *check)
{
	const struct dart_store_rule rule = { DART_STORE_PLURALITY, 0 };
	struct dart_store_answer answer;
	struct dart_flow flow;
	uint64_t i;

	for (i = 0; i < check->count; i++) {
		dart_flows__get(check->flows, i, &flow);
		dart_store__query(check->store, flow.key, sizeof(flow.key), &rule, &answer);
		if (answer.outcome != DART_STORE_FOUND)
			check->empty++;
		else if (memcmp(answer.value, flow.path, sizeof(flow.path)))
			check->wrong++;
		else
			check->found++;
	}
}

int main(int argc, char *argv[])
{
	struct check check = { .count = 0 };
	bool same;

	if (argc != 6 || check__init(&check, argv)) {
		fprintf(stderr, "store_flows: cannot open the store or make the flows\n");
		return EXIT_FAILURE;
	}
	check__write_model(&check);
	if (!check__wait(&check))
		fprintf(stderr, "store_flows: the last flow has not arrived\n");
	check__query(&check);
	same = !memcmp(check.memory, check.expected, dart_store_geometry__length(&check.geometry));
	printf("{\"found\": %" PRIu64 ", \"empty\": %" PRIu64 ", \"wrong\": %" PRIu64
	       ", \"same\": %s}\n",
	       check.found, check.empty, check.wrong, same ? "true" : "false");
	return EXIT_SUCCESS;
}
