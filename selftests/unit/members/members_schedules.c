// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random schedules in virtual time: controllers and the programs that list them are killed, stopped
 * and started again, hosts are cut off from the coordinator or from targets, controllers hand over and
 * end, and the coordinator loses its quorum.  At each step each of the watched targets has at most one
 * pusher with a valid session; and while there is a quorum, and a host that nothing disturbs and that
 * reaches its portion, one that reaches it.  Of the hosts the first ones in its order count, one more
 * than stand by.
 * DART_SCHEDULES chooses the number of schedules.
 */
#include <stdio.h>
#include <stdlib.h>

#include "members_scene.h"

static bool controller__pushes(const struct host *host, unsigned int target)
{
	return host->controller.runs && !host->controller.is_stopped && host->ready <= world.now &&
	       membership__role(&host->membership, names[target], world.now) == SHARD_OWN;
}

static bool is_undisturbed(const struct host *host)
{
	return host->controller.runs && host->ready <= world.now && host->writer.runs &&
	       !host->controller.is_stopped && !host->writer.is_stopped && !host->is_cut &&
	       !host->is_leaving;
}

/*
 * A member that goes on without the coordinator cannot know whether it was replaced, until it and
 * its controller have read the members.
 */
static bool is_up_to_date(unsigned int i)
{
	const struct host *host = &world.hosts[i];

	return host->session && world.sessions[i] == host->session && host->is_connected &&
	       !host->is_cut && host->is_told && host->due[READ] == NEVER && world.has_quorum &&
	       world.now > world.quorum_since + SECOND;
}

static bool reaches_portion(const struct host *host, unsigned int target)
{
	unsigned int k;

	for (k = 0; k < WATCHED; k++)
		if (host->misses[k] &&
		    portions[world.watched[k]] == portions[world.watched[target]])
			return false;
	return true;
}

/* Must the target at this place have a pusher, soon? */
static bool is_required(unsigned int target)
{
	unsigned int i, host, count = 0;

	for (i = 0; i < HOSTS && count <= REPLICATION; i++) {
		host = world.order[target][i];
		if (!world.nodes[host].session)
			continue;
		count++;
		if (is_undisturbed(&world.hosts[host]) &&
		    reaches_portion(&world.hosts[host], target))
			return world.has_quorum;
	}
	return false;
}

/*
 * The first member in the order of a target may end, and the second one, which stands by, finds out
 * only then that it is cut off from the target, if its connection is silent.
 */
static uint64_t limit(void)
{
	return SESSION + SECOND + (world.is_silent ? AFTER + SECOND : 0);
}

static void check(void)
{
	const uint64_t since = world.disturbed > world.quorum_since ? world.disturbed :
								      world.quorum_since;
	unsigned int i, k, pushers, valid;
	uint64_t gap;

	for (k = 0; k < WATCHED; k++) {
		pushers = valid = 0;
		for (i = 0; i < HOSTS; i++) {
			if (!controller__pushes(&world.hosts[i], world.watched[k]))
				continue;
			pushers += !world.hosts[i].misses[k];
			/* One that hands over goes on until others scrape, and one interval. */
			valid += !world.hosts[i].is_leaving && (!world.goes_on || is_up_to_date(i));
		}
		if (valid > 1)
			fail_msg("%s has %u pushers at %llu", names[world.watched[k]], valid,
				 (unsigned long long)world.now);
		if (pushers || !is_required(k)) {
			world.pushed[k] = world.now;
			continue;
		}
		gap = world.now - (world.pushed[k] > since ? world.pushed[k] : since);
		if (gap > world.longest)
			world.longest = gap;
		if (gap > limit())
			fail_msg("%s has no pusher for %llu ms at %llu", names[world.watched[k]],
				 (unsigned long long)gap, (unsigned long long)world.now);
	}
}

static bool can_step(const struct host *host, enum step step)
{
	if (IS_OF_SERVER(step))
		return world.has_quorum && !host->is_cut;
	if (IS_OF_CONTROLLER(step))
		return host->controller.runs && !host->controller.is_stopped;
	return host->writer.runs && !host->writer.is_stopped && (step < BEATEN || !host->is_cut);
}

/* Runs all that happens until @end, and looks at the targets after each. */
static void run(uint64_t end)
{
	struct host *host, *first;
	enum step step, what = 0;
	uint64_t next;
	unsigned int i;

	while (world.now < end) {
		next = server__next();
		if (next > end)
			next = end;
		first = NULL;
		for (i = 0; i < HOSTS; i++) {
			host = &world.hosts[i];
			for (step = 0; step < STEPS_OF_HOST; step++) {
				if (host->due[step] >= next || !can_step(host, step))
					continue;
				next = host->due[step];
				first = host;
				what = step;
			}
		}
		if (next > world.now)
			world.now = next;
		world.events++;
		if (!first) {
			server__expire();
			check();
			continue;
		}
		i = first - world.hosts;
		first->due[what] = NEVER;
		if (IS_OF_SERVER(what))
			server__serve(first, i, what);
		else if (IS_OF_CONTROLLER(what))
			controller__take(first, what);
		else
			writer__take(first, i, what);
		if (what == READ || what == CHANGE || what == END)
			check();
	}
}

static void mend(struct host *host, unsigned int i)
{
	if (!host->writer.runs)
		writer__start(host, i);
	if (!host->controller.runs)
		controller__start(host, i);
	host->controller.is_stopped = host->writer.is_stopped = host->is_cut = false;
	memset(host->misses, 0, sizeof(host->misses));
}

static bool has_misses(const struct host *host)
{
	static const bool none[WATCHED];

	return memcmp(host->misses, none, sizeof(none));
}

/* It reaches one watched target of two any more, or none. */
static void cut_from_targets(struct host *host)
{
	const bool is_all = below(2);
	unsigned int k;

	for (k = 0; k < WATCHED; k++)
		host->misses[k] = is_all || below(2);
}

static void disturb(struct host *host, unsigned int i)
{
	switch (below(10)) {
	case 0:
		controller__kill(host);
		break;
	case 1:
		controller__kill(host);
		host->writer.runs = false;
		break;
	case 2:
		host->writer.runs = false;
		break;
	case 3:
		host->writer.is_stopped = host->controller.is_stopped = true;
		break;
	case 4:
		host->controller.is_stopped = true;
		break;
	case 5:
		host->is_cut = true;
		break;
	case 6:
		/* Its service starts it again at once. */
		controller__kill(host);
		controller__start(host, i);
		break;
	case 7:
	case 8:
		cut_from_targets(host);
		break;
	default:
		controller__leave(host);
		break;
	}
}

/* Pairs of one portion, and the order of their members. */
static void choose_watched(unsigned int i)
{
	unsigned int k, other;
	uint64_t score;

	do
		world.watched[i] = i % 2 ? partners[world.watched[i - 1]] : below(TARGETS);
	while (!(i % 2) && partners[world.watched[i]] == world.watched[i]);
	world.pushed[i] = world.now;
	for (k = 0; k < HOSTS; k++) {
		score = shard__score(names[world.watched[i]], k + 1);
		for (other = k; other && shard__score(names[world.watched[i]],
						      world.order[i][other - 1] + 1) < score;
		     other--)
			world.order[i][other] = world.order[i][other - 1];
		world.order[i][other] = k;
	}
}

static void begin(uint64_t seed)
{
	unsigned int i, step;

	memset(world.hosts, 0, sizeof(world.hosts));
	memset(world.nodes, 0, sizeof(world.nodes));
	memset(world.told, 0, sizeof(world.told));
	memset(world.sessions, 0, sizeof(world.sessions));
	world.random = seed;
	world.now = 1000000;
	world.disturbed = world.quorum_since = world.now;
	world.has_quorum = true;
	world.version++;
	world.goes_on = seed % 2;
	world.is_silent = seed / 2 % 2;
	for (i = 0; i < WATCHED; i++)
		choose_watched(i);
	for (i = 0; i < HOSTS; i++) {
		for (step = 0; step < STEPS_OF_HOST; step++)
			world.hosts[i].due[step] = NEVER;
		mend(&world.hosts[i], i);
	}
	run(world.now + 2 * SESSION);
}

static void run_schedule(uint64_t seed)
{
	unsigned int step, i;
	struct host *host;

	begin(seed);
	for (step = 0; step < STEPS; step++) {
		run(world.now + 1 + below(below(2) ? SESSION / 8 : 2 * SESSION));
		i = below(HOSTS);
		host = &world.hosts[i];
		/* Without a quorum, whatever dies or starts has no successor. */
		world.disturbed = world.now;
		if (!below(16) || !world.has_quorum)
			server__set_quorum(!world.has_quorum);
		else if (is_undisturbed(host) && !has_misses(host))
			disturb(host, i);
		else if (!host->is_leaving)
			mend(host, i);
		check();
	}
	server__set_quorum(true);
	for (i = 0; i < HOSTS; i++)
		if (!world.hosts[i].is_leaving)
			mend(&world.hosts[i], i);
	world.disturbed = world.now;
	run(world.now + 3 * SESSION);
	for (i = 0; i < HOSTS; i++)
		mend(&world.hosts[i], i);
	world.disturbed = world.now;
	run(world.now + 3 * SESSION);
}

/* After a while without a fault each target has one pusher, and one that stands by. */
static void check_all(void)
{
	unsigned int i, target, own, standby;
	enum shard_role role;

	for (target = 0; target < TARGETS; target++) {
		own = standby = 0;
		for (i = 0; i < HOSTS; i++) {
			role = membership__role(&world.hosts[i].membership, names[target],
						world.now);
			own += role == SHARD_OWN;
			standby += role == SHARD_STANDBY;
		}
		assert_int_equal(own, 1);
		assert_int_equal(standby, 1);
	}
}

static void test_schedules(void **state)
{
	const char *text = getenv("DART_SCHEDULES");
	const unsigned int schedules = text ? atoi(text) : 40;
	unsigned int i;

	for (i = 0; i < schedules; i++) {
		run_schedule(i + 1);
		/* All targets of all hosts take longer. */
		if (i % 20 < 2)
			check_all();
		/* A long run shows how far it came. */
		if (i % 1000 == 999) {
			print_message("# %u schedules\n", i + 1);
			fflush(stdout);
		}
	}
	print_message(
		"# %u schedules, %lu steps, %lu changes of lists, %lu sessions expired, %lu handed over, %lu times members told of targets that they miss; longest without a pusher: %llu ms\n",
		schedules, world.events, world.takes, world.expired, world.handed_over,
		world.tellings, (unsigned long long)world.longest);
	assert_true(world.expired > schedules);
	assert_true(world.handed_over > schedules / 2);
	assert_true(world.tellings > schedules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("whatever fails, a target has at most one pusher with a valid session, and with a quorum one after a session time-out and a second",
		     test_schedules),
	};
	unsigned int last[SHARD_PORTIONS] = {}; /* target + 1; 0: none */
	unsigned int i, *place;

	for (i = 0; i < TARGETS; i++) {
		snprintf(names[i], sizeof(names[i]), "10.1.%u.%u:4792", i >> 8, i & 255);
		portions[i] = shard__portion(names[i]);
		place = &last[portions[i]];
		partners[i] = *place ? *place - 1 : i;
		*place = i + 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
