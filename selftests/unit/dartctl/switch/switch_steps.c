// SPDX-License-Identifier: GPL-2.0-only
/* Steps of a push to a switch, in cases of which each step is known. */
#include "switch_push.h"

/* Continues with a switch that followed all steps. */
static void settle(struct push *push)
{
	free(push->now);
	push->now = push->wanted;
	push->wanted = NULL;
	push__plan(push);
}

static bool plan_is(const struct push *push, uint32_t count, const struct switch_step *steps)
{
	return push->steps.count == count &&
	       !memcmp(push->steps.list, steps, count * sizeof(*steps));
}

#define PLAN_IS(push, ...) plan_is(push, \
	sizeof((struct switch_step[]){ __VA_ARGS__ }) / \
		sizeof(struct switch_step), \
	(struct switch_step[]){ __VA_ARGS__ })

static void test_first_push(void **state)
{
	struct push *push = push__new(2);
	const uint64_t *values;

	push__plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_CHANGE, REPORT_PSN, 0, 0 },
		{ SWITCH_ADD, REPORT_COLLECTOR, 0, 0 },
		{ SWITCH_CHANGE, REPORT_PSN, 1, 1 },
		{ SWITCH_ADD, REPORT_COLLECTOR, 1, 1 },
		{ SWITCH_ADD, REPORT_SESSION, 0, 0 },
		{ SWITCH_ADD, REPORT_SESSION, 1, 1 },
		{ SWITCH_ADD, REPORT_REPORTER, 0, 0 },
		{ SWITCH_ADD, REPORT_SHARE, 0, 511 },
		{ SWITCH_ADD, REPORT_SHARE, 512, 1023 }));
	values = push->wanted->reporter.values;
	assert_true(values[REPORTER_MAC] == 0x02000a000002);
	assert_int_equal(values[REPORTER_IP], 0x0a000002);
	assert_int_equal(values[REPORTER_CHECKSUM_BYTES], 4);
	assert_int_equal(values[REPORTER_ALL_COPIES], 0);
	values = push->wanted->collectors[1].values;
	assert_true(values[COLLECTOR_MAC] == 0x525400000101);
	assert_int_equal(values[COLLECTOR_IP], 0x0a000101);
	assert_int_equal(values[COLLECTOR_QPN], 18);
	assert_int_equal(values[COLLECTOR_RKEY], 0x1001);
	assert_true(values[COLLECTOR_BASE] == 0x3a5f00000000);
	assert_int_equal(values[COLLECTOR_MASK], 0xfffff);
	assert_int_equal(values[COLLECTOR_REDUNDANCY], 2);
	assert_int_equal(push->wanted->first_psns[1].values[0], 5);
	assert_int_equal(push->wanted->shares[512].values[SHARE_SESSION], 2);
	settle(push);
	assert_int_equal(push->steps.count, 0);
	push__free(push);
}

static void test_translator(void **state)
{
	struct push *push = push__new(1);
	const uint64_t *values;

	push->wish.translation = (struct report_translation){ 5001, 1 << 10, 50000 };
	push__plan(push);
	/* The switch gathers nothing before it can report. */
	assert_true(PLAN_IS(push,
		{ SWITCH_CHANGE, REPORT_PSN, 0, 0 },
		{ SWITCH_ADD, REPORT_COLLECTOR, 0, 0 },
		{ SWITCH_ADD, REPORT_SESSION, 0, 0 },
		{ SWITCH_ADD, REPORT_REPORTER, 0, 0 },
		{ SWITCH_ADD, REPORT_SHARE, 0, 1023 },
		{ SWITCH_ADD, REPORT_TRANSLATION, 0, 0 }));
	values = push->wanted->translation.values;
	assert_int_equal(values[TRANSLATION_PORT], 5001);
	assert_int_equal(values[TRANSLATION_MASK], 0x3ff);
	assert_int_equal(values[TRANSLATION_AGE], 50000);
	settle(push);
	assert_int_equal(push->steps.count, 0);
	push->wish.translation.age_us = 60000;
	push__plan(push);
	assert_true(PLAN_IS(push, { SWITCH_CHANGE, REPORT_TRANSLATION, 0, 0 }));
	push__free(push);
}

static void test_new_key(void **state)
{
	struct push *push = push__new(2);

	push__plan(push);
	settle(push);
	push->list[1].rkey++;
	push->list[1].base += 0x200000;
	push->list[1].geometry.redundancy = 1;
	push__plan(push);
	/* The queue pair keeps its PSN, and no report is lost meanwhile. */
	assert_true(PLAN_IS(push, { SWITCH_CHANGE, REPORT_COLLECTOR, 1, 1 }));
	settle(push);
	push->list[1].qpn++;
	push__plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_CHANGE, REPORT_PSN, 2, 2 },
		{ SWITCH_ADD, REPORT_COLLECTOR, 2, 2 },
		{ SWITCH_CHANGE, REPORT_SHARE, 512, 1023 },
		{ SWITCH_REMOVE, REPORT_COLLECTOR, 1, 1 }));
	push__free(push);
}

static void test_numbers(void **state)
{
	struct push *push = push__new(3);

	push__plan(push);
	settle(push);
	push->list[0] = push->list[2];
	push->wish.ports[0] = push->wish.ports[2];
	push->wish.collectors.count = 2;
	push->list[1].ip.s_addr = htonl(0x0a000177);
	memset(push->wish.collectors.shares, 0, sizeof(push->wish.collectors.shares));
	push->wish.collectors.shares[7] = 1;
	push->wish.collectors.shares[8] = DART_COLLECTOR_NONE;
	push__plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, REPORT_SHARE, 8, 8 },
		{ SWITCH_CHANGE, REPORT_PSN, 3, 3 },
		{ SWITCH_ADD, REPORT_COLLECTOR, 3, 3 },
		{ SWITCH_CHANGE, REPORT_SHARE, 0, 6 },
		{ SWITCH_CHANGE, REPORT_SHARE, 7, 7 },
		{ SWITCH_CHANGE, REPORT_SHARE, 9, 682 },
		{ SWITCH_REMOVE, REPORT_COLLECTOR, 0, 0 },
		{ SWITCH_REMOVE, REPORT_COLLECTOR, 1, 1 }));
	push__free(push);
}

/* Two stores of one machine. */
static void test_other_order(void **state)
{
	struct push *push = push__new(2);
	struct dart_collector first;
	uint32_t share;

	push->list[1].ip = push->list[0].ip;
	push->wish.ports[1] = push->wish.ports[0];
	push__plan(push);
	settle(push);
	first = push->list[0];
	push->list[0] = push->list[1];
	push->list[1] = first;
	for (share = 0; share < DART_STORE_SHARES; share++)
		push->wish.collectors.shares[share] ^= 1;
	push__plan(push);
	assert_int_equal(push->steps.count, 0);
	push__free(push);
}

static void test_reporter(void **state)
{
	struct push *push = push__new(1);

	push__plan(push);
	settle(push);
	push->wish.all_copies = true;
	push__plan(push);
	assert_true(PLAN_IS(push, { SWITCH_CHANGE, REPORT_REPORTER, 0, 0 }));
	settle(push);
	push->list[0].geometry.checksum_bits = 64;
	push__plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, REPORT_SHARE, 0, 1023 },
		{ SWITCH_CHANGE, REPORT_REPORTER, 0, 0 },
		{ SWITCH_ADD, REPORT_SHARE, 0, 1023 }));
	settle(push);
	push->list[0].geometry.checksum_bits = 8;
	push->list[0].qpn++;
	push__plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, REPORT_SHARE, 0, 1023 },
		{ SWITCH_REMOVE, REPORT_COLLECTOR, 0, 0 },
		{ SWITCH_CHANGE, REPORT_PSN, 1, 1 },
		{ SWITCH_ADD, REPORT_COLLECTOR, 1, 1 },
		{ SWITCH_CHANGE, REPORT_REPORTER, 0, 0 },
		{ SWITCH_ADD, REPORT_SHARE, 0, 1023 }));
	push__free(push);
}

static void test_most_collectors(void **state)
{
	struct push *push = push__new(SWITCH_HOSTS_MAX);
	uint32_t i;

	push__plan(push);
	assert_int_equal(push->steps.count, 4 * SWITCH_HOSTS_MAX + 1);
	settle(push);
	/* All collectors change, and no number is unused. */
	for (i = 0; i < SWITCH_HOSTS_MAX; i++)
		push->list[i].ip.s_addr = htonl(0x0a000200 + i);
	push__plan(push);
	assert_int_equal(push->steps.count, 1 + 2 * SWITCH_HOSTS_MAX + SWITCH_HOSTS_MAX);
	push__free(push);
}

static void test_room(void **state)
{
	struct push *push = push__new(SWITCH_HOSTS_MAX);
	struct switch_entry *other;

	push->wish.collectors.count--;
	memset(push->wish.collectors.shares, 0, sizeof(push->wish.collectors.shares));
	push__plan(push);
	settle(push);
	other = &push->now->collectors[SWITCH_HOSTS_MAX];
	*other = push->now->collectors[0];
	push->now->shares[9].values[SHARE_COLLECTOR] = SWITCH_HOSTS_MAX;
	push->wish.collectors.count++;
	push__plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, REPORT_SHARE, 9, 9 },
		{ SWITCH_REMOVE, REPORT_COLLECTOR, 64, 64 },
		{ SWITCH_CHANGE, REPORT_PSN, 63, 63 },
		{ SWITCH_ADD, REPORT_COLLECTOR, 63, 63 },
		{ SWITCH_ADD, REPORT_SESSION, 63, 63 },
		{ SWITCH_ADD, REPORT_SHARE, 9, 9 }));
	push__free(push);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first push writes each PSN before its collector and shares last, and a second one has no steps",
		     test_first_push),
		TEST("a switch that gathers postcards begins last", test_translator),
		TEST("a new rkey, base or redundancy changes the collector alone, and a new queue pair gets a new number",
		     test_new_key),
		TEST("collectors that stay keep their numbers, and a new one gets an unused number",
		     test_numbers),
		TEST("the same collectors in another order need no steps", test_other_order),
		TEST("a new checksum width stops all shares while it changes, sending all copies does not",
		     test_reporter),
		TEST("64 collectors can be replaced by 64 others though no number is unused",
		     test_most_collectors),
		TEST("a full table loses the surplus collector before a new one is added",
		     test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
