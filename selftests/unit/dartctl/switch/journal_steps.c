// SPDX-License-Identifier: GPL-2.0-only
/* Steps of a push of a journal to a switch, each of which is known, and journals that it refuses. */
#include <errno.h>

#include "selftests/unit/dartctl/switch/kept_push.h"
#include "tools/dartctl/switch/journals/state.h"

struct push {
	struct journal_wish wish;
	struct journal_state now, wanted;
	struct switch_steps steps;
};

static void push__begin(struct push *push)
{
	*push = (struct push){
		.wish = {
			.target = {
				.collector = kept_collector("events"),
				.geometry = {
					.lists_log2 = 6,
					.batches_log2 = 20,
					.batch_log2 = 8,
					.entry_length = 41,
				},
			},
			.port = 3,
		},
		/* 1700000000.5, as in <dart/journal.h>; the switch was started 2 s before */
		.now = { .time_us = 1700000000500000, .up_us = 2000000 },
	};
}

static void push__plan(struct push *push)
{
	push->wanted = (struct journal_state){};
	journal_state__want(&push->wish, &push->now, &push->wanted);
	assert_int_equal(journal_state__compute(&push->now, &push->wanted, &push->steps), 0);
}

/* Continues with a switch that followed all steps, a minute later. */
static void push__settle(struct push *push)
{
	push->now = push->wanted;
	push->now.time_us = 1700000060500000;
	push->now.up_us = 62000000;
	push__plan(push);
	assert_int_equal(push->steps.count, 0);
}

static void test_first_push(void **state)
{
	struct push push;

	push__begin(&push);
	push__plan(&push);
	EXPECT(&push, { SWITCH_ADD, JOURNAL_SESSION, 3, 3 },
	       { SWITCH_ADD, JOURNAL_COLLECTOR, 0, 0 }, { SWITCH_CHANGE, JOURNAL_PSN, 0, 0 },
	       { SWITCH_ADD, JOURNAL_APPENDER, 0, 0 });
	assert_int_equal(push.wanted.collector.values[JOURNAL_PLACES_MASK], 0xfffff);
	assert_int_equal(push.wanted.collector.values[JOURNAL_LISTS_MASK], 0x3f);
	assert_true(push.wanted.appender.values[APPENDER_START] == 0x6553f1008000);
	assert_true(push.wanted.appender.values[APPENDER_BOOT] == 1699999998500000);
	assert_int_equal(push.wanted.first_psn.values[0], 5);
	push__settle(&push);
	assert_true(push.wanted.appender.values[APPENDER_START] == 0x6553f1008000);
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
	EXPECT(&push, { SWITCH_CHANGE, JOURNAL_COLLECTOR, 0, 0 });
	push__settle(&push);
	push.wish.target.collector.qpn++;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, JOURNAL_COLLECTOR, 0, 0 },
	       { SWITCH_CHANGE, JOURNAL_PSN, 0, 0 });
	push__settle(&push);
	push.wish.target.collector.epoch++;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, JOURNAL_PSN, 0, 0 },
	       { SWITCH_CHANGE, JOURNAL_APPENDER, 0, 0 });
	switch_steps__free(&push.steps);
}

static void test_refused(void **state)
{
	struct dart_error error;
	struct push push;

	push__begin(&push);
	assert_int_equal(journal_state__check(&push.wish, &push.now, &error), 0);
	push.wish.target.geometry.batch_log2 = 9;
	assert_int_equal(journal_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.batch_log2 = 8;
	push.wish.target.geometry.entry_length = 42;
	assert_int_equal(journal_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.entry_length = 41;
	push.wish.target.geometry.lists_log2 = 7;
	assert_int_equal(journal_state__check(&push.wish, &push.now, &error), -EINVAL);
	assert_string_equal(error.text,
			    "the journal has 128 lists, but a switch has room for 64");
	push.wish.target.geometry.lists_log2 = 6;
	push__plan(&push);
	push__settle(&push);
	push.wish.target.geometry.batches_log2 = 19;
	assert_int_equal(journal_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.batches_log2 = 20;
	push.wish.target.collector.reporter.s_addr = htonl(0x0a000003);
	assert_int_equal(journal_state__check(&push.wish, &push.now, &error), -EINVAL);
	switch_steps__free(&push.steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first push sets start and clock, the appender last, and a second one has no steps",
		     test_first_push),
		TEST("another queue pair gets its first PSN, and other memory does not",
		     test_changes),
		TEST("a journal of another size, of other batches or lists, and another appender are refused",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
