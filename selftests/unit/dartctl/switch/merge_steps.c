// SPDX-License-Identifier: GPL-2.0-only
/* Steps of a push of a translator of sketches to a switch, and sketches that it refuses. */
#include <errno.h>

#include "selftests/unit/dartctl/switch/kept_push.h"
#include "tools/dartctl/switch/sketches/merge_state.h"

struct push {
	struct merge_wish wish;
	struct merge_state now, wanted;
	struct switch_steps steps;
};

static void push__begin(struct push *push)
{
	*push = (struct push){
		.wish = {
			.sketchers = {
				.target = {
					.collector = kept_collector("flows"),
					.geometry = {
						.parts = 1,
						.kind = DART_SKETCH_COUNT_SKETCH,
						.rows = 4,
						.columns_log2 = 12,
						.period = 10,
					},
				},
				.count = 2,
				.sources = {
					{ { htonl(0x0a000010) }, 20 },
					{ { htonl(0x0a000011) }, 21 },
				},
			},
			.age_us = 50000,
			.port = 3,
		},
	};
}

static void push__plan(struct push *push)
{
	push->wanted = (struct merge_state){};
	merge_state__want(&push->wish, &push->wanted);
	assert_int_equal(merge_state__compute(&push->now, &push->wanted, &push->steps), 0);
}

/* Continues with a switch that followed all steps. */
static void push__settle(struct push *push)
{
	push->now = push->wanted;
	push__plan(push);
	assert_int_equal(push->steps.count, 0);
}

static void test_first_push(void **state)
{
	const uint64_t *values;
	struct push push;

	push__begin(&push);
	push__plan(&push);
	EXPECT(&push, { SWITCH_ADD, MERGE_SESSION, 3, 3 }, { SWITCH_ADD, MERGE_COLLECTOR, 0, 0 },
	       { SWITCH_CHANGE, MERGE_PSN, 0, 0 }, { SWITCH_ADD, MERGE_TRANSLATOR, 0, 0 },
	       { SWITCH_ADD, MERGE_SKETCHER, 0, 0 }, { SWITCH_ADD, MERGE_SKETCHER, 1, 1 });
	assert_int_equal(push.wanted.collector.values[MERGE_MASK], 0xff);
	values = push.wanted.translator.values;
	assert_int_equal(values[TRANSLATOR_KIND], 1);
	assert_int_equal(values[TRANSLATOR_SKETCHERS], 3);
	assert_int_equal(values[TRANSLATOR_AGE], 50000);
	assert_int_equal(values[TRANSLATOR_FORGET], 20000000);
	assert_true(push.wanted.sketchers[1].key == 0x0a000011000015);
	assert_int_equal(push.wanted.first_psn.values[0], 5);
	push__settle(&push);
	switch_steps__free(&push.steps);
}

static void test_changes(void **state)
{
	struct push push;

	push__begin(&push);
	push__plan(&push);
	push__settle(&push);
	push.wish.sketchers.target.collector.base += 0x10000;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, MERGE_COLLECTOR, 0, 0 });
	push__settle(&push);
	push.wish.sketchers.target.collector.qpn++;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, MERGE_COLLECTOR, 0, 0 }, { SWITCH_CHANGE, MERGE_PSN, 0, 0 });
	push__settle(&push);
	push.wish.sketchers.target.collector.epoch++;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, MERGE_PSN, 0, 0 },
	       { SWITCH_CHANGE, MERGE_TRANSLATOR, 0, 0 });
	push__settle(&push);
	push.wish.sketchers.sources[0].qpn++;
	push__plan(&push);
	EXPECT(&push, { SWITCH_REMOVE, MERGE_SKETCHER, 0, 0 },
	       { SWITCH_ADD, MERGE_SKETCHER, 0, 0 });
	switch_steps__free(&push.steps);
}

static void test_refused(void **state)
{
	struct dart_sketch_geometry *geometry;
	struct sketchers *sketchers;
	struct dart_error error;
	struct push push;

	push__begin(&push);
	sketchers = &push.wish.sketchers;
	geometry = &sketchers->target.geometry;
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), 0);
	geometry->rows = 3;
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), -EINVAL);
	geometry->rows = 4;
	geometry->columns_log2 = 13;
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), -EINVAL);
	geometry->columns_log2 = 12;
	push__plan(&push);
	push__settle(&push);
	geometry->columns_log2 = 11;
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), -EINVAL);
	geometry->columns_log2 = 12;
	geometry->kind = DART_SKETCH_COUNT_MIN;
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), -EINVAL);
	geometry->kind = DART_SKETCH_COUNT_SKETCH;
	sketchers->target.collector.reporter.s_addr = htonl(0x0a000003);
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), -EINVAL);
	sketchers->target.collector.reporter.s_addr = htonl(0x0a000002);
	sketchers->count = 1;
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), -EINVAL);
	assert_string_equal(error.text,
			    "it adds up the strips of other sketchers (restart the switch first)");
	sketchers->count = 2;
	sketchers->sources[1].address.s_addr = htonl(0x0a000012);
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), -EINVAL);
	/* A sketcher may get another queue pair. */
	sketchers->sources[1].address.s_addr = htonl(0x0a000011);
	sketchers->sources[1].qpn = 99;
	assert_int_equal(merge_state__check(&push.wish, &push.now, &error), 0);
	switch_steps__free(&push.steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first push adds the sketchers last, and a second one has no steps",
		     test_first_push),
		TEST("other queue pairs begin anew, and other memory does not", test_changes),
		TEST("a sketch of another size or kind, another translator and other sketchers are refused",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
