// SPDX-License-Identifier: GPL-2.0-only
/* What follows from the members that ZooKeeper knows, in virtual time. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/members/roster.h"

#define SESSION 1000

static void hear(struct roster *roster, uint64_t begun, uint64_t used, enum roster_stage stage)
{
	roster__hear(roster,
		     &(struct roster_answer){ .begun_ns = begun,
					      .used = used,
					      .stage = stage,
					      .is_named = used && roster->has_node });
}

/* Of a controller whose list names it or not, whatever node there is. */
static void hear_named(struct roster *roster, uint64_t begun, uint64_t used, bool is_named)
{
	roster__hear(roster, &(struct roster_answer){ .begun_ns = begun,
						      .used = used,
						      .stage = ROSTER_RUNS,
						      .is_named = is_named });
}

/* Member 2 of a shard; its controller and ZooKeeper answered at 100. */
static void begin(struct roster *roster, bool goes_on)
{
	roster__begin(roster, 2, SESSION, goes_on);
	hear(roster, 100, 0, ROSTER_RUNS);
	roster__connect(roster, SESSION);
	roster__confirm(roster, 100);
}

static struct member_set set_of(unsigned int one, unsigned int other, unsigned int third)
{
	const unsigned int all[] = { one, other, third };
	struct member_set set = {};
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (all[i])
			member_set__add(&set, all[i]);
	return set;
}

static void take(struct roster *roster, unsigned int one, unsigned int other, unsigned int third,
		 uint64_t version)
{
	const struct roster_nodes nodes = {
		.present = set_of(one, other, third),
		.version = version,
	};

	roster__take(roster, &nodes);
}

/* Writes the list that is due, which must have these members and this end. */
static void expect_list(struct roster *roster, uint64_t now, unsigned int one, unsigned int other,
			unsigned int third, uint64_t valid)
{
	const struct member_set set = set_of(one, other, third);
	struct member_list list;

	assert_true(roster__list(roster, now, &list));
	assert_memory_equal(&list.present, &set, sizeof(set));
	assert_int_equal(list.valid_ns, valid);
	roster__set_written(roster, &list);
}

/* Member 2 has its node, and a list of itself and member 1. */
static void begin_listed(struct roster *roster, bool goes_on)
{
	begin(roster, goes_on);
	roster->has_node = true;
	take(roster, 1, 2, 0, 5);
	expect_list(roster, 110, 1, 2, 0, 100 + SESSION);
}

static void expect_none(struct roster *roster, uint64_t now)
{
	struct member_list list;

	assert_false(roster__list(roster, now, &list));
}

static void test_join(void **state)
{
	struct roster roster;

	roster__begin(&roster, 2, SESSION, true);
	assert_false(roster__wants_node(&roster, 50));
	begin(&roster, true);
	expect_none(&roster, 150);
	/* It does not know whether others have its targets. */
	assert_false(roster__wants_node(&roster, 150));
	/* The node of an earlier session is not this controller. */
	take(&roster, 1, 2, 3, 7);
	expect_list(&roster, 160, 1, 3, 0, 100 + SESSION);
	/* It reads a list of them first, and connects to their targets. */
	assert_false(roster__wants_node(&roster, 161));
	hear(&roster, 100, 7, ROSTER_STARTS);
	assert_false(roster__wants_node(&roster, 162));
	assert_true(roster__has_controller(&roster, 162));
	hear(&roster, 100, 7, ROSTER_RUNS);
	assert_true(roster__wants_node(&roster, 163));
	roster.has_node = true;
	take(&roster, 1, 2, 3, 8);
	expect_list(&roster, 170, 1, 2, 3, 100 + SESSION);
	assert_false(roster.written.is_agreed);
	/* The others use the list that names it, or a newer one. */
	roster.used[0] = 8;
	roster.used[2] = 7;
	expect_none(&roster, 171);
	roster.used[2] = 9;
	expect_list(&roster, 172, 1, 2, 3, 100 + SESSION);
	assert_true(roster.written.is_agreed);
	/* A member that comes later has not agreed to anything, and one that goes does not count. */
	take(&roster, 1, 2, 4, 10);
	expect_list(&roster, 180, 1, 2, 4, 100 + SESSION);
	assert_false(roster.written.is_agreed);
	take(&roster, 1, 2, 0, 11);
	expect_list(&roster, 190, 1, 2, 0, 100 + SESSION);
	assert_true(roster.written.is_agreed);
	/* It was killed and is back: the others take over until it has connected. */
	hear(&roster, 200, 11, ROSTER_STARTS);
	assert_true(roster__wants_node(&roster, 201));
	expect_list(&roster, 201, 1, 0, 0, 100 + SESSION);
	assert_false(roster.written.is_agreed);
	hear(&roster, 202, 0, ROSTER_STARTS);
	assert_false(roster__wants_node(&roster, 203));
	/* Another run of this program has no node: the list before must not count any more. */
	begin(&roster, true);
	take(&roster, 1, 2, 0, 12);
	hear_named(&roster, 100, 11, true);
	assert_false(roster__wants_node(&roster, 150));
	expect_list(&roster, 151, 1, 0, 0, 100 + SESSION);
	hear_named(&roster, 160, 12, false);
	assert_true(roster__wants_node(&roster, 170));
	/* The first member waits for no other member. */
	begin(&roster, true);
	take(&roster, 0, 0, 0, 1);
	assert_true(roster__wants_node(&roster, 150));
}

static void test_renewal(void **state)
{
	struct roster roster;

	begin_listed(&roster, true);
	roster__confirm(&roster, 400);
	/* The controller has not answered since 100. */
	expect_none(&roster, 410);
	hear(&roster, 340, 5, ROSTER_RUNS);
	expect_none(&roster, 420);
	hear(&roster, 350, 5, ROSTER_RUNS);
	expect_list(&roster, 430, 1, 2, 0, 350 + SESSION);
	/* It is frozen: its list is over before the node is. */
	roster__confirm(&roster, 1300);
	assert_true(roster__wants_node(&roster, 349 + SESSION));
	assert_false(roster__wants_node(&roster, 350 + SESSION));
	assert_int_equal(roster.written.valid_ns, 350 + SESSION);
	/* It is dead. */
	hear(&roster, 1340, 5, ROSTER_RUNS);
	assert_true(roster__wants_node(&roster, 1345));
	roster__lose_controller(&roster);
	assert_false(roster__wants_node(&roster, 1346));
	/* If it starts again, it must not believe the list of before. */
	expect_list(&roster, 1346, 1, 2, 0, 1);
}

static void test_leave(void **state)
{
	struct roster roster;

	begin(&roster, true);
	roster.has_node = true;
	take(&roster, 1, 2, 3, 5);
	roster.used[0] = roster.used[2] = 5;
	expect_list(&roster, 110, 1, 2, 3, 100 + SESSION);
	hear(&roster, 120, 5, ROSTER_LEAVES);
	assert_false(roster__wants_node(&roster, 121));
	roster.has_node = false;
	/* It is deleted, and the others may not know. */
	take(&roster, 1, 2, 3, 5);
	expect_list(&roster, 122, 1, 3, 0, 100 + SESSION);
	assert_false(roster.written.is_agreed);
	take(&roster, 1, 3, 0, 6);
	expect_list(&roster, 130, 1, 3, 0, 100 + SESSION);
	assert_false(roster.written.is_agreed);
	roster.used[0] = roster.used[2] = 6;
	expect_list(&roster, 140, 1, 3, 0, 100 + SESSION);
	assert_true(roster.written.is_agreed);
	/* The last member leaves: the list is empty. */
	take(&roster, 0, 0, 0, 9);
	expect_none(&roster, 150);
}

/* No server answers, with a session that may be valid; both kinds of users. */
static void test_unreachable(void **state)
{
	struct roster roster;
	uint64_t now;

	begin_listed(&roster, true);
	roster__disconnect(&roster);
	for (now = 800; now < 100 * SESSION; now += 300) {
		hear(&roster, now - 1, 5, ROSTER_RUNS);
		expect_list(&roster, now, 1, 2, 0, now - 1 + SESSION);
	}
	/* Connected again, in the same session. */
	roster__connect(&roster, SESSION);
	hear(&roster, now, 5, ROSTER_RUNS);
	expect_list(&roster, now, 1, 2, 0, now + SESSION);
	roster__confirm(&roster, now + 10);
	hear(&roster, now + 600, 5, ROSTER_RUNS);
	expect_none(&roster, now + 600);

	begin_listed(&roster, false);
	roster__disconnect(&roster);
	hear(&roster, 900, 5, ROSTER_RUNS);
	expect_none(&roster, 900);
	expect_none(&roster, 5000);
}

static void test_expired(void **state)
{
	struct roster roster;

	begin_listed(&roster, true);
	roster__disconnect(&roster);
	hear(&roster, 700, 5, ROSTER_RUNS);
	expect_list(&roster, 700, 1, 2, 0, 700 + SESSION);
	roster.used[0] = 5;
	roster.is_confirmed = true;
	roster__expire(&roster);
	assert_false(roster.is_confirmed || roster.has_session || roster.has_node ||
		     roster.is_known || roster.used[0]);
	/* Over at once. */
	expect_list(&roster, 710, 1, 2, 0, 1);
	expect_none(&roster, 720);
	/* In a new session the program writes no list before ZooKeeper has told the members. */
	roster__connect(&roster, SESSION);
	hear(&roster, 730, 5, ROSTER_RUNS);
	expect_none(&roster, 740);
	take(&roster, 1, 0, 0, 9);
	expect_list(&roster, 750, 1, 0, 0, 730 + SESSION);
}

/* This program and its controller are frozen, connected or not. */
static void test_frozen(void **state)
{
	struct roster roster;

	begin_listed(&roster, true);
	roster__disconnect(&roster);
	hear(&roster, 60000, 5, ROSTER_RUNS);
	expect_none(&roster, 60000);
	hear(&roster, 60300, 5, ROSTER_RUNS);
	expect_none(&roster, 60300);
	/* A request that was begun before says nothing. */
	roster__connect(&roster, SESSION);
	roster__confirm(&roster, 59999);
	expect_none(&roster, 60310);
	roster__confirm(&roster, 60000);
	expect_none(&roster, 60310);
	roster__confirm(&roster, 60310);
	expect_list(&roster, 60320, 1, 2, 0, 60300 + SESSION);
}

/* A list needs a session and a controller: each that is missing ends it, by itself. */
static void test_either_missing(void **state)
{
	struct roster roster;

	begin_listed(&roster, true);
	roster__lose_controller(&roster);
	expect_list(&roster, 150, 1, 2, 0, 1);
	expect_none(&roster, 160);

	begin_listed(&roster, true);
	roster__expire(&roster);
	take(&roster, 1, 2, 0, 6);
	expect_list(&roster, 150, 1, 2, 0, 1);
	expect_none(&roster, 160);
}

static void take_unreached(struct roster *roster, unsigned int member, unsigned int one,
			   unsigned int other, uint64_t version)
{
	struct roster_nodes nodes = { .present = set_of(1, 2, 3), .version = version };
	struct portion_set portions = {};

	if (one)
		portion_set__add(&portions, one);
	if (other)
		portion_set__add(&portions, other);
	if (one || other)
		roster_nodes__add(&nodes, member, &portions);
	roster__take(roster, &nodes);
}

/* The list that is due, or is the same, has these portions of @member alone. */
static void expect_unreached(struct roster *roster, unsigned int member, unsigned int one,
			     unsigned int other)
{
	struct portion_set all[SHARD_UNREACHED_MEMBERS] = {};
	struct member_list list;

	if (one)
		portion_set__add(&all[member - 1], one);
	if (other)
		portion_set__add(&all[member - 1], other);
	if (roster__list(roster, 150, &list))
		roster__set_written(roster, &list);
	assert_memory_equal(roster->written.unreached, all, sizeof(all));
	assert_int_equal(roster->written.session_ns, SESSION);
}

static void test_unreached(void **state)
{
	struct roster roster;

	begin(&roster, true);
	roster.has_node = true;
	take(&roster, 1, 2, 3, 5);
	roster.used[0] = roster.used[2] = 5;
	expect_unreached(&roster, 3, 0, 0);
	/* Another member: its controller has to use the list first. */
	take_unreached(&roster, 3, 70, 0, 6);
	expect_unreached(&roster, 3, 0, 0);
	roster.used[2] = 6;
	expect_unreached(&roster, 3, 70, 0);
	/* One portion goes at once, one comes later. */
	take_unreached(&roster, 3, 80, 0, 8);
	expect_unreached(&roster, 3, 0, 0);
	roster.used[2] = 7;
	expect_unreached(&roster, 3, 0, 0);
	roster.used[2] = 9;
	expect_unreached(&roster, 3, 80, 0);
	/* Versions that change nothing of it do not matter. */
	take_unreached(&roster, 3, 80, 0, 12);
	expect_unreached(&roster, 3, 80, 0);
	take_unreached(&roster, 3, 0, 0, 13);
	expect_unreached(&roster, 3, 0, 0);
	/* The own ones: at once, and until all others have used a list without them. */
	take_unreached(&roster, 2, 70, 0, 14);
	expect_unreached(&roster, 2, 70, 0);
	take_unreached(&roster, 2, 80, 0, 15);
	expect_unreached(&roster, 2, 70, 80);
	roster.used[0] = 15;
	roster.used[2] = 14;
	expect_unreached(&roster, 2, 70, 80);
	roster.used[2] = 15;
	expect_unreached(&roster, 2, 80, 0);
	/* A new session knows nothing of before. */
	roster__expire(&roster);
	roster__connect(&roster, SESSION);
	roster__confirm(&roster, 140);
	take(&roster, 1, 3, 0, 20);
	expect_unreached(&roster, 2, 0, 0);
}

/* The order of answers does not matter, nor does an old one. */
static void test_older(void **state)
{
	struct roster roster;

	begin(&roster, true);
	roster.has_node = true;
	take(&roster, 1, 2, 0, 5);
	hear(&roster, 500, 5, ROSTER_RUNS);
	roster__confirm(&roster, 400);
	roster__confirm(&roster, 300);
	expect_list(&roster, 510, 1, 2, 0, 400 + SESSION);
	/* Renewed after a quarter of a session time-out, and not before. */
	roster__confirm(&roster, 649);
	hear(&roster, 900, 5, ROSTER_RUNS);
	expect_none(&roster, 910);
	roster__confirm(&roster, 650);
	expect_list(&roster, 910, 1, 2, 0, 650 + SESSION);
	/* The nearer end counts: of the session, or of the controller. */
	roster__confirm(&roster, 1200);
	expect_list(&roster, 1210, 1, 2, 0, 900 + SESSION);
	/* Over in the moment that it says. */
	assert_true(roster__has_controller(&roster, 899 + SESSION));
	assert_false(roster__has_controller(&roster, 900 + SESSION));
	expect_none(&roster, 900 + SESSION);
	/* Another server, and a longer session: it has confirmed nothing. */
	begin(&roster, true);
	roster.has_node = true;
	take(&roster, 1, 2, 0, 5);
	roster__connect(&roster, 2 * SESSION);
	hear(&roster, 900, 5, ROSTER_RUNS);
	expect_list(&roster, 910, 1, 2, 0, 900 + 2 * SESSION);
	assert_true(roster__has_controller(&roster, 899 + 2 * SESSION));
}

/* When the own node came or went, and since when others agree. */
static void test_since(void **state)
{
	struct roster roster;

	begin(&roster, true);
	take(&roster, 1, 3, 0, 4);
	roster.used[0] = roster.used[2] = 4;
	assert_true(roster__is_agreed(&roster));
	roster.has_node = true;
	/* The node is made, and the nodes that are known do not contain it yet. */
	take(&roster, 1, 3, 0, 5);
	assert_true(roster__is_agreed(&roster));
	take(&roster, 1, 2, 3, 6);
	assert_false(roster__is_agreed(&roster));
	roster.used[0] = roster.used[2] = 6;
	assert_true(roster__is_agreed(&roster));
	/* Others come and go: nobody has to agree again. */
	take(&roster, 1, 2, 3, 9);
	assert_true(roster__is_agreed(&roster));
	/* It is deleted, and the nodes that are known contain it still. */
	roster.has_node = false;
	take(&roster, 1, 2, 3, 9);
	roster.used[0] = roster.used[2] = 9;
	assert_false(roster__is_agreed(&roster));
	take(&roster, 1, 3, 0, 10);
	assert_false(roster__is_agreed(&roster));
	roster.used[0] = roster.used[2] = 10;
	assert_true(roster__is_agreed(&roster));
	/* A member that goes and comes back has used nothing. */
	take(&roster, 1, 0, 0, 11);
	assert_int_equal(roster.used[2], 0);
	assert_int_equal(roster.used[0], 10);
	take(&roster, 1, 3, 0, 12);
	assert_false(roster__is_agreed(&roster));
	take(&roster, 1, 100, 0, 13);
	roster.used[99] = 13;
	take(&roster, 1, 3, 0, 14);
	assert_int_equal(roster.used[99], 0);
}

/* A controller, and this program, that wake in the very moment when their list is over. */
static void test_wakes(void **state)
{
	struct roster roster;

	begin_listed(&roster, true);
	roster__disconnect(&roster);
	hear(&roster, 100 + SESSION, 5, ROSTER_RUNS);
	/* Others may have taken over: nothing counts before ZooKeeper has answered. */
	expect_none(&roster, 100 + SESSION);
	hear(&roster, 110 + SESSION, 5, ROSTER_RUNS);
	expect_none(&roster, 120 + SESSION);
	roster__confirm(&roster, 100 + SESSION);
	expect_none(&roster, 130 + SESSION);
	roster__confirm(&roster, 101 + SESSION);
	expect_list(&roster, 130 + SESSION, 1, 2, 0, 101 + 2 * SESSION);

	/* A request that was begun when the list was over was begun after it. */
	begin_listed(&roster, true);
	roster__confirm(&roster, 100 + SESSION);
	hear(&roster, 150 + SESSION, 5, ROSTER_RUNS);
	expect_list(&roster, 160 + SESSION, 1, 2, 0, 100 + 2 * SESSION);
}

/* A list that would be over is not written, whatever else it says. */
static void test_over(void **state)
{
	struct roster roster;

	begin_listed(&roster, true);
	take(&roster, 1, 2, 3, 6);
	expect_none(&roster, 100 + SESSION);
	/* Nor is one that only ends it: that it is over, it says itself. */
	begin_listed(&roster, true);
	roster__expire(&roster);
	expect_none(&roster, 100 + SESSION);
	expect_none(&roster, 101 + SESSION);
	begin_listed(&roster, true);
	roster__expire(&roster);
	expect_list(&roster, 99 + SESSION, 1, 2, 0, 1);
}

/* The only member started again: its list is over, and names somebody. */
static void test_alone(void **state)
{
	struct roster roster;

	begin(&roster, true);
	roster.has_node = true;
	take(&roster, 2, 0, 0, 5);
	expect_list(&roster, 110, 2, 0, 0, 100 + SESSION);
	hear_named(&roster, 120, 5, true);
	roster.has_node = false;
	take(&roster, 0, 0, 0, 6);
	expect_list(&roster, 130, 2, 0, 0, 1);
	expect_none(&roster, 140);
	/* It leaves: nobody is to be told. */
	begin(&roster, true);
	roster.has_node = true;
	take(&roster, 2, 0, 0, 5);
	expect_list(&roster, 110, 2, 0, 0, 100 + SESSION);
	roster__hear(&roster, &(struct roster_answer){ .begun_ns = 120,
						       .used = 5,
						       .stage = ROSTER_LEAVES,
						       .is_named = true });
	roster.has_node = false;
	take(&roster, 0, 0, 0, 6);
	expect_none(&roster, 130);
}

/* The first member and the first and the last portion are like all others. */
static void test_first(void **state)
{
	struct roster roster;

	begin(&roster, true);
	roster.has_node = true;
	take(&roster, 1, 2, 3, 5);
	roster.used[0] = roster.used[2] = 5;
	take_unreached(&roster, 1, 1, SHARD_PORTIONS - 1, 6);
	expect_unreached(&roster, 1, 0, 0);
	roster.used[0] = 6;
	expect_unreached(&roster, 1, 1, SHARD_PORTIONS - 1);
	take_unreached(&roster, 1, SHARD_PORTIONS - 1, 0, 7);
	expect_unreached(&roster, 1, SHARD_PORTIONS - 1, 0);
	take_unreached(&roster, 1, 0, 0, 8);
	expect_unreached(&roster, 1, 0, 0);
	/* It goes, and comes back: it has used nothing. */
	take(&roster, 2, 3, 0, 9);
	assert_int_equal(roster.used[0], 0);
	assert_int_equal(roster.used[2], 5);
	take(&roster, 1, 2, 3, 10);
	assert_false(roster__is_agreed(&roster));
	/* The own portions, of which the first one is named at once as well. */
	roster__begin(&roster, 1, SESSION, true);
	hear(&roster, 100, 0, ROSTER_RUNS);
	roster__connect(&roster, SESSION);
	roster__confirm(&roster, 100);
	roster.has_node = true;
	take_unreached(&roster, 1, 1, 0, 5);
	expect_unreached(&roster, 1, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a member is listed with its own node alone, and all agree when their controllers use a list that names it",
		     test_join),
		TEST("a list is valid for a session time-out after answers of ZooKeeper and of the controller, and is renewed",
		     test_renewal),
		TEST("a controller that is about to end loses its node, and hears when all others have replaced it",
		     test_leave),
		TEST("without a server the last list is renewed, or ends, as the user likes",
		     test_unreachable),
		TEST("when the session expired, the list is over at once, until there is another session",
		     test_expired),
		TEST("after a freeze no list is written before ZooKeeper has answered a later request",
		     test_frozen),
		TEST("a list ends at once without its session, and without its controller",
		     test_either_missing),
		TEST("portions that a member does not reach are listed when its controller knows, and the own ones until all others know",
		     test_unreached),
		TEST("an older answer does not shorten a list, and the nearer end counts", test_older),
		TEST("others agree with lists since the own node came or went", test_since),
		TEST("whoever wakes when the list is over waits for ZooKeeper", test_wakes),
		TEST("a list that is over is not written, nor ended", test_over),
		TEST("the only member has a list that names somebody, and ends", test_alone),
		TEST("the first member, and the first and the last portion, count like others",
		     test_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
