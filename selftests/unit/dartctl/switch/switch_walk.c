// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model of a switch follows the steps of random pushes: no step sends a report to a
 * wrong place, and the last step leaves the wanted state.
 */
#include "switch_push.h"

#define ROUNDS 3000
#define SEED 0x5eed

static void change_wish(struct push *push, uint64_t *random)
{
	struct dart_collectors *collectors = &push->wish.collectors;
	uint32_t i, share;

	collectors->count = 1 + random__below(random, 5);
	for (i = 0; i < collectors->count; i++) {
		/* Queue pairs differ. */
		push->list[i].ip.s_addr = htonl(0x0a000100 + random__below(random, 4));
		push->list[i].qpn = 20 * i + random__below(random, 2);
		push->list[i].rkey = random__below(random, 2);
		push->list[i].reporter.s_addr = htonl(0x0a000002);
		push->list[i].geometry.slots = 16;
		push->list[i].geometry.checksum_bits = 32;
		push->wish.ports[i] = random__below(random, 3);
	}
	if (!random__below(random, 4))
		for (i = 0; i < collectors->count; i++)
			push->list[i].geometry.checksum_bits = 64;
	for (share = 0; share < DART_STORE_SHARES; share++) {
		if (share % 64 == 0)
			i = random__below(random, collectors->count + 1);
		collectors->shares[share] = i < collectors->count ? i : DART_COLLECTOR_NONE;
	}
	push->wish.all_copies = random__below(random, 2);
}

/* Leaves changes of another program in a switch. */
static void disturb(struct report_state *state, uint64_t *random)
{
	struct switch_entry *entry;

	switch (random__below(random, 5)) {
	case 0:
		state->collectors[random__below(random, REPORT_COLLECTOR_KEYS)] =
			state->collectors[0];
		break;
	case 1:
		entry = &state->shares[random__below(random, DART_STORE_SHARES)];
		entry->there = true;
		memset(entry->values, 0xff, sizeof(entry->values));
		break;
	case 2:
		state->collectors[random__below(random, 5)].there = false;
		break;
	case 3:
		switch_entry__set(&state->sessions[random__below(random, 3)], SWITCH_FOREIGN);
		break;
	case 4:
		state->reporter.there = false;
		break;
	}
}

static void follow(struct report_state *state, const struct push *push,
		   const struct switch_step *step)
{
	const struct report_state *wanted = push->wanted;
	struct switch_entry *entries = NULL;
	const struct switch_entry *new = NULL;
	uint32_t i;

	switch (step->object) {
	case REPORT_SHARE:
		entries = state->shares;
		new = wanted->shares;
		break;
	case REPORT_COLLECTOR:
		entries = state->collectors;
		new = wanted->collectors;
		break;
	case REPORT_REPORTER:
		state->reporter = wanted->reporter;
		return;
	case REPORT_SESSION:
		state->sessions[step->first] = wanted->sessions[step->first];
		return;
	case REPORT_PSN:
		return;
	}
	for (i = step->first; i <= step->last; i++) {
		/* A switch adds only new entries, and changes existing ones. */
		assert_int_equal(entries[i].there, step->verb != SWITCH_ADD);
		if (step->verb == SWITCH_REMOVE)
			entries[i].there = false;
		else
			entries[i] = new[i];
	}
}

static const struct switch_entry *collector_of(const struct report_state *state, uint32_t share)
{
	static const struct switch_entry none;
	const struct switch_entry *entry = &state->shares[share];
	uint64_t number = entry->values[SHARE_COLLECTOR];

	return entry->there && number < REPORT_COLLECTOR_KEYS ? &state->collectors[number] : &none;
}

/* The entry of the same queue pair may already have the wanted memory. */
static bool is_as_before(const struct push *push, uint32_t share,
			 const struct switch_entry *collector)
{
	const struct switch_entry *before = collector_of(push->now, share);
	const struct switch_entry *wanted =
		&push->wanted->collectors[push->now->shares[share].values[SHARE_COLLECTOR]];

	if (switch_entry__equal(collector, before))
		return true;
	return wanted->there && switch_entry__equal(collector, wanted) &&
	       before->values[COLLECTOR_IP] == wanted->values[COLLECTOR_IP] &&
	       before->values[COLLECTOR_QPN] == wanted->values[COLLECTOR_QPN];
}

/* Reports of a share go nowhere, to the same queue pair as before, or as wanted. */
static void check_reports(const struct report_state *state, const struct push *push, uint32_t share)
{
	const struct switch_entry *collector = collector_of(state, share);
	struct switch_entry reporter = state->reporter;
	uint64_t session = state->shares[share].values[SHARE_SESSION];

	if (!collector->there || !state->reporter.there)
		return;
	if (switch_entry__equal(collector, collector_of(push->wanted, share)) &&
	    switch_entry__equal(&reporter, &push->wanted->reporter) &&
	    switch_entry__equal(&state->shares[share], &push->wanted->shares[share]) &&
	    state->sessions[session - 1].values[0] == session - 1)
		return;
	reporter.values[REPORTER_ALL_COPIES] = push->now->reporter.values[REPORTER_ALL_COPIES];
	assert_true(is_as_before(push, share, collector));
	assert_true(switch_entry__equal(&reporter, &push->now->reporter));
}

static bool is_wanted(const struct report_state *state, const struct report_state *wanted)
{
	uint32_t i;

	for (i = 0; i < DART_STORE_SHARES; i++)
		if (!switch_entry__equal(&state->shares[i], &wanted->shares[i]))
			return false;
	for (i = 0; i < REPORT_COLLECTOR_KEYS; i++)
		if (!switch_entry__equal(&state->collectors[i], &wanted->collectors[i]))
			return false;
	for (i = 0; i < SWITCH_PORTS; i++)
		if (wanted->sessions[i].there &&
		    !switch_entry__equal(&state->sessions[i], &wanted->sessions[i]))
			return false;
	return switch_entry__equal(&state->reporter, &wanted->reporter);
}

static void test_every_step(void **state)
{
	struct push *push = push__new(5);
	struct report_state *model = malloc(sizeof(*model));
	uint32_t round, i, share;
	uint64_t random = SEED;

	assert_non_null(model);
	for (round = 0; round < ROUNDS; round++) {
		change_wish(push, &random);
		if (!random__below(&random, 3))
			disturb(push->now, &random);
		push__plan(push);
		*model = *push->now;
		for (i = 0; i < push->steps.count; i++) {
			follow(model, push, &push->steps.list[i]);
			/* Shares change in blocks of 64. */
			for (share = random__below(&random, 64);
			     share < DART_STORE_SHARES; share += 64)
				check_reports(model, push, share);
		}
		assert_true(is_wanted(model, push->wanted));
		assert_int_equal(report_steps__compute(model, push->wanted, &push->steps), 0);
		assert_int_equal(push->steps.count, 0);
		*push->now = *model;
	}
	free(model);
	push__free(push);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("after every step from any state to any other, reports go where they did or where they should",
		     test_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
