// SPDX-License-Identifier: GPL-2.0-only
/* Groups of queue pairs: who is let into the line for credits, and when. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/flow/credit_groups.h"

#define GROUPS 5
#define MEMBERS 8 /* of each group */
#define FLOWS (GROUPS * MEMBERS)

struct model {
	struct credit_groups groups;
	struct credit_group group[GROUPS][CREDIT_CLASSES];
	struct credit_member members[FLOWS];
};

static void model__init(struct model *model, uint32_t credits)
{
	memset(model, 0, sizeof(*model));
	credit_groups__init(&model->groups, (uint64_t)credits * CREDIT_FRAGMENT, UINT64_MAX);
	for (int i = 0; i < GROUPS; i++) {
		for (int k = 0; k < CREDIT_CLASSES; k++)
			credit_group__init(&model->group[i][k]);
	}
}

/* Flow 8 is the first of group 1. */
static void ask(struct model *model, uint32_t flow, uint8_t class, uint32_t n)
{
	credit_groups__ask(&model->groups, &model->group[flow / MEMBERS][class],
			   &model->members[flow], class, n);
}

/* The flow that is granted some, or -1. */
static int grant(struct model *model, uint32_t *fragments)
{
	struct credit_member *member = credit_groups__grant(&model->groups, fragments);

	return member ? member - model->members : -1;
}

static void give_back(struct model *model, uint32_t flow, uint32_t n)
{
	credit_groups__give_back(&model->groups, &model->members[flow], n);
}

static void test_enough(void **state)
{
	struct model model;
	uint32_t fragments;

	model__init(&model, FLOWS * 2);
	for (uint32_t i = 0; i < FLOWS; i++)
		ask(&model, i, i % CREDIT_CLASSES, 1);
	for (uint32_t i = 0; i < FLOWS; i++)
		assert_true(grant(&model, &fragments) >= 0);
	assert_int_equal(grant(&model, &fragments), -1);
}

/* A flow at its limit keeps no other flow from the remaining credits. */
static void test_large(void **state)
{
	struct model model;
	uint32_t fragments;

	model__init(&model, 64);
	ask(&model, 0, 1, 1000);
	assert_int_equal(grant(&model, &fragments), 0);
	assert_int_equal(fragments, CREDIT_FLOW_MAX);
	assert_int_equal(grant(&model, &fragments), -1);
	ask(&model, MEMBERS, 1, 4);
	ask(&model, 2 * MEMBERS, 1, 4);
	assert_int_equal(grant(&model, &fragments), MEMBERS);
	assert_int_equal(fragments, 4);
	assert_int_equal(grant(&model, &fragments), 2 * MEMBERS);
	assert_int_equal(fragments, 1);
}

/* One credit.  While group 0 is read, group 1 gets its first fragments, group 2 nothing. */
static void test_warm_up(void **state)
{
	uint32_t granted[FLOWS] = {}, fragments, wanted = 3;
	int flow, last[GROUPS] = {}, first[GROUPS] = {}, second[GROUPS] = {};
	struct model model;

	model__init(&model, 1);
	for (uint32_t i = 0; i < FLOWS; i++)
		ask(&model, i, 1, wanted);
	for (int i = 1; i <= (int)(FLOWS * wanted); i++) {
		flow = grant(&model, &fragments);
		assert_true(flow >= 0);
		assert_int_equal(fragments, 1);
		granted[flow]++;
		last[flow / MEMBERS] = i;
		if (!first[flow / MEMBERS])
			first[flow / MEMBERS] = i;
		if (granted[flow] == 2 && !second[flow / MEMBERS])
			second[flow / MEMBERS] = i;
		give_back(&model, flow, 1);
	}
	assert_int_equal(grant(&model, &fragments), -1);
	for (int i = 1; i < GROUPS; i++) {
		/*
		 * A group is warmed up before the previous group ends, and read as a whole only
		 * afterwards.
		 */
		assert_true(first[i] < last[i - 1]);
		assert_true(second[i] > last[i - 1]);
		if (i > 1)
			assert_true(first[i] > last[i - 2]);
	}
}

/*
 * A flow whose answer cannot be cut wants 3 of 4 credits at once, while groups wait for the line.
 */
static void test_whole(void **state)
{
	struct credit_member whole = {};
	struct credit_group calls;
	struct model model;
	uint32_t fragments;

	model__init(&model, 4);
	for (uint32_t i = 0; i < FLOWS; i++)
		ask(&model, i, 1, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(grant(&model, &fragments), i);
	credit_group__init(&calls);
	calls.is_whole = true;
	credit_groups__ask(&model.groups, &calls, &whole, 0, 3);
	for (int i = 0; i < 2; i++) {
		give_back(&model, i, 1);
		assert_int_equal(grant(&model, &fragments), -1);
	}
	give_back(&model, 2, 1);
	assert_ptr_equal(credit_groups__grant(&model.groups, &fragments), &whole);
	assert_int_equal(fragments, 3);
	assert_int_equal(grant(&model, &fragments), -1);
	credit_groups__give_back(&model.groups, &whole, 3);
	for (int i = 4; i < 7; i++)
		assert_int_equal(grant(&model, &fragments), i);
	assert_int_equal(grant(&model, &fragments), -1);
}

/* Calls that ask again as soon as they are answered keep no group of READs from its turn. */
static void test_whole_without_end(void **state)
{
	struct credit_member callers[4] = {};
	struct credit_group calls;
	uint32_t granted[FLOWS] = {}, fragments;
	struct credit_member *member;
	struct model model;

	model__init(&model, 4);
	credit_group__init(&calls);
	calls.is_whole = true;
	for (int i = 0; i < 4; i++)
		credit_groups__ask(&model.groups, &calls, &callers[i], 1, 3);
	for (uint32_t i = 0; i < FLOWS; i++)
		ask(&model, i, 1, 4);
	for (int i = 0; i < 100 * FLOWS; i++) {
		member = credit_groups__grant(&model.groups, &fragments);
		assert_non_null(member);
		credit_groups__give_back(&model.groups, member, fragments);
		if (member >= callers && member < callers + 4)
			credit_groups__ask(&model.groups, &calls, member, 1, 3);
		else
			granted[member - model.members] += fragments;
	}
	for (uint32_t i = 0; i < FLOWS; i++)
		assert_int_equal(granted[i], 4);
}

/* The lowest class goes first, whatever its group. */
static void test_classes(void **state)
{
	struct model model;
	uint32_t fragments;

	model__init(&model, 1);
	for (uint32_t i = 0; i < MEMBERS; i++)
		ask(&model, i, 3, 4);
	assert_true(grant(&model, &fragments) >= 0);
	ask(&model, 4 * MEMBERS, 0, 2);
	assert_int_equal(grant(&model, &fragments), -1);
	give_back(&model, 0, 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(grant(&model, &fragments), 4 * MEMBERS);
		give_back(&model, 4 * MEMBERS, 1);
	}
	assert_true(grant(&model, &fragments) < MEMBERS);
}

static void test_cancel(void **state)
{
	struct model model;
	uint32_t fragments;

	model__init(&model, 1);
	ask(&model, 0, 1, 2);
	ask(&model, MEMBERS, 1, 2); /* warm */
	ask(&model, 2 * MEMBERS, 1, 2); /* waits */
	assert_int_equal(grant(&model, &fragments), 0);
	credit_groups__cancel(&model.groups, &model.members[MEMBERS]);
	credit_groups__cancel(&model.groups, &model.members[2 * MEMBERS]);
	credit_groups__cancel(&model.groups, &model.members[0]);
	give_back(&model, 0, 1);
	assert_int_equal(grant(&model, &fragments), -1);
	/* A group that was left alone is let in as any other. */
	ask(&model, 2 * MEMBERS, 1, 1);
	assert_int_equal(grant(&model, &fragments), 2 * MEMBERS);
	give_back(&model, 2 * MEMBERS, 1);
	assert_int_equal(model.groups.credit.free, 1);
	assert_int_equal(model.groups.credit.lines[1].active, 0);
}

/*
 * All flows ask again and again at random: flows never hold more than the credits, all
 * credits are in use if any flow could take one, and each flow gets the credits that it
 * asked for.
 */
static void test_random(void **state)
{
	const uint32_t credits = 6;
	uint32_t asked[FLOWS] = {}, granted[FLOWS] = {}, held[FLOWS] = {};
	uint32_t fragments, total = 0, flow;
	struct model model;
	uint64_t seed = 7;
	int next;

	model__init(&model, credits);
	for (int round = 0; round < 200000; round++) {
		flow = random__below(&seed, FLOWS);
		if (round < 150000 && asked[flow] == granted[flow]) {
			fragments = 1 + random__below(&seed, 5);
			ask(&model, flow, flow % CREDIT_CLASSES, fragments);
			asked[flow] += fragments;
		}
		flow = random__below(&seed, FLOWS);
		if (held[flow]) {
			fragments = 1 + random__below(&seed, held[flow]);
			give_back(&model, flow, fragments);
			held[flow] -= fragments;
			total -= fragments;
		}
		while ((next = grant(&model, &fragments)) >= 0) {
			granted[next] += fragments;
			held[next] += fragments;
			total += fragments;
			assert_true(granted[next] <= asked[next]);
			assert_true(total <= credits);
		}
		for (uint32_t i = 0; i < FLOWS && total < credits; i++)
			assert_true(asked[i] == granted[i] || held[i]);
	}
	for (uint32_t i = 0; i < FLOWS; i++)
		assert_int_equal(asked[i], granted[i]);
}

/* A class that asks without end keeps none of its groups waiting: turns are in order. */
static void test_turns(void **state)
{
	uint32_t granted[GROUPS] = {}, fragments;
	struct model model;
	int flow;

	model__init(&model, 4);
	for (uint32_t i = 0; i < FLOWS; i++)
		ask(&model, i, 1, 1);
	for (int i = 0; i < 100 * FLOWS; i++) {
		flow = grant(&model, &fragments);
		assert_true(flow >= 0);
		granted[flow / MEMBERS] += fragments;
		give_back(&model, flow, fragments);
		ask(&model, flow, 1, 1);
	}
	for (int i = 0; i < GROUPS; i++)
		assert_in_range(granted[i], 99 * MEMBERS, 101 * MEMBERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("while there are enough credits no group waits", test_enough),
		TEST("a flow that has its share keeps no other group from credits", test_large),
		TEST("groups are read one after the other, and the next one is warmed up meanwhile",
		     test_warm_up),
		TEST("a lower class goes first whichever group is read", test_classes),
		TEST("a flow whose answer cannot be cut gets all that it wants at once, and groups wait meanwhile",
		     test_whole),
		TEST("flows that always want all at once take turns with groups",
		     test_whole_without_end),
		TEST("flows that are cancelled in a group wait no more", test_cancel),
		TEST("flows that ask at random hold no more than the credits, and all get what they want",
		     test_random),
		TEST("flows that always want more take turns by groups", test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
