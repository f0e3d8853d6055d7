// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ten controllers, ten thousand targets and a list of members that somebody else writes, in virtual
 * time: members come, go, freeze and start again, and each controller sees the list late and not
 * always.
 * DART_SCHEDULES chooses the number of random schedules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/settings/shard.h"

#define CONTROLLERS 10
#define TARGETS 10000
/* Of each schedule these are looked at after each event, and all of them at its end. */
#define WATCHED 8
#define STEPS 60
#define HANDOVER_NS 1000

static char names[TARGETS][24];

struct controller {
	struct membership membership; /* member I + 1 */
	uint64_t look_ns; /* when it looks at the list; 0: it has seen the newest one */
	uint64_t out_ns; /* when a list left it out */
	uint64_t frozen_ns; /* since when it does nothing; 0: it is not frozen */
	bool was_listed; /* when it was frozen */
	/* It was listed and frozen, has not looked at the list since, and no list left it out since. */
	bool has_woken;
	bool is_down; /* it does nothing, and its pushes are over */
};

static struct {
	struct controller all[CONTROLLERS];
	struct member_set list; /* the newest one */
	uint64_t now_ns;
	uint64_t random;
	unsigned int watched[WATCHED];
	unsigned long looks, takeovers; /* of members that were there before */
	unsigned long wakes, expired; /* from a freeze; of these, after the validity */
} world;

static unsigned int below(unsigned int limit)
{
	return random__below(&world.random, limit);
}

/* May it push?  One that woke may, whatever the newest list says: it has not seen it. */
static bool is_valid(unsigned int i)
{
	const struct controller *controller = &world.all[i];

	return (member_set__has(&world.list, i + 1) || controller->has_woken) &&
	       !controller->is_down && !controller->frozen_ns;
}

/* Counts valid members that have the target in this role. */
static unsigned int count_role(unsigned int target, enum shard_role role)
{
	unsigned int i, count = 0;

	for (i = 0; i < CONTROLLERS; i++)
		count += is_valid(i) && membership__role(&world.all[i].membership, names[target],
							 world.now_ns) == role;
	return count;
}

static void check_watched(void)
{
	unsigned int i;

	for (i = 0; i < WATCHED; i++)
		if (count_role(world.watched[i], SHARD_OWN) > 1)
			fail_msg("%s has two pushers at %llu ns", names[world.watched[i]],
				 (unsigned long long)world.now_ns);
}

static void start(struct controller *controller, unsigned int i)
{
	static char file[] = "list";
	const struct shard shard = {
		.member = i + 1,
		.replication = 2,
		.file = file,
		.handover_ns = HANDOVER_NS,
	};

	membership__begin(&controller->membership, &shard);
	controller->is_down = controller->has_woken = false;
	controller->frozen_ns = 0;
	controller->look_ns = world.now_ns + below(HANDOVER_NS);
}

/* Everybody that is not frozen sees a new list before the hand-over time is over. */
static void publish(void)
{
	uint64_t look_ns;
	unsigned int i;

	for (i = 0; i < CONTROLLERS; i++) {
		look_ns = world.now_ns + below(HANDOVER_NS);
		if (!world.all[i].is_down && look_ns < world.all[i].look_ns)
			world.all[i].look_ns = look_ns;
	}
}

static void look(struct controller *controller)
{
	struct membership *membership = &controller->membership;
	const bool was_there = member_set__has(&membership->present, membership->shard.member);
	const bool is_there = member_set__has(&world.list, membership->shard.member);
	const struct member_list list = {
		.present = world.list,
		.valid_ns = world.now_ns + HANDOVER_NS,
	};
	const bool was_valid = membership__is_valid(membership, world.now_ns);

	/* In time for the validity. */
	controller->look_ns = world.now_ns + HANDOVER_NS / 2;
	controller->has_woken = false;
	world.looks++;
	if (membership__take(membership, &list, world.now_ns) && was_there && is_there && was_valid)
		/* No role of a member that stays changes later without another list. */
		world.takeovers += membership__change_ns(membership, world.now_ns) == list.valid_ns;
}

static void toggle(unsigned int i)
{
	struct controller *controller = &world.all[i];
	const uint64_t bit = 1ULL << i;

	if (member_set__has(&world.list, i + 1)) {
		/* Its list must not be valid any more when others take over. */
		if (member_set__count(&world.list) == 1 ||
		    (controller->frozen_ns &&
		     world.now_ns < controller->frozen_ns + HANDOVER_NS))
			return;
		world.list.bits[0] &= ~bit;
		controller->out_ns = world.now_ns;
		/* It is awake, so it counts as any other that the list leaves out. */
		if (!controller->frozen_ns)
			controller->has_woken = false;
	} else if (world.now_ns >= controller->out_ns + HANDOVER_NS && !controller->is_down) {
		world.list.bits[0] |= bit;
	}
	publish();
}

/* A controller stops, for longer than its list is valid or not, or goes on with the old list. */
static void freeze(unsigned int i)
{
	struct controller *controller = &world.all[i];

	if (controller->is_down)
		return;
	if (!controller->frozen_ns) {
		controller->frozen_ns = world.now_ns;
		controller->was_listed = member_set__has(&world.list, i + 1);
		return;
	}
	controller->frozen_ns = 0;
	controller->has_woken = controller->was_listed;
	controller->look_ns = world.now_ns + 1 + below(HANDOVER_NS / 10);
	world.wakes++;
	world.expired += !membership__is_valid(&controller->membership, world.now_ns);
	check_watched();
}

/* A controller dies, and the writer of the list may notice; or it is started again. */
static void crash(unsigned int i)
{
	struct controller *controller = &world.all[i];

	if (controller->is_down) {
		start(controller, i);
		return;
	}
	controller->is_down = true;
}

/* Runs all that happens until @end_ns, and looks at the targets after each. */
static void run(uint64_t end_ns)
{
	struct controller *controller;
	uint64_t next_ns, change_ns;
	unsigned int i;

	while (world.now_ns < end_ns) {
		next_ns = end_ns;
		for (i = 0; i < CONTROLLERS; i++) {
			controller = &world.all[i];
			change_ns = membership__change_ns(&controller->membership, world.now_ns);
			if (controller->is_down || controller->frozen_ns)
				continue;
			if (controller->look_ns < next_ns)
				next_ns = controller->look_ns;
			if (change_ns && change_ns < next_ns)
				next_ns = change_ns;
		}
		if (next_ns > world.now_ns)
			world.now_ns = next_ns;
		for (i = 0; i < CONTROLLERS; i++) {
			controller = &world.all[i];
			if (!controller->is_down && !controller->frozen_ns &&
			    controller->look_ns <= world.now_ns)
				look(controller);
		}
		check_watched();
	}
}

static void run_schedule(uint64_t seed)
{
	unsigned int step, i;

	memset(&world.all, 0, sizeof(world.all));
	world.random = seed;
	world.now_ns = 1000000;
	world.list = (struct member_set){ .bits[0] = (1ULL << CONTROLLERS) - 1 };
	for (i = 0; i < WATCHED; i++)
		world.watched[i] = below(TARGETS);
	for (i = 0; i < CONTROLLERS; i++)
		start(&world.all[i], i);
	for (step = 0; step < STEPS; step++) {
		run(world.now_ns + 1 + below(below(2) ? HANDOVER_NS / 10 : 2 * HANDOVER_NS));
		i = below(CONTROLLERS);
		switch (below(6)) {
		case 0:
			crash(i);
			break;
		case 1:
		case 2:
			freeze(i);
			break;
		default:
			toggle(i);
			break;
		}
	}
}

/* After a while without an event each target of a live member has one pusher and one standby. */
static void check_quiet(void)
{
	unsigned int i, target;

	for (i = 0; i < CONTROLLERS; i++) {
		if (world.all[i].frozen_ns)
			freeze(i);
		if (world.all[i].is_down)
			start(&world.all[i], i);
	}
	run(world.now_ns + 3 * HANDOVER_NS);
	for (target = 0; target < TARGETS; target++) {
		assert_int_equal(count_role(target, SHARD_OWN), 1);
		assert_int_equal(count_role(target, SHARD_STANDBY),
				 member_set__count(&world.list) > 1);
	}
}

static void test_schedules(void **state)
{
	const char *text = getenv("DART_SCHEDULES");
	const unsigned int schedules = text ? atoi(text) : 400;
	unsigned int i;

	world.looks = world.takeovers = world.wakes = world.expired = 0;
	for (i = 0; i < schedules; i++) {
		run_schedule(i + 1);
		/* All targets of all controllers take longer. */
		if (i % 100 == 99)
			check_quiet();
	}
	print_message("# %u schedules, %lu lists seen, %lu by members that took over at once; %lu woke, %lu of them after the validity\n",
		      schedules, world.looks, world.takeovers, world.wakes, world.expired);
	assert_true(world.takeovers > schedules);
	assert_true(world.expired > schedules);
}

static void test_takeover(void **state)
{
	static char file[] = "list";
	const struct shard shard = { .member = 1, .file = file, .replication = 2 };
	struct member_list list = {};
	struct membership membership;
	unsigned int target = 0;
	const uint64_t joined_ns = SHARD_HANDOVER_DEFAULT_NS;

	member_set__add(&list.present, 1);
	member_set__add(&list.present, 1024);
	membership__begin(&membership, &shard);
	assert_int_equal(membership__count(&membership), 0);
	assert_int_equal(membership__role(&membership, names[0], 5), SHARD_LEFT);
	assert_true(membership__take(&membership, &list, 0));
	assert_int_equal(membership__count(&membership), 2);
	assert_false(membership__take(&membership, &list, 0));
	/* The member that joins stands by for its own targets, too. */
	while (membership__rank(&membership, names[target], 1))
		target++;
	assert_int_equal(membership__role(&membership, names[target], joined_ns - 1),
			 SHARD_STANDBY);
	assert_int_equal(membership__change_ns(&membership, joined_ns - 1), joined_ns);
	assert_int_equal(membership__role(&membership, names[target], joined_ns), SHARD_OWN);
	assert_int_equal(membership__change_ns(&membership, joined_ns), 0);
	while (!membership__rank(&membership, names[target], 1))
		target++;
	assert_int_equal(membership__role(&membership, names[target], joined_ns), SHARD_STANDBY);
	/* The other one goes: no waiting. */
	list = (struct member_list){};
	member_set__add(&list.present, 1);
	assert_true(membership__take(&membership, &list, joined_ns));
	assert_int_equal(membership__role(&membership, names[target], joined_ns), SHARD_OWN);
	/* The list leaves this one out: it goes on reading. */
	list = (struct member_list){};
	member_set__add(&list.present, 2);
	assert_true(membership__take(&membership, &list, joined_ns));
	assert_int_not_equal(membership__role(&membership, names[target], joined_ns), SHARD_OWN);
	assert_false(membership__has(&membership, names[target], 1, 2));
	assert_true(membership__has(&membership, names[target], 2, 1));
}

static void test_validity(void **state)
{
	static char file[] = "list";
	const struct shard shard = {
		.member = 1, .file = file, .replication = 2, .handover_ns = 100
	};
	struct member_list list = { .valid_ns = 500, .is_agreed = true };
	struct membership membership;
	unsigned int target = 0;

	member_set__add(&list.present, 1);
	member_set__add(&list.present, 2);
	membership__begin(&membership, &shard);
	/* All others know that it joins. */
	assert_true(membership__take(&membership, &list, 10));
	while (membership__rank(&membership, names[target], 1))
		target++;
	assert_int_equal(membership__role(&membership, names[target], 10), SHARD_OWN);
	assert_int_equal(membership__change_ns(&membership, 10), 500);
	/* A list that only lasts longer changes nothing. */
	list.valid_ns = 600;
	assert_false(membership__take(&membership, &list, 400));
	assert_int_equal(membership__role(&membership, names[target], 599), SHARD_OWN);
	assert_int_equal(membership__change_ns(&membership, 599), 600);
	assert_int_equal(membership__role(&membership, names[target], 600), SHARD_STANDBY);
	assert_int_equal(membership__change_ns(&membership, 600), 0);
	/* Another one: others may have taken over, so it joins anew. */
	list = (struct member_list){ .present = list.present, .valid_ns = 900 };
	assert_true(membership__take(&membership, &list, 700));
	assert_int_equal(membership__role(&membership, names[target], 799), SHARD_STANDBY);
	assert_int_equal(membership__change_ns(&membership, 700), 800);
	assert_int_equal(membership__role(&membership, names[target], 800), SHARD_OWN);
	assert_int_equal(membership__change_ns(&membership, 800), 900);
	/* The others answer while it waits. */
	assert_true(membership__take(&membership, &list, 1000));
	list.valid_ns = 2000;
	assert_true(membership__take(&membership, &list, 1000));
	assert_int_equal(membership__role(&membership, names[target], 1010), SHARD_STANDBY);
	list.is_agreed = true;
	assert_true(membership__take(&membership, &list, 1010));
	assert_int_equal(membership__role(&membership, names[target], 1010), SHARD_OWN);
}

/* Three members: the order of a target is the one of its scores, without members that miss it. */
static void test_unreached(void **state)
{
	static char file[] = "list";
	const struct shard shard = { .member = 1, .file = file, .replication = 2 };
	struct member_list list = { .is_agreed = true };
	unsigned int order[SHARD_MEMBERS_MAX], first, second, third, portion;
	struct membership membership;

	for (first = 1; first <= 3; first++)
		member_set__add(&list.present, first);
	membership__begin(&membership, &shard);
	membership__take(&membership, &list, 0);
	assert_int_equal(membership__order(&membership, names[0], order), 3);
	first = order[0], second = order[1], third = order[2];
	portion = shard__portion(names[0]);
	assert_true(portion < SHARD_PORTIONS);
	/* Another portion changes nothing. */
	portion_set__add(&list.unreached[first - 1], (portion + 1) % SHARD_PORTIONS);
	assert_true(membership__take(&membership, &list, 0));
	assert_int_equal(membership__place(&membership, names[0], first), 0);
	portion_set__add(&list.unreached[first - 1], portion);
	assert_true(membership__take(&membership, &list, 0));
	assert_false(membership__take(&membership, &list, 0));
	assert_int_equal(membership__place(&membership, names[0], first), 2);
	assert_int_equal(membership__place(&membership, names[0], second), 0);
	assert_int_equal(membership__place(&membership, names[0], third), 1);
	assert_int_equal(membership__rank(&membership, names[0], first), 0);
	/* The first one stands by in any case, and the third one does, too. */
	membership.shard.member = first;
	assert_int_equal(membership__role(&membership, names[0], 0), SHARD_STANDBY);
	membership.shard.member = second;
	assert_int_equal(membership__role(&membership, names[0], 0), SHARD_OWN);
	membership.shard.member = third;
	assert_int_equal(membership__role(&membership, names[0], 0), SHARD_STANDBY);
	assert_false(membership__has(&membership, names[0], third, 2));
	assert_true(membership__has(&membership, names[0], first, 1));
	/* The second one misses it, too; then all do, and the order is the plain one. */
	portion_set__add(&list.unreached[second - 1], portion);
	membership__take(&membership, &list, 0);
	assert_int_equal(membership__order(&membership, names[0], order), 3);
	assert_true(order[0] == third && order[1] == first && order[2] == second);
	assert_int_equal(membership__role(&membership, names[0], 0), SHARD_OWN);
	membership.shard.member = second;
	assert_int_equal(membership__role(&membership, names[0], 0), SHARD_STANDBY);
	portion_set__add(&list.unreached[third - 1], portion);
	membership__take(&membership, &list, 0);
	membership__order(&membership, names[0], order);
	assert_true(order[0] == first && order[1] == second && order[2] == third);
	/* One that is not there does not matter. */
	member_set__remove(&list.present, first);
	membership__take(&membership, &list, 0);
	assert_int_equal(membership__place(&membership, names[0], second), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a member that joins waits, a member that was there takes over at once, and one that is left out scrapes nothing",
		     test_takeover),
		TEST("a member whose list is not valid any more scrapes nothing, and joins anew with the next one",
		     test_validity),
		TEST("members that do not reach a target come after all others in its order, and stand by if they would scrape it",
		     test_unreached),
		TEST("of 10,000 targets and 10 controllers, at no time has a target two pushers that the list names or that woke from a freeze",
		     test_schedules),
	};
	unsigned int i;

	for (i = 0; i < TARGETS; i++)
		snprintf(names[i], sizeof(names[i]), "10.1.%u.%u:4792", i >> 8, i & 255);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
