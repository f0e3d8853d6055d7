// SPDX-License-Identifier: GPL-2.0-only
/* Generated flows are distinct, reproducible, and take paths that exist. */
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/report/flows.h>

#include "selftests/unit/unit.h"

#define COUNT	50000

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, DART_FLOW_KEY_LENGTH);
}

static struct dart_flows *flows_of(enum dart_flows_kind kind, uint32_t k,
				   uint64_t count, uint64_t seed)
{
	const struct dart_flows_options options = {
		.kind = kind, .k = k, .count = count, .seed = seed, .skew = 1,
	};
	struct dart_flows *flows;

	assert_int_equal(dart_flows__new(&options, &flows), 0);
	return flows;
}

static void check_distinct(enum dart_flows_kind kind, uint32_t k)
{
	struct dart_flows *flows = flows_of(kind, k, COUNT, 5);
	uint8_t *keys = malloc(COUNT * DART_FLOW_KEY_LENGTH);
	struct dart_flow flow;
	size_t i;

	for (i = 0; i < COUNT; i++) {
		dart_flows__get(flows, i, &flow);
		memcpy(keys + i * sizeof(flow.key), flow.key, sizeof(flow.key));
	}
	qsort(keys, COUNT, DART_FLOW_KEY_LENGTH, compare_keys);
	for (i = 1; i < COUNT; i++)
		assert_memory_not_equal(keys + (i - 1) * sizeof(flow.key),
					keys + i * sizeof(flow.key), sizeof(flow.key));
	free(keys);
	dart_flows__free(flows);
}

static void test_distinct(void **state)
{
	check_distinct(DART_FLOWS_UNIFORM, 0);
	check_distinct(DART_FLOWS_ZIPF, 0);
	/* A pair of hosts occurs many times, often, at most once. */
	check_distinct(DART_FLOWS_FAT_TREE, 2);
	check_distinct(DART_FLOWS_FAT_TREE, 4);
	check_distinct(DART_FLOWS_FAT_TREE, 48);
}

static void check_same(enum dart_flows_kind kind)
{
	struct dart_flows *flows = flows_of(kind, 8, COUNT, 7);
	struct dart_flows *again = flows_of(kind, 8, COUNT, 7);
	struct dart_flows *other = flows_of(kind, 8, COUNT, 8);
	struct dart_flow flow, same, different;
	uint64_t i, equal = 0;

	for (i = 0; i < 100; i++) {
		dart_flows__get(flows, i, &flow);
		dart_flows__get(again, i, &same);
		dart_flows__get(other, i, &different);
		assert_memory_equal(&flow, &same, sizeof(flow));
		equal += !compare_keys(flow.key, different.key);
		assert_int_equal(dart_flows__of_packet(flows, i), dart_flows__of_packet(again, i));
	}
	assert_int_equal(equal, 0);
	dart_flows__free(flows);
	dart_flows__free(again);
	dart_flows__free(other);
}

static void test_same(void **state)
{
	check_same(DART_FLOWS_UNIFORM);
	check_same(DART_FLOWS_ZIPF);
	check_same(DART_FLOWS_FAT_TREE);
}

/* The row of a switch in a tree of 8 ports: 0 edge, 1 aggregation, 2 core. */
static int row(__be32 id)
{
	const uint8_t *bytes = (const uint8_t *)&id;

	assert_int_equal(bytes[0], 10);
	if (bytes[1] == 8) {
		assert_in_range(bytes[2], 1, 4);
		assert_in_range(bytes[3], 1, 4);
		return 2;
	}
	assert_in_range(bytes[1], 0, 7);
	assert_in_range(bytes[2], 0, 7);
	assert_int_equal(bytes[3], 1);
	return bytes[2] / 4;
}

/* Is there a cable between two switches of neighbouring rows? */
static bool is_cabled(__be32 lower, __be32 upper)
{
	const uint8_t *low = (const uint8_t *)&lower;
	const uint8_t *up = (const uint8_t *)&upper;

	if (row(upper) == 2)
		return low[2] - 4 == up[2] - 1;
	return low[1] == up[1];
}

static void test_tree_paths(void **state)
{
	struct dart_flows *flows = flows_of(DART_FLOWS_FAT_TREE, 8, COUNT, 9);
	uint64_t i, of_length[DART_FLOW_HOPS_MAX + 1] = { 0 };
	struct dart_flow flow;
	uint32_t hop;

	for (i = 0; i < COUNT; i++) {
		dart_flows__get(flows, i, &flow);
		of_length[flow.hops]++;
		/* A host and its switch differ in the last byte only. */
		assert_memory_equal(&flow.path[0], flow.key + 4, 3);
		assert_memory_equal(&flow.path[flow.hops - 1], flow.key, 3);
		assert_in_range(flow.key[3], 2, 5);
		assert_in_range(flow.key[7], 2, 5);
		for (hop = 0; hop < flow.hops; hop++)
			assert_int_equal(row(flow.path[hop]),
					 hop <= flow.hops / 2 ? hop : flow.hops - 1 - hop);
		for (hop = 0; hop < flow.hops / 2; hop++) {
			assert_true(is_cabled(flow.path[hop], flow.path[hop + 1]));
			assert_true(is_cabled(flow.path[flow.hops - 1 - hop],
					      flow.path[flow.hops - 2 - hop]));
		}
		for (hop = flow.hops; hop < DART_FLOW_HOPS_MAX; hop++)
			assert_int_equal(flow.path[hop], 0);
	}
	/* Of 127 other hosts 3 are at the same switch, 12 in the same pod. */
	assert_in_range(of_length[1], COUNT * 2 / 127, COUNT * 4 / 127);
	assert_in_range(of_length[3], COUNT * 11 / 127, COUNT * 13 / 127);
	assert_int_equal(of_length[1] + of_length[3] + of_length[5], COUNT);
	dart_flows__free(flows);
}

/* The ten most frequent flows show their expected frequency. */
static void check_zipf(double skew)
{
	const struct dart_flows_options options = {
		.kind = DART_FLOWS_ZIPF, .count = 1000, .skew = skew,
	};
	const uint64_t packets = 200000;
	uint64_t seen[1000] = { 0 }, packet;
	struct dart_flows *flows;
	double sum = 0;
	int rank;

	assert_int_equal(dart_flows__new(&options, &flows), 0);
	for (packet = 0; packet < packets; packet++) {
		uint64_t index = dart_flows__of_packet(flows, packet);

		assert_true(index < options.count);
		seen[index]++;
	}
	for (rank = 1; rank <= 1000; rank++)
		sum += pow(rank, -skew);
	for (rank = 1; rank <= 10; rank++) {
		double expected = pow(rank, -skew) / sum * packets;

		assert_true(fabs(seen[rank - 1] - expected) < 5 * sqrt(expected));
	}
	dart_flows__free(flows);
}

static void test_zipf(void **state)
{
	check_zipf(0.5);
	check_zipf(1);
	check_zipf(1.2);
	check_zipf(2);
}

static void test_refused(void **state)
{
	static const struct dart_flows_options refused[] = {
		{ .kind = DART_FLOWS_UNIFORM, .count = 0 },
		{ .kind = DART_FLOWS_UNIFORM, .count = UINT64_MAX },
		{ .kind = DART_FLOWS_ZIPF, .count = 1, .skew = 0 },
		{ .kind = DART_FLOWS_ZIPF, .count = 1, .skew = NAN },
		{ .kind = DART_FLOWS_ZIPF, .count = 1, .skew = 11 },
		{ .kind = DART_FLOWS_FAT_TREE, .count = 1, .k = 0 },
		{ .kind = DART_FLOWS_FAT_TREE, .count = 1, .k = 3 },
		{ .kind = DART_FLOWS_FAT_TREE, .count = 1, .k = 256 },
		{ .kind = DART_FLOWS_FAT_TREE, .count = 2 * 64512 + 1, .k = 2 },
	};
	enum dart_flows_kind kind;
	struct dart_flows *flows;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		assert_int_equal(dart_flows__new(&refused[i], &flows), -EINVAL);
	assert_int_equal(dart_flows_kind__find("fat-tree", &kind), 0);
	assert_int_equal(kind, DART_FLOWS_FAT_TREE);
	assert_int_equal(dart_flows_kind__find("fat", &kind), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("all generated flows of one set have different keys", test_distinct),
		TEST("the same seed generates the same flows and packets, another seed other flows",
		     test_same),
		TEST("paths of fat-tree flows follow cables of the tree, with its share of each length",
		     test_tree_paths),
		TEST("packets of Zipf flows are as frequent as their rank and skew say", test_zipf),
		TEST("counts, skews, ports and kinds of flows that cannot exist are refused",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
