// SPDX-License-Identifier: GPL-2.0-only
/* Steps of a push of a ledger to a switch, each of which is known, and ledgers that it refuses. */
#include <errno.h>

#include "selftests/unit/dartctl/switch/kept_push.h"
#include "tools/dartctl/switch/ledgers/state.h"

struct push {
	struct ledger_wish wish;
	struct ledger_state now, wanted;
	struct switch_steps steps;
};

static void push__begin(struct push *push)
{
	*push = (struct push){
		.wish = {
			.target = {
				.collector = kept_collector("flows"),
				.geometry = { .rows = 2, .words_log2 = 28 },
			},
			.port = 3,
		},
	};
}

static void push__plan(struct push *push)
{
	push->wanted = (struct ledger_state){};
	ledger_state__want(&push->wish, &push->wanted);
	assert_int_equal(ledger_state__compute(&push->now, &push->wanted, &push->steps), 0);
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
	struct push push;

	push__begin(&push);
	push__plan(&push);
	EXPECT(&push, { SWITCH_ADD, LEDGER_SESSION, 3, 3 }, { SWITCH_ADD, LEDGER_COLLECTOR, 0, 0 },
	       { SWITCH_START, LEDGER_QUEUE_PAIR, 0, 0 }, { SWITCH_ADD, LEDGER_ADDER, 0, 0 });
	assert_true(push.wanted.collector.values[LEDGER_MAC] == 0x525400000001);
	assert_int_equal(push.wanted.collector.values[LEDGER_MASK], 0xfffffff);
	assert_int_equal(push.wanted.collector.values[LEDGER_TO_SESSION], 4);
	assert_true(push.wanted.adder.values[ADDER_MAC] == 0x02000a000002);
	assert_int_equal(push.wanted.first_psn, 5);
	push__settle(&push);
	switch_steps__free(&push.steps);
}

/* Each of these makes the queue pair another one, and nothing else does. */
static void test_other_queue_pair(void **state)
{
	struct push push;
	int i;

	push__begin(&push);
	push__plan(&push);
	push__settle(&push);
	for (i = 0; i < 5; i++) {
		struct dart_collector *collector = &push.wish.target.collector;

		collector->ip.s_addr += i == 0 ? htonl(1) : 0;
		collector->qpn += i == 1;
		collector->rkey += i == 2;
		collector->base += i == 3 ? 8 : 0;
		collector->epoch += i == 4;
		push__plan(&push);
		assert_int_equal(push.steps.count, 3);
		assert_int_equal(push.steps.list[0].verb, SWITCH_STOP);
		assert_int_equal(push.steps.list[i < 4 ? 2 : 1].verb, SWITCH_START);
		push__settle(&push);
	}
	push.wish.target.collector.mac[5]++;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, LEDGER_COLLECTOR, 0, 0 });
	push.now.is_stopped = true;
	push__plan(&push);
	EXPECT(&push, { SWITCH_CHANGE, LEDGER_COLLECTOR, 0, 0 },
	       { SWITCH_START, LEDGER_QUEUE_PAIR, 0, 0 });
	switch_steps__free(&push.steps);
}

/* A push that ended after any of its steps is completed by the next one. */
static void test_interrupted(void **state)
{
	struct push push;

	push__begin(&push);
	push__plan(&push);
	push.now = push.wanted;
	push.now.adder.there = false;
	push__plan(&push);
	EXPECT(&push, { SWITCH_STOP, LEDGER_QUEUE_PAIR, 0, 0 },
	       { SWITCH_START, LEDGER_QUEUE_PAIR, 0, 0 }, { SWITCH_ADD, LEDGER_ADDER, 0, 0 });
	push.now.has_begun = false;
	push__plan(&push);
	EXPECT(&push, { SWITCH_START, LEDGER_QUEUE_PAIR, 0, 0 },
	       { SWITCH_ADD, LEDGER_ADDER, 0, 0 });
	switch_steps__free(&push.steps);
}

static void test_refused(void **state)
{
	struct dart_error error;
	struct push push;

	push__begin(&push);
	assert_int_equal(ledger_state__check(&push.wish, &push.now, &error), 0);
	push__plan(&push);
	push__settle(&push);
	push.wish.target.collector.qpn++;
	assert_int_equal(ledger_state__check(&push.wish, &push.now, &error), 0);
	push.wish.target.geometry.rows = 3;
	assert_int_equal(ledger_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.rows = 2;
	push.wish.target.geometry.words_log2 = 27;
	assert_int_equal(ledger_state__check(&push.wish, &push.now, &error), -EINVAL);
	push.wish.target.geometry.words_log2 = 28;
	push.wish.counts_bytes = true;
	assert_int_equal(ledger_state__check(&push.wish, &push.now, &error), -EINVAL);
	assert_string_equal(error.text,
			    "it counts packets, which would be mixed with bytes (restart the switch first)");
	push.wish.counts_bytes = false;
	push.wish.target.collector.reporter.s_addr = htonl(0x0a000003);
	assert_int_equal(ledger_state__check(&push.wish, &push.now, &error), -EINVAL);
	switch_steps__free(&push.steps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first push sets the adder last, and a second one has no steps",
		     test_first_push),
		TEST("another queue pair, also one of another epoch, is entered while the switch is stopped; other changes are not",
		     test_other_queue_pair),
		TEST("a push that ended before its last step is completed by the next one",
		     test_interrupted),
		TEST("a ledger of another size, another adder and other units are refused",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
