// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a switch is told, step by step: on the way no report goes to a wrong place,
 * and in the end it has what it should have.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/dartctl/switch/steps.h"

#define ROUNDS	3000
#define SEED	0x5eed

/* Everything of one push; what is not said is the same in all of them. */
struct push {
	struct dart_collector list[DART_COLLECTORS_MAX];
	struct switch_wish wish;
	struct switch_state *now, *wanted;
	struct switch_plan plan;
};

static struct push *push_new(uint32_t count)
{
	struct push *push = calloc(1, sizeof(*push));
	uint32_t i;

	assert_non_null(push);
	push->now = switch_state__new();
	push->wish.collectors.list = push->list;
	push->wish.collectors.count = count;
	for (i = 0; i < count; i++) {
		push->list[i] = (struct dart_collector){
			.reporter.s_addr = htonl(0x0a000002),
			.mac = { 0x52, 0x54, 0, 0, 1, i },
			.ip.s_addr = htonl(0x0a000100 + i),
			.qpn = 17 + i,
			.rkey = 0x1000 + i,
			.first_psn = 5 * i,
			.base = UINT64_C(0x3a5f00000000),
			.geometry = { 1 << 20, 20, 32, 2 },
		};
		push->wish.ports[i] = i;
	}
	for (i = 0; i < DART_STORE_SHARES; i++)
		push->wish.collectors.shares[i] = i * count /
						  DART_STORE_SHARES;
	return push;
}

static void make_plan(struct push *push)
{
	free(push->wanted);
	push->wanted = switch_state__want(&push->wish, push->now);
	assert_non_null(push->wanted);
	switch_plan__make(push->now, push->wanted, &push->plan);
}

/* As if the switch had been told. */
static void settle(struct push *push)
{
	free(push->now);
	push->now = push->wanted;
	push->wanted = NULL;
	make_plan(push);
}

static void push_free(struct push *push)
{
	free(push->now);
	free(push->wanted);
	free(push);
}

static bool plan_is(const struct push *push, uint32_t count,
		    const struct switch_step *steps)
{
	return push->plan.count == count &&
	       !memcmp(push->plan.steps, steps, count * sizeof(*steps));
}

#define PLAN_IS(push, ...) plan_is(push, \
	sizeof((struct switch_step[]){ __VA_ARGS__ }) / \
		sizeof(struct switch_step), \
	(struct switch_step[]){ __VA_ARGS__ })

static void test_first_push(void **state)
{
	struct push *push = push_new(2);
	const uint64_t *values;

	make_plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_CHANGE, SWITCH_STEP_PSN, 0, 0 },
		{ SWITCH_ADD, SWITCH_STEP_COLLECTOR, 0, 0 },
		{ SWITCH_CHANGE, SWITCH_STEP_PSN, 1, 1 },
		{ SWITCH_ADD, SWITCH_STEP_COLLECTOR, 1, 1 },
		{ SWITCH_ADD, SWITCH_STEP_SESSION, 0, 0 },
		{ SWITCH_ADD, SWITCH_STEP_SESSION, 1, 1 },
		{ SWITCH_ADD, SWITCH_STEP_REPORTER, 0, 0 },
		{ SWITCH_ADD, SWITCH_STEP_SHARE, 0, 511 },
		{ SWITCH_ADD, SWITCH_STEP_SHARE, 512, 1023 }));
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
	assert_int_equal(push->wanted->first_psns[1], 5);
	assert_int_equal(push->wanted->shares[512].values[SHARE_SESSION], 2);
	settle(push);
	assert_int_equal(push->plan.count, 0);
	push_free(push);
}

static void test_new_key(void **state)
{
	struct push *push = push_new(2);

	make_plan(push);
	settle(push);
	push->list[1].rkey++;
	make_plan(push);
	/* The queue pair goes on with its PSN. */
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, SWITCH_STEP_SHARE, 512, 1023 },
		{ SWITCH_CHANGE, SWITCH_STEP_COLLECTOR, 1, 1 },
		{ SWITCH_ADD, SWITCH_STEP_SHARE, 512, 1023 }));
	settle(push);
	push->list[1].qpn++;
	make_plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_CHANGE, SWITCH_STEP_PSN, 2, 2 },
		{ SWITCH_ADD, SWITCH_STEP_COLLECTOR, 2, 2 },
		{ SWITCH_CHANGE, SWITCH_STEP_SHARE, 512, 1023 },
		{ SWITCH_REMOVE, SWITCH_STEP_COLLECTOR, 1, 1 }));
	push_free(push);
}

/* What stays keeps its number; what is new does not get one that is in use. */
static void test_numbers(void **state)
{
	struct push *push = push_new(3);

	make_plan(push);
	settle(push);
	push->list[0] = push->list[2];
	push->wish.ports[0] = push->wish.ports[2];
	push->wish.collectors.count = 2;
	push->list[1].ip.s_addr = htonl(0x0a000177);
	memset(push->wish.collectors.shares, 0,
	       sizeof(push->wish.collectors.shares));
	push->wish.collectors.shares[7] = 1;
	push->wish.collectors.shares[8] = DART_COLLECTOR_NONE;
	make_plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, SWITCH_STEP_SHARE, 8, 8 },
		{ SWITCH_CHANGE, SWITCH_STEP_PSN, 3, 3 },
		{ SWITCH_ADD, SWITCH_STEP_COLLECTOR, 3, 3 },
		{ SWITCH_CHANGE, SWITCH_STEP_SHARE, 0, 6 },
		{ SWITCH_CHANGE, SWITCH_STEP_SHARE, 7, 7 },
		{ SWITCH_CHANGE, SWITCH_STEP_SHARE, 9, 682 },
		{ SWITCH_REMOVE, SWITCH_STEP_COLLECTOR, 0, 0 },
		{ SWITCH_REMOVE, SWITCH_STEP_COLLECTOR, 1, 1 }));
	push_free(push);
}

/* Two stores of one machine, said in another order. */
static void test_other_order(void **state)
{
	struct push *push = push_new(2);
	struct dart_collector first;
	uint32_t share;

	push->list[1].ip = push->list[0].ip;
	push->wish.ports[1] = push->wish.ports[0];
	make_plan(push);
	settle(push);
	first = push->list[0];
	push->list[0] = push->list[1];
	push->list[1] = first;
	for (share = 0; share < DART_STORE_SHARES; share++)
		push->wish.collectors.shares[share] ^= 1;
	make_plan(push);
	assert_int_equal(push->plan.count, 0);
	push_free(push);
}

static void test_reporter(void **state)
{
	struct push *push = push_new(1);

	make_plan(push);
	settle(push);
	push->wish.all_copies = true;
	make_plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_CHANGE, SWITCH_STEP_REPORTER, 0, 0 }));
	settle(push);
	push->list[0].geometry.checksum_bits = 64;
	make_plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, SWITCH_STEP_SHARE, 0, 1023 },
		{ SWITCH_CHANGE, SWITCH_STEP_REPORTER, 0, 0 },
		{ SWITCH_ADD, SWITCH_STEP_SHARE, 0, 1023 }));
	settle(push);
	push->list[0].geometry.checksum_bits = 8;
	push->list[0].qpn++;
	make_plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, SWITCH_STEP_SHARE, 0, 1023 },
		{ SWITCH_REMOVE, SWITCH_STEP_COLLECTOR, 0, 0 },
		{ SWITCH_CHANGE, SWITCH_STEP_PSN, 1, 1 },
		{ SWITCH_ADD, SWITCH_STEP_COLLECTOR, 1, 1 },
		{ SWITCH_CHANGE, SWITCH_STEP_REPORTER, 0, 0 },
		{ SWITCH_ADD, SWITCH_STEP_SHARE, 0, 1023 }));
	push_free(push);
}

static void test_most_collectors(void **state)
{
	struct push *push = push_new(SWITCH_COLLECTORS_MAX);
	uint32_t i;

	make_plan(push);
	assert_int_equal(push->plan.count, 4 * SWITCH_COLLECTORS_MAX + 1);
	settle(push);
	/* All of them are others: there are no unused numbers. */
	for (i = 0; i < SWITCH_COLLECTORS_MAX; i++)
		push->list[i].ip.s_addr = htonl(0x0a000200 + i);
	make_plan(push);
	assert_int_equal(push->plan.count, 1 + 2 * SWITCH_COLLECTORS_MAX +
						   SWITCH_COLLECTORS_MAX);
	push_free(push);
}

/* A table is never more than full. */
static void test_room(void **state)
{
	struct push *push = push_new(SWITCH_COLLECTORS_MAX);
	struct switch_entry *other;

	push->wish.collectors.count--;
	memset(push->wish.collectors.shares, 0,
	       sizeof(push->wish.collectors.shares));
	make_plan(push);
	settle(push);
	other = &push->now->collectors[SWITCH_COLLECTORS_MAX];
	*other = push->now->collectors[0];
	push->now->shares[9].values[SHARE_COLLECTOR] = SWITCH_COLLECTORS_MAX;
	push->wish.collectors.count++;
	make_plan(push);
	assert_true(PLAN_IS(push,
		{ SWITCH_REMOVE, SWITCH_STEP_SHARE, 9, 9 },
		{ SWITCH_REMOVE, SWITCH_STEP_COLLECTOR, 64, 64 },
		{ SWITCH_CHANGE, SWITCH_STEP_PSN, 63, 63 },
		{ SWITCH_ADD, SWITCH_STEP_COLLECTOR, 63, 63 },
		{ SWITCH_ADD, SWITCH_STEP_SESSION, 63, 63 },
		{ SWITCH_ADD, SWITCH_STEP_SHARE, 9, 9 }));
	push_free(push);
}

/* ---- a switch that follows the steps, from anything to anything */

static uint32_t draw(uint32_t *random, uint32_t below)
{
	*random = *random * 1664525 + 1013904223;
	return (*random >> 8) % below;
}

static void change_wish(struct push *push, uint32_t *random)
{
	struct dart_collectors *collectors = &push->wish.collectors;
	uint32_t i, share;

	collectors->count = 1 + draw(random, 5);
	for (i = 0; i < collectors->count; i++) {
		/* No two with one queue pair. */
		push->list[i].ip.s_addr = htonl(0x0a000100 + draw(random, 4));
		push->list[i].qpn = 20 * i + draw(random, 2);
		push->list[i].rkey = draw(random, 2);
		push->list[i].reporter.s_addr = htonl(0x0a000002);
		push->list[i].geometry.slots = 16;
		push->list[i].geometry.checksum_bits = 32;
		push->wish.ports[i] = draw(random, 3);
	}
	if (!draw(random, 4))
		for (i = 0; i < collectors->count; i++)
			push->list[i].geometry.checksum_bits = 64;
	for (share = 0; share < DART_STORE_SHARES; share++) {
		if (share % 64 == 0)
			i = draw(random, collectors->count + 1);
		collectors->shares[share] = i < collectors->count ? i :
						    DART_COLLECTOR_NONE;
	}
	push->wish.all_copies = draw(random, 2);
}

/* What somebody else may have left there. */
static void disturb(struct switch_state *state, uint32_t *random)
{
	struct switch_entry *entry;

	switch (draw(random, 5)) {
	case 0:
		state->collectors[draw(random, SWITCH_COLLECTOR_KEYS)] =
			state->collectors[0];
		break;
	case 1:
		entry = &state->shares[draw(random, DART_STORE_SHARES)];
		entry->there = true;
		memset(entry->values, 0xff, sizeof(entry->values));
		break;
	case 2:
		state->collectors[draw(random, 5)].there = false;
		break;
	case 3:
		state->sessions[draw(random, 3)] = SWITCH_SESSION_OTHER;
		break;
	case 4:
		state->reporter.there = false;
		break;
	}
}

static void follow(struct switch_state *state, const struct push *push,
		   const struct switch_step *step)
{
	const struct switch_state *wanted = push->wanted;
	struct switch_entry *entries = NULL;
	const struct switch_entry *new = NULL;
	uint32_t i;

	switch (step->object) {
	case SWITCH_STEP_SHARE:
		entries = state->shares;
		new = wanted->shares;
		break;
	case SWITCH_STEP_COLLECTOR:
		entries = state->collectors;
		new = wanted->collectors;
		break;
	case SWITCH_STEP_REPORTER:
		state->reporter = wanted->reporter;
		return;
	case SWITCH_STEP_SESSION:
		state->sessions[step->first] = wanted->sessions[step->first];
		return;
	case SWITCH_STEP_PSN:
		return;
	}
	for (i = step->first; i <= step->last; i++) {
		/* A switch refuses to add what is there, and so on. */
		assert_int_equal(entries[i].there, step->verb != SWITCH_ADD);
		if (step->verb == SWITCH_REMOVE)
			entries[i].there = false;
		else
			entries[i] = new[i];
	}
}

static const struct switch_entry *collector_of(const struct switch_state *state,
					       uint32_t share)
{
	static const struct switch_entry none;
	const struct switch_entry *entry = &state->shares[share];
	uint64_t number = entry->values[SHARE_COLLECTOR];

	return entry->there && number < SWITCH_COLLECTOR_KEYS ?
		       &state->collectors[number] : &none;
}

/* Reports of a share go nowhere, or as they did before, or as they should. */
static void check_reports(const struct switch_state *state,
			  const struct push *push, uint32_t share)
{
	const struct switch_entry *collector = collector_of(state, share);
	struct switch_entry reporter = state->reporter;
	uint64_t session = state->shares[share].values[SHARE_SESSION];

	if (!collector->there || !state->reporter.there)
		return;
	if (switch_entry__equal(collector, collector_of(push->wanted, share)) &&
	    switch_entry__equal(&reporter, &push->wanted->reporter) &&
	    switch_entry__equal(&state->shares[share],
				&push->wanted->shares[share]) &&
	    state->sessions[session - 1] == (int32_t)session - 1)
		return;
	reporter.values[REPORTER_ALL_COPIES] =
		push->now->reporter.values[REPORTER_ALL_COPIES];
	assert_true(switch_entry__equal(collector,
					collector_of(push->now, share)));
	assert_true(switch_entry__equal(&reporter, &push->now->reporter));
}

static bool is_wanted(const struct switch_state *state,
		      const struct switch_state *wanted)
{
	uint32_t i;

	for (i = 0; i < DART_STORE_SHARES; i++)
		if (!switch_entry__equal(&state->shares[i],
					 &wanted->shares[i]))
			return false;
	for (i = 0; i < SWITCH_COLLECTOR_KEYS; i++)
		if (!switch_entry__equal(&state->collectors[i],
					 &wanted->collectors[i]))
			return false;
	for (i = 0; i < SWITCH_PORTS; i++)
		if (wanted->sessions[i] != SWITCH_SESSION_NONE &&
		    state->sessions[i] != wanted->sessions[i])
			return false;
	return switch_entry__equal(&state->reporter, &wanted->reporter);
}

static void test_every_step(void **state)
{
	struct push *push = push_new(5);
	struct switch_state *model = switch_state__new();
	uint32_t random = SEED, round, i, share;

	for (round = 0; round < ROUNDS; round++) {
		change_wish(push, &random);
		if (!draw(&random, 3))
			disturb(push->now, &random);
		make_plan(push);
		*model = *push->now;
		for (i = 0; i < push->plan.count; i++) {
			follow(model, push, &push->plan.steps[i]);
			/* Shares change by 64 at once. */
			for (share = draw(&random, 64);
			     share < DART_STORE_SHARES; share += 64)
				check_reports(model, push, share);
		}
		assert_true(is_wanted(model, push->wanted));
		switch_plan__make(model, push->wanted, &push->plan);
		assert_int_equal(push->plan.count, 0);
		*push->now = *model;
	}
	free(model);
	push_free(push);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_push),
		cmocka_unit_test(test_new_key),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_other_order),
		cmocka_unit_test(test_reporter),
		cmocka_unit_test(test_most_collectors),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
