// SPDX-License-Identifier: GPL-2.0-only
/* Which targets a controller does not reach, and for how long it says so. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/fleet/target_private.h"
#include "tools/controller/fleet/unreached.h"

#define TARGETS 3
#define SECOND 1000000000ULL
#define SESSION_NS (6 * SECOND)
#define INTERVAL_NS (10 * SECOND)

static struct target targets[TARGETS];
static struct target_settings settings[TARGETS];
static char names[TARGETS][16];
static bool is_ending;

/* ---- the set of targets */

size_t target_set__end_index(const struct target_set *set)
{
	return TARGETS + 1;
}

struct target *target_set__target(const struct target_set *set, size_t index)
{
	return index < TARGETS ? &targets[index] : NULL;
}

bool target_set__is_ending(const struct target_set *set, size_t index)
{
	return is_ending;
}

const struct target_settings *target__settings(const struct target *target)
{
	return target->settings;
}

/* Of outputs, which hear nothing of this. */
int decoder__report_down(struct decoder *decoder, int64_t time_ns, const char *reason)
{
	return -ENOSYS;
}

/* Connected for a minute, with values a second ago. */
static void begin(struct membership *membership)
{
	static char file[] = "list";
	const struct shard shard = { .member = 1, .replication = 1, .file = file };
	struct member_list list = { .session_ns = SESSION_NS };
	unsigned int i;

	memset(targets, 0, sizeof(targets));
	is_ending = false;
	for (i = 0; i < TARGETS; i++) {
		snprintf(names[i], sizeof(names[i]), "host%u:4792", i);
		settings[i].name = names[i];
		targets[i].settings = &settings[i];
		targets[i].state = TARGET_READING;
		targets[i].io.ring = (struct ring *)names;
		targets[i].interval_ns = INTERVAL_NS;
		targets[i].since_ns = monotonic_ns() - 60 * SECOND;
		count__set(&targets[i].io.landed_ns, monotonic_ns() - SECOND);
	}
	member_set__add(&list.present, 1);
	membership__begin(membership, &shard);
	membership__take(membership, &list, 0);
}

/* Has the state of the program been the same for this time? */
static void pass(struct unreached *unreached, struct target *target, uint64_t time_ns)
{
	unsigned int i;

	unreached->looked_ns = 0;
	unreached->resumed_ns -= time_ns;
	for (i = 0; i < SHARD_PORTIONS; i++)
		if (unreached->missed_ns[i])
			unreached->missed_ns[i] -= time_ns;
	if (!target)
		return;
	target->since_ns -= time_ns;
	target->changed_ns -= target->changed_ns ? time_ns : 0;
	target->missed_ns -= target->missed_ns ? time_ns : 0;
	count__set(&target->io.landed_ns, count__of(&target->io.landed_ns) - time_ns);
}

static bool is_missed(struct unreached *unreached, const struct membership *membership,
		      unsigned int target)
{
	return portion_set__has(unreached__look(unreached, NULL, membership),
				shard__portion(names[target]));
}

static void test_silent(void **state)
{
	static struct unreached unreached;
	struct membership membership;

	begin(&membership);
	/* The first call is as after a pause. */
	assert_false(is_missed(&unreached, &membership, 0));
	pass(&unreached, &targets[0], INTERVAL_NS + SESSION_NS / 3 - 2 * SECOND);
	assert_false(is_missed(&unreached, &membership, 0));
	pass(&unreached, &targets[0], 2 * SECOND);
	assert_true(is_missed(&unreached, &membership, 0));
	assert_false(is_missed(&unreached, &membership, 1));
	/* Another member has it; at the longer interval of a standby it is not reached either. */
	targets[0].changed_ns = monotonic_ns();
	targets[0].interval_ns = 60 * SECOND;
	pass(&unreached, &targets[0], 2 * SESSION_NS);
	assert_true(is_missed(&unreached, &membership, 0));
	/* It has values again: for a whole session time-out it is not told. */
	count__set(&targets[0].io.landed_ns, monotonic_ns());
	pass(&unreached, NULL, SESSION_NS - SECOND);
	assert_true(is_missed(&unreached, &membership, 0));
	pass(&unreached, NULL, SECOND);
	assert_false(is_missed(&unreached, &membership, 0));
}

static void test_connection(void **state)
{
	static struct unreached unreached;
	struct membership membership;

	begin(&membership);
	assert_false(is_missed(&unreached, &membership, 1));
	targets[1].state = TARGET_DISCONNECTED;
	targets[1].io.ring = NULL;
	targets[1].since_ns = monotonic_ns();
	pass(&unreached, &targets[1], SESSION_NS / 3 - SECOND);
	assert_false(is_missed(&unreached, &membership, 1));
	/* A change of its interval changes nothing. */
	targets[1].changed_ns = monotonic_ns();
	pass(&unreached, &targets[1], SECOND);
	assert_true(is_missed(&unreached, &membership, 1));
	/* Connected again, with a table. */
	targets[1].state = TARGET_READING;
	targets[1].io.ring = (struct ring *)names;
	targets[1].since_ns = monotonic_ns();
	pass(&unreached, NULL, SESSION_NS);
	assert_false(is_missed(&unreached, &membership, 1));
}

/* The first connection: until it has failed, the target does not count as unreached. */
static void test_first(void **state)
{
	static struct unreached unreached;
	struct membership membership;

	begin(&membership);
	targets[0].state = TARGET_CONNECTING;
	targets[0].io.ring = NULL;
	count__set(&targets[0].io.landed_ns, 0);
	assert_false(is_missed(&unreached, &membership, 0));
	pass(&unreached, NULL, 60 * SECOND);
	assert_false(is_missed(&unreached, &membership, 0));
	targets[0].failure = names[0];
	pass(&unreached, NULL, 0);
	assert_true(is_missed(&unreached, &membership, 0));
}

static void test_others(void **state)
{
	static struct unreached unreached;
	struct member_list list = {};
	struct membership membership;
	unsigned int i;

	begin(&membership);
	assert_false(is_missed(&unreached, &membership, 2));
	/* This controller was stopped: calls did not come. */
	pass(&unreached, &targets[2], 60 * SECOND);
	unreached.asked_ns -= SESSION_NS;
	assert_false(is_missed(&unreached, &membership, 2));
	pass(&unreached, &targets[2], INTERVAL_NS + SESSION_NS / 3);
	is_ending = true;
	assert_false(is_missed(&unreached, &membership, 2));
	is_ending = false;
	/* A target of another member. */
	member_set__add(&membership.present, 2);
	for (i = 0; !membership__rank(&membership, names[2], 1); i++)
		snprintf(names[2], sizeof(names[2]), "host%u", i);
	pass(&unreached, NULL, SECOND);
	assert_false(is_missed(&unreached, &membership, 2));
	membership.shard.replication = 2;
	pass(&unreached, NULL, SECOND);
	assert_true(is_missed(&unreached, &membership, 2));
	/* Nobody wants to know. */
	member_set__add(&list.present, 1);
	membership__take(&membership, &list, 0);
	assert_false(is_missed(&unreached, &membership, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a silent target is told after its interval and a third of the session, until it has had values for a session",
		     test_silent),
		TEST("a target without a connection is told after a third of the session, until it has had a table for a session",
		     test_connection),
		TEST("a target that was never reached is told once an attempt has failed",
		     test_first),
		TEST("nothing is told after a pause of this controller, of other members' targets, and without a session",
		     test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
