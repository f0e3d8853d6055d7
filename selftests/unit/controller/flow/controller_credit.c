// SPDX-License-Identifier: GPL-2.0-only
/* Credits: how much flows may keep in flight, and in which order. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/flow/credit.h"

#define FLOWS 300

/* Grants one flow; its index in @flows, or -1. */
static int grant(struct credit *credit, struct credit_flow *flows, uint32_t *fragments)
{
	struct credit_flow *flow = credit__grant(credit, fragments);

	return flow ? flow - flows : -1;
}

static void test_alone(void **state)
{
	struct credit_flow flow = {};
	struct credit credit;
	uint32_t fragments;

	credit__init(&credit, 1 << 20, UINT64_MAX);
	credit__ask(&credit, &flow, 0, 40);
	assert_int_equal(grant(&credit, &flow, &fragments), 0);
	assert_int_equal(fragments, CREDIT_FLOW_MAX);
	assert_int_equal(grant(&credit, &flow, &fragments), -1);
	credit__give_back(&credit, &flow, 3);
	assert_int_equal(grant(&credit, &flow, &fragments), 0);
	assert_int_equal(fragments, 3);
	credit__give_back(&credit, &flow, CREDIT_FLOW_MAX);
	assert_int_equal(grant(&credit, &flow, &fragments), 0);
	assert_int_equal(fragments, CREDIT_FLOW_MAX);
	credit__give_back(&credit, &flow, CREDIT_FLOW_MAX);
	assert_int_equal(grant(&credit, &flow, &fragments), 0);
	assert_int_equal(fragments, 40 - 2 * CREDIT_FLOW_MAX - 3);
	credit__give_back(&credit, &flow, fragments);
	assert_int_equal(grant(&credit, &flow, &fragments), -1);
	assert_int_equal(credit.free, credit.total);
	assert_int_equal(credit.lines[0].active, 0);
}

/* 64 credits, and flows that each want more than their share. */
static void test_shares(void **state)
{
	static const struct {
		uint32_t flows, share;
	} cases[] = { { 1, 16 }, { 4, 16 }, { 5, 12 }, { 8, 8 }, { 33, 1 }, { 64, 1 }, { 300, 1 } };
	struct credit_flow flows[FLOWS];
	struct credit credit;
	uint32_t fragments, granted;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(flows, 0, sizeof(flows));
		credit__init(&credit, 64 * CREDIT_FRAGMENT, UINT64_MAX);
		for (uint32_t k = 0; k < cases[i].flows; k++)
			credit__ask(&credit, &flows[k], 0, 100);
		granted = 0;
		while (grant(&credit, flows, &fragments) >= 0) {
			assert_int_equal(fragments, cases[i].share);
			granted++;
		}
		assert_int_equal(granted, cases[i].flows < 64 ? cases[i].flows : 64);
	}
}

static void test_order(void **state)
{
	static const int arrived[] = { 5, 3, 9, 0, 7 };
	struct credit_flow flows[10] = {};
	struct credit credit;
	uint32_t fragments;

	credit__init(&credit, CREDIT_FRAGMENT, UINT64_MAX);
	for (int i = 0; i < 5; i++)
		credit__ask(&credit, &flows[arrived[i]], 1, 2);
	/* A flow of another class arrives last and goes first. */
	credit__ask(&credit, &flows[1], 0, 1);
	assert_int_equal(grant(&credit, flows, &fragments), 1);
	credit__give_back(&credit, &flows[1], 1);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(grant(&credit, flows, &fragments), arrived[i % 5]);
		assert_int_equal(grant(&credit, flows, &fragments), -1);
		credit__give_back(&credit, &flows[arrived[i % 5]], 1);
	}
	assert_int_equal(grant(&credit, flows, &fragments), -1);
}

/* Flow 1 wants 6 of 8 credits at once, after flow 0 and before flow 2. */
static void test_whole(void **state)
{
	struct credit_flow flows[4] = {};
	struct credit credit;
	uint32_t fragments;

	credit__init(&credit, 8 * CREDIT_FRAGMENT, UINT64_MAX);
	credit__ask(&credit, &flows[0], 1, 4);
	assert_int_equal(grant(&credit, flows, &fragments), 0);
	assert_int_equal(fragments, 4);
	credit__ask_whole(&credit, &flows[1], 1, 6);
	credit__ask(&credit, &flows[2], 1, 1);
	credit__ask(&credit, &flows[3], 2, 1);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
	credit__give_back(&credit, &flows[0], 1);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
	credit__give_back(&credit, &flows[0], 1);
	assert_int_equal(grant(&credit, flows, &fragments), 1);
	assert_int_equal(fragments, 6);
	assert_int_equal(credit.free, 0);
	credit__give_back(&credit, &flows[1], 6);
	assert_int_equal(grant(&credit, flows, &fragments), 2);
	assert_int_equal(grant(&credit, flows, &fragments), 3);
	/* More than there are: alone, with all. */
	credit__ask_whole(&credit, &flows[1], 0, 100);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
	credit__give_back(&credit, &flows[0], 2);
	credit__give_back(&credit, &flows[2], 1);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
	credit__give_back(&credit, &flows[3], 1);
	assert_int_equal(grant(&credit, flows, &fragments), 1);
	assert_int_equal(fragments, 8);
	/* A flow that cancels lets the others in. */
	credit__ask_whole(&credit, &flows[2], 0, 8);
	credit__ask(&credit, &flows[3], 1, 2);
	credit__give_back(&credit, &flows[1], 4);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
	credit__cancel(&credit, &flows[2]);
	assert_int_equal(grant(&credit, flows, &fragments), 3);
	assert_int_equal(fragments, 2);
	credit__give_back(&credit, &flows[3], 2);
	credit__give_back(&credit, &flows[1], 4);
	assert_int_equal(credit.free, 8);
	for (int i = 0; i < CREDIT_CLASSES; i++)
		assert_int_equal(credit.lines[i].active, 0);
}

/* The second flow gets one credit first, and its second credit before it gives one back. */
static void test_growth(void **state)
{
	struct credit_flow flows[2] = {};
	struct credit credit;
	uint32_t fragments;

	credit__init(&credit, 4 * CREDIT_FRAGMENT, UINT64_MAX);
	credit__ask(&credit, &flows[0], 0, 100);
	assert_int_equal(grant(&credit, flows, &fragments), 0);
	assert_int_equal(fragments, 4);
	credit__ask(&credit, &flows[1], 0, 100);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
	for (int held = 1; held <= 2; held++) {
		credit__give_back(&credit, &flows[0], 1);
		assert_int_equal(grant(&credit, flows, &fragments), 1);
		assert_int_equal(flows[1].held, held);
	}
	credit__give_back(&credit, &flows[0], 1);
	assert_int_equal(grant(&credit, flows, &fragments), 0);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
}

/* The first class always waits; the others still get their turns. */
static void test_patience(void **state)
{
	struct credit_flow flows[CREDIT_CLASSES] = {};
	uint32_t passed[CREDIT_CLASSES] = {}, fragments;
	struct credit credit;
	int served;

	credit__init(&credit, 2 * CREDIT_FRAGMENT, UINT64_MAX);
	for (int i = 0; i < CREDIT_CLASSES; i++)
		credit__ask(&credit, &flows[i], i, 10000);
	for (int i = 0; i < 10000; i++) {
		served = grant(&credit, flows, &fragments);
		assert_in_range(served, 0, CREDIT_CLASSES - 1);
		for (int k = 1; k < CREDIT_CLASSES; k++) {
			passed[k] = k == served ? 0 : passed[k] + fragments;
			/* At worst, all other classes are as late. */
			assert_in_range(passed[k], 0, CREDIT_PATIENCE + CREDIT_CLASSES);
		}
		credit__give_back(&credit, &flows[served], fragments);
	}
	assert_true(flows[0].wanted < flows[1].wanted / 8);
}

/* Compares @credit with the model of all flows. */
static void check_sums(const struct credit *credit, const struct credit_flow *flows)
{
	uint64_t held = 0;
	uint32_t active[CREDIT_CLASSES] = {};

	for (int i = 0; i < FLOWS; i++) {
		held += flows[i].held;
		active[flows[i].class] += flows[i].held || flows[i].wanted;
	}
	assert_int_equal(credit->free + held, credit->total);
	for (int i = 0; i < CREDIT_CLASSES; i++)
		assert_int_equal(credit->lines[i].active, active[i]);
}

/* Flows ask, complete and end at random: nothing is lost, and all are served. */
static void test_random(void **state)
{
	struct credit_flow flows[FLOWS] = {};
	uint32_t waits[FLOWS] = {}, fragments;
	struct credit credit;
	uint64_t random = 1;
	int i, granted, held;

	credit__init(&credit, 100 * CREDIT_FRAGMENT, UINT64_MAX);
	for (int step = 0; step < 300000; step++) {
		i = random__below(&random, FLOWS);
		switch (random__below(&random, 17)) {
		case 0:
			credit__end(&credit, &flows[i]);
			break;
		case 16:
			held = flows[i].held;
			credit__cancel(&credit, &flows[i]);
			assert_int_equal(flows[i].held, held);
			assert_int_equal(flows[i].wanted, 0);
			break;
		case 1:
		case 2:
		case 3:
			credit__ask(&credit, &flows[i], random__below(&random, CREDIT_CLASSES),
				    random__below(&random, 40));
			break;
		default:
			if (flows[i].held)
				credit__give_back(&credit, &flows[i],
						  1 + random__below(&random, flows[i].held));
		}
		while ((granted = grant(&credit, flows, &fragments)) >= 0) {
			assert_in_range(flows[granted].held, fragments, CREDIT_FLOW_MAX);
			waits[granted] = 0;
		}
		for (i = 0; i < FLOWS; i++)
			waits[i] = flows[i].wanted && !flows[i].held ? waits[i] + 1 : 0;
		if (step % 100)
			continue;
		check_sums(&credit, flows);
		for (i = 0; i < FLOWS; i++)
			assert_in_range(waits[i], 0, 30000);
	}
	for (i = 0; i < FLOWS; i++)
		credit__end(&credit, &flows[i]);
	check_sums(&credit, flows);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
	assert_int_equal(credit.free, credit.total);
}

/* A flow is lost: its credits go to others only after they come back. */
static void test_cancel(void **state)
{
	struct credit_flow flows[2] = {};
	struct credit credit;
	uint32_t fragments;

	credit__init(&credit, 2 * CREDIT_FRAGMENT, UINT64_MAX);
	credit__ask(&credit, &flows[0], 0, 9);
	assert_int_equal(grant(&credit, flows, &fragments), 0);
	assert_int_equal(fragments, 2);
	credit__cancel(&credit, &flows[0]);
	credit__ask(&credit, &flows[1], 3, 9);
	assert_int_equal(grant(&credit, flows, &fragments), -1);
	/* The flow connects again, and waits after the others of its class. */
	credit__ask(&credit, &flows[0], 0, 1);
	credit__give_back(&credit, &flows[0], 2);
	assert_int_equal(grant(&credit, flows, &fragments), 0);
	assert_int_equal(fragments, 1);
	assert_int_equal(grant(&credit, flows, &fragments), 1);
	assert_int_equal(fragments, 1);
	credit__cancel(&credit, &flows[0]);
	credit__give_back(&credit, &flows[0], 1);
	assert_int_equal(credit.lines[0].active, 0);
	credit__give_back(&credit, &flows[1], 1);
	assert_int_equal(grant(&credit, flows, &fragments), 1);
	assert_int_equal(fragments, 2);
}

static void test_limits(void **state)
{
	struct credit_flow flow = {};
	struct credit credit;
	uint32_t fragments;

	/* A limit below one fragment: one fragment at a time. */
	credit__init(&credit, 1, UINT64_MAX);
	credit__ask(&credit, &flow, 0, UINT32_MAX);
	credit__ask(&credit, &flow, 0, UINT32_MAX);
	assert_int_equal(grant(&credit, &flow, &fragments), 0);
	assert_int_equal(fragments, 1);
	assert_int_equal(flow.wanted, UINT32_MAX - 1);

	credit__init(&credit, UINT64_MAX, UINT64_MAX);
	flow = (struct credit_flow){};
	credit__ask(&credit, &flow, 0, 0);
	assert_int_equal(grant(&credit, &flow, &fragments), -1);
	credit__ask(&credit, &flow, 0, 17);
	assert_int_equal(grant(&credit, &flow, &fragments), 0);
	assert_int_equal(fragments, CREDIT_FLOW_MAX);

	credit__init(&credit, UINT64_MAX, 3 * CREDIT_FRAGMENT + 1);
	flow = (struct credit_flow){};
	credit__ask(&credit, &flow, 0, 17);
	assert_int_equal(grant(&credit, &flow, &fragments), 0);
	assert_int_equal(fragments, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a flow alone holds at most 16 credits, and posts all that it wants",
		     test_alone),
		TEST("flows share the credits: 16 at most, 1 at least", test_shares),
		TEST("flows of a class go in order of arrival, behind those of a class before",
		     test_order),
		TEST("a flow that wants all at once waits for it at the head of its line, and those behind it wait, too",
		     test_whole),
		TEST("a flow that has had less than its share has the rest when others give back",
		     test_growth),
		TEST("a class is passed over by at most 68 fragments while it waits",
		     test_patience),
		TEST("flows that ask, complete and end at random hold exactly the credits that are not free, and none waits forever",
		     test_random),
		TEST("a flow that is lost wants nothing, and keeps what it holds until that is given back",
		     test_cancel),
		TEST("less than a fragment lets one be in flight; without a limit a flow still has that of adapters, or its own",
		     test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
