// SPDX-License-Identifier: GPL-2.0-only
/* How the entries of a scrape are divided among requests. */
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/read_plan.h>
#include <libdart/rpc/plan.h>

#include "selftests/unit/unit.h"

#define ENTRIES 12
#define KIB 1024
#define ANSWER_MAX (4 << 20)	/* bytes that a request of some entries asks for */

static const uint32_t kib[ENTRIES] = {
	1536, 1536, 1536, 1024, 64, 6144, 64, 1536, 2560, 1, 4096, 4096,
};

static struct dart_range ranges[ENTRIES];
static struct dart_entry entries[ENTRIES];
static struct dart_memory_region region = { .rkey = 1 };
static struct dart_table table = {
	.generation = 5, .instance = 7,
	.memory_regions = &region, .memory_region_count = 1,
	.entries = entries, .entry_count = ENTRIES,
};
static struct dart_schema *schema;

static uint32_t size_of(uint32_t entry)
{
	return kib[entry] * KIB;
}

/* Adjacent entries; after the eighth entry a place is empty. */
static void make_table(void)
{
	uint32_t i;

	schema = dart_schema__new("bytes", KIB);
	assert_non_null(schema);
	region.address = 1 << 20;
	for (i = 0; i < ENTRIES; i++) {
		ranges[i] = (struct dart_range){
			.address = region.address + region.length,
			.stride = KIB, .copies = kib[i], .length = KIB,
		};
		region.length += size_of(i);
		entries[i] = (struct dart_entry){
			.name = "entry", .schema = schema,
			.kind = DART_CONTROL_ENTRY_MAP,
			.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
			.copies_are = DART_CONTROL_COPIES_ROW,
			.copies = kib[i],
			.ranges = &ranges[i], .range_count = 1,
			.place = i < 8 ? i : i + 1,
		};
	}
}

/* Lands the agent's answer: all bytes of an entry equal its number. */
static void answer(struct dart_rpc_landing *landing,
		   const struct dart_rpc_message *request, uint32_t *next)
{
	static uint8_t bytes[6144 * KIB], header[sizeof(struct dart_control_header)];
	uint32_t i, j, sum = 0, count = 0;
	struct dart_rpc_entries run;

	for (i = 0; i < request->values.runs; i++) {
		run = dart_rpc_message__run(request, i);
		for (j = 0; j < run.count; j++, count++, ++*next) {
			assert_in_range(*next, 0, ENTRIES - 1);
			assert_int_equal(run.first + j, entries[*next].place);
			memset(bytes, *next + 1, size_of(*next));
			assert_int_equal(dart_rpc_landing__take(landing, bytes, size_of(*next)), 0);
			sum += size_of(*next);
		}
	}
	assert_int_equal(dart_rpc_landing__take(landing, header, sizeof(header)), 0);
	assert_true(dart_rpc_landing__is_whole(landing));
	assert_true(sum <= ANSWER_MAX || count == 1);
}

static void test_divided(void **state)
{
	struct dart_rpc_landing landing;
	struct dart_rpc_message request;
	struct dart_read_plan *reads;
	struct dart_rpc_plan *plan;
	uint32_t i, next = 0, requests = 0;
	struct dart_error error;
	uint8_t bytes[4096], *memory, *landed;
	size_t length;

	make_table();
	assert_int_equal(dart_read_plan__new(&table, NULL, 0, &reads), 0);
	assert_int_equal(dart_rpc_plan__new(&table, reads, NULL, 0, &plan), 0);
	memory = malloc(dart_rpc_plan__landing_size(plan));
	assert_non_null(memory);
	dart_rpc_landing__begin(&landing, plan, memory);
	do {
		length = dart_rpc_landing__put_request(&landing, 1, bytes);
		assert_int_equal(dart_rpc_message__decode(bytes, length, &request, &error), 0);
		answer(&landing, &request, &next);
		requests++;
	} while (dart_rpc_landing__advance(&landing));
	assert_int_equal(next, ENTRIES);
	/* 0-1, 2-4, 5, 6-7, 8-9, 10, 11 */
	assert_int_equal(requests, 7);
	for (i = 0; i < ENTRIES; i++) {
		landed = memory + dart_read_plan__place(reads, &ranges[i]);
		assert_int_equal(landed[0], i + 1);
		assert_int_equal(landed[size_of(i) - 1], i + 1);
	}
	free(memory);
	dart_rpc_plan__free(plan);
	dart_read_plan__free(reads);
	dart_schema__free(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an answer has at most 4 MiB, or one entry that is larger", test_divided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
