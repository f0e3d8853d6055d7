// SPDX-License-Identifier: GPL-2.0-only
/*
 * flows_found FILE KIND COUNT [SEED]: queries the store in FILE (values of 20 bytes,
 * checksums of 32 bits, redundancy 2) for each of COUNT flows (uniform, zipf,
 * fat-tree).  Prints as JSON how many answers are correct, empty and wrong, and how
 * many copies support the correct ones.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <libdart/report/flows.h>
#include <libdart/store/store_query.h>

#define FAT_TREE_K 8

static struct dart_store *open_store(const char *path)
{
	struct dart_store_geometry geometry = {
		.value_length = 20,
		.checksum_bits = 32,
		.redundancy = 2,
	};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dart_store *store;
	struct stat status;
	void *memory;

	if (fd < 0 || fstat(fd, &status))
		return NULL;
	geometry.slots = status.st_size / dart_store_geometry__slot_length(&geometry);
	memory = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED || dart_store__new(&geometry, memory, &store))
		return NULL;
	return store;
}

static void ask(const struct dart_store *store, const struct dart_flows *flows, uint64_t count)
{
	const struct dart_store_rule rule = { .policy = DART_STORE_PLURALITY };
	uint64_t correct = 0, wrong = 0, copies = 0, i;
	struct dart_store_answer answer;
	struct dart_flow flow;

	for (i = 0; i < count; i++) {
		dart_flows__get(flows, i, &flow);
		dart_store__query(store, flow.key, sizeof(flow.key), &rule, &answer);
		if (answer.outcome != DART_STORE_FOUND)
			continue;
		if (memcmp(answer.value, flow.path, sizeof(flow.path))) {
			wrong++;
		} else {
			correct++;
			copies += answer.agreeing;
		}
	}
	printf("{\"correct\": %ju, \"empty\": %ju, \"wrong\": %ju, \"copies\": %ju}\n",
	       (uintmax_t)correct, (uintmax_t)(count - correct - wrong),
	       (uintmax_t)wrong, (uintmax_t)copies);
}

int main(int argc, char **argv)
{
	struct dart_flows_options options = { .k = FAT_TREE_K, .skew = 1 };
	struct dart_flows *flows;
	struct dart_store *store;

	if (argc < 4 || argc > 5 || dart_flows_kind__find(argv[2], &options.kind)) {
		fprintf(stderr, "usage: flows_found FILE KIND COUNT [SEED]\n");
		return 2;
	}
	options.count = strtoull(argv[3], NULL, 10);
	options.seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	store = open_store(argv[1]);
	if (!store) {
		perror("flows_found: cannot open the store");
		return 1;
	}
	if (dart_flows__new(&options, &flows)) {
		fprintf(stderr, "flows_found: cannot make the flows\n");
		return 1;
	}
	ask(store, flows, options.count);
	dart_flows__free(flows);
	dart_store__free(store);
	return 0;
}
