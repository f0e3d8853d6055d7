// SPDX-License-Identifier: GPL-2.0-only
/* Steps of a push of a sketch to a switch, each of which is known, and sketches that it refuses. */
#include <errno.h>

#include "selftests/unit/dartctl/switch/kept_push.h"
#include "tools/dartctl/switch/sketches/state.h"

struct push {
	struct sketch_wish wish;
	struct sketch_state now, wanted;
	struct switch_steps steps;
};

static void push__begin(struct push *push)
{
	*push = (struct push){
		.wish = {
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
			.port = 3,
		},
		/* 3.5 s after period 170000000 began; the switch was started 2 s before */
		.now = { .time_us = 1700000003500000, .up_us = 2000000 },
	};
}

static void push__plan(struct push *push)
{
	push->wanted = (struct sketch_state){};
	sketch_state__want(&push->wish, &push->now, &push->wanted);
	assert_int_equal(sketch_state__compute(&push->now, &push->wanted, &push->steps), 0);
}

/* Continues with a switch that followed all steps, a minute later. */
static void push__settle(struct push *push)
{
	push->now = push->wanted;
	push->now.time_us = 1700000063500000;
	push->now.up_us = 62000000;
	push__plan(push);
	assert_int_equal(push->steps.count, 0);
}

static void test_first_push(void **state)
{
	struct push push;

	push__begin(&push);
	push__plan(&push);
	EXPECT(&push, { SWITCH_ADD, SKETCH_SESSION, 3, 3 }, { SWITCH_ADD, SKETCH_COLLECTOR, 0, 0 },
	       { SWITCH_CHANGE, SKETCH_PSN, 0, 0 }, { SWITCH_ADD, SKETCH_SKETCHER, 0, 0 });
	assert_int_equal(push.wanted.collector.values[SKETCH_MASK], 0xfff);
	assert_int_equal(push.wanted.sketcher.values[SKETCHER_KIND], 1);
	assert_int_equal(push.wanted.sketcher.values[SKETCHER_FIRST], 170000000);
	/* 1.5 s before the switch */
	assert_true(push.wanted.sketcher.values[SKETCHER_BEGIN] == (UINT64_C(1) << 48) - 1500000);
	assert_int_equal(push.wanted.sketcher.values[SKETCHER_LENGTH], 10000000);
	assert_int_equal(push.wanted.first_psn.values[0], 5);
	push__settle(&push);
	assert_int_equal(push.wanted.sketcher.values[SKETCHER_FIRST], 170000000);
	switch_steps__free(&push.steps);
}

static void test_changes(void **state)
{
	struct push push;

	push__begin(&push);
	push__plan(&push);
	push__settle(&push);
	push.wish.target.collector.base += 0x10000;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, SKETCH_COLLECTOR, 0, 0 });
	push__settle(&push);
	push.wish.target.collector.qpn++;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, SKETCH_COLLECTOR, 0, 0 },
	       { SWITCH_CHANGE, SKETCH_PSN, 0, 0 });
	push__settle(&push);
	push.wish.target.collector.epoch++;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, SKETCH_PSN, 0, 0 },
	       { SWITCH_CHANGE, SKETCH_SKETCHER, 0, 0 });
	switch_steps__free(&push.steps);
}

static void test_clock(void **state)
{
	struct push push;

	push__begin(&push);
	push__plan(&push);
	push__settle(&push);
	/* A tenth of a period is as good as none. */
	push.now.time_us += 1000000;
	push__plan(&push);
	assert_int_equal(push.steps.count, 0);
	push.now.time_us += 1;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, SKETCH_SKETCHER, 0, 0 },
	       { SWITCH_CHANGE, SKETCH_PERIOD, 0, 0 });
	assert_int_equal(push.wanted.sketcher.values[SKETCHER_FIRST], 170000006);
	assert_int_equal(push.wanted.sketcher.values[SKETCHER_BEGIN], 62000000 - 4500001);
	assert_int_equal(push.wanted.period.values[0], 0);
	push.now.time_us -= 3600000001;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, SKETCH_SKETCHER, 0, 0 },
	       { SWITCH_CHANGE, SKETCH_PERIOD, 0, 0 });
	switch_steps__free(&push.steps);
}

static void test_refused(void **state)
{
	struct dart_error error;
	struct push push;

	push__begin(&push);
	assert_int_equal(sketch_state__check(&push.wish, &push.now, &error), 0);
	push.wish.target.geometry.rows = 3;
	assert_int_equal(sketch_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.rows = 4;
	push.wish.target.geometry.columns_log2 = 13;
	assert_int_equal(sketch_state__check(&push.wish, &push.now, &error), -EINVAL);
	assert_string_equal(error.text,
			    "the sketch has 8192 columns, but a switch has room for 4096");
	push.wish.target.geometry.columns_log2 = 12;
	push__plan(&push);
	push__settle(&push);
	push.wish.target.geometry.columns_log2 = 11;
	assert_int_equal(sketch_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.columns_log2 = 12;
	push.wish.target.geometry.kind = DART_SKETCH_COUNT_MIN;
	assert_int_equal(sketch_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.kind = DART_SKETCH_COUNT_SKETCH;
	push.wish.target.geometry.period = 20;
	assert_int_equal(sketch_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.period = 10;
	push.wish.target.collector.reporter.s_addr = htonl(0x0a000003);
	assert_int_equal(sketch_state__check(&push.wish, &push.now, &error), -EINVAL);
	switch_steps__free(&push.steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first push sets the periods, the sketcher last, and a second one has no steps",
		     test_first_push),
		TEST("another queue pair gets its first PSN, and other memory does not",
		     test_changes),
		TEST("a clock that was set gives the switch other periods", test_clock),
		TEST("a sketch of another size, kind or period, and another sketcher are refused",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
