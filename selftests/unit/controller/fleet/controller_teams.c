// SPDX-License-Identifier: GPL-2.0-only
/* Targets that change while they are scraped, and two teams of I/O threads that share them. */
#include "controller_bed.h"

#define TEAMS 2

/* The settings of the next test are the default ones again. */
static void close_all(void)
{
	uint32_t i;

	bed__close();
	for (i = 0; i < bed.context.io.team_count; i++)
		assert_int_equal(bed.context.io.teams[i].load, 0);
	free_hosts();
	options.settings = (struct settings){ .interval_ns = options.settings.interval_ns };
	assert_int_equal(atomic_load(&losses), 0);
	assert_int_equal(atomic_load(&wrong), 0);
}

/* ---- roles */

/* Targets 0 and 1 are on standby at first, target 2 is scraped. */
#define STANDBY_NS 50000000
#define INTERVAL_NS 5000000

static uint64_t wanted_scrapes[HOSTS];

static bool are_scraped(void)
{
	uint32_t i;

	for (i = 0; i < host_count; i++)
		if (count__of(&target__summary(bed.targets[i])->scrapes) < wanted_scrapes[i])
			return false;
	return true;
}

/* Each target is scraped @count times more. */
static void bed__scrape(unsigned int count)
{
	uint32_t i;

	for (i = 0; i < host_count; i++)
		wanted_scrapes[i] = count__of(&target__summary(bed.targets[i])->scrapes) + count;
	bed__run(are_scraped);
}

static atomic_bool is_fenced;

static void run_fence(struct work *work)
{
	atomic_store(&is_fenced, true);
}

static bool is_behind_fence(void)
{
	return atomic_load(&is_fenced);
}

/*
 * Waits until the worker of all targets passed on what it has.  The work is not on the stack:
 * helgrind does not know that an I/O thread whose scrape came next is done with its link.
 */
static void wait_for_worker(void)
{
	struct work *fence = calloc(1, sizeof(*fence));

	assert_non_null(fence);
	fence->run = run_fence;
	atomic_store(&is_fenced, false);
	workers__hand_over_always(bed.context.workers, 0, fence);
	bed__run(is_behind_fence);
	free(fence);
}

static void change(uint32_t index, uint64_t standby_ns)
{
	target__change(bed.targets[index], standby_ns);
	target__mute(bed.targets[index], standby_ns);
}

static const char *state_of(uint32_t index)
{
	struct target_status status;

	target__status(bed.targets[index], &status);
	return status.state;
}

static void check_standby(unsigned int io_threads)
{
	struct transport *connections[3];
	uint64_t started_ns, scrapes;
	unsigned int before;
	uint32_t i;

	make_hosts(3, false);
	options.settings.io_threads = io_threads;
	bed__open();
	memset(passed, 0, sizeof(passed));
	for (i = 0; i < 3; i++)
		bed__add(i, INTERVAL_NS, i < 2 ? STANDBY_NS : 0);
	started_ns = monotonic_ns();
	bed__scrape(4);
	/* Four scrapes on standby are three intervals apart, less the phase of the first. */
	assert_true(monotonic_ns() - started_ns > 2 * STANDBY_NS);
	assert_int_equal(atomic_load(&passed[0]), 0);
	assert_int_equal(atomic_load(&passed[1]), 0);
	assert_true(atomic_load(&passed[2]) >= 4);
	assert_string_equal(state_of(0), "standby");
	assert_string_equal(state_of(2), "up");
	for (i = 0; i < 3; i++)
		connections[i] = bed.targets[i]->transport;

	/* Target 0 takes over, target 2 goes on standby. */
	scrapes = count__of(&target__summary(bed.targets[1])->scrapes);
	change(0, 0);
	change(2, STANDBY_NS);
	bed__scrape(3);
	assert_string_equal(state_of(0), "up");
	assert_string_equal(state_of(2), "standby");
	/* Its last scrapes before may still be with the worker. */
	wait_for_worker();
	before = atomic_load(&passed[2]);
	bed__scrape(10);
	assert_int_equal(atomic_load(&passed[2]), before);
	assert_int_equal(atomic_load(&passed[1]), 0);
	assert_true(atomic_load(&passed[0]) >= 10);
	assert_true(count__of(&target__summary(bed.targets[1])->scrapes) > scrapes);
	for (i = 0; i < 3; i++) {
		assert_ptr_equal(bed.targets[i]->transport, connections[i]);
		assert_int_equal(count__of(&target__summary(bed.targets[i])->failed), 0);
	}
	close_all();
}

static void test_standby(void **state)
{
	check_standby(1);
}

static void test_standby_of_teams(void **state)
{
	check_standby(TEAMS);
}

/* ---- teams */

#define HOSTS_SHARED 40

static uint64_t targets_of(const struct io_thread *thread)
{
	struct thread_figures figures = {};

	if (thread)
		io_thread__look(thread, &figures);
	return figures.targets;
}

static void check_threads(const struct target *target)
{
	const struct io_team *team = &bed.context.io.teams[target->team];

	assert_true(target->thread == team->event || target->thread == team->poll);
	assert_ptr_equal(target->io.flow.pool,
			 flow_control__pool(bed.context.flow_control, target->team));
}

/* Each of the teams has half of the targets, and the threads of a team have no others. */
static void check_teams(void)
{
	uint32_t i, targets[TEAMS] = {};
	const struct io_team *team;

	for (i = 0; i < host_count; i++) {
		check_threads(bed.targets[i]);
		targets[bed.targets[i]->team]++;
	}
	for (i = 0; i < TEAMS; i++) {
		team = &bed.context.io.teams[i];
		assert_int_equal(targets[i], host_count / TEAMS);
		assert_int_equal(team->targets, host_count / TEAMS);
		assert_int_equal(targets_of(team->event) + targets_of(team->poll),
				 host_count / TEAMS);
	}
}

/*
 * In each round a quarter of the targets of each team end and begin anew, the quarter of the round
 * before stands by from now on, and the quarter of the round before that takes over.
 */
enum turn { TURN_BEGINS, TURN_STANDS_BY, TURN_TAKES_OVER, TURN_GOES_ON, TURNS };

static uint32_t round_number;

static enum turn turn_of(uint32_t index)
{
	return (index / TEAMS + round_number) % TURNS;
}

static bool are_finished(void)
{
	return bed.finished == host_count / TURNS;
}

static bool are_drained(void)
{
	uint32_t i;

	for (i = 0; i < host_count; i++)
		if (target__is_draining(bed.targets[i]))
			return false;
	return true;
}

static void play_round(void)
{
	uint32_t i;

	for (i = 0; i < host_count; i++) {
		if (turn_of(i) == TURN_BEGINS)
			target__stop(bed.targets[i]);
		else if (turn_of(i) != TURN_GOES_ON)
			change(i, turn_of(i) == TURN_STANDS_BY ? STANDBY_NS : 0);
	}
	bed__run(are_finished);
	wait_for_worker();
	bed__run(are_drained);
	bed.finished = 0;
	for (i = 0; i < host_count; i++) {
		if (turn_of(i) != TURN_BEGINS)
			continue;
		bed__remove(i);
		has_sample[i] = false;
		atomic_fetch_sub(&samples, 1);
	}
	/* Only now: while the teams have equally many, they get them in turns. */
	for (i = 0; i < host_count; i++)
		if (turn_of(i) == TURN_BEGINS)
			bed__add(i, INTERVAL_NS, 0);
}

#define ROUNDS 12
/* Few for so many flows: most of them wait for credits, also when they end. */
#define CREDITS 8

static void test_rounds(void **state)
{
	uint32_t i;

	make_hosts(HOSTS_SHARED, false);
	options.settings.io = SETTINGS_IO_HYBRID;
	options.settings.io_threads = TEAMS;
	options.settings.flow_bytes = CREDITS * CREDIT_FRAGMENT;
	bed__open();
	for (i = 0; i < host_count; i++)
		bed__add(i, INTERVAL_NS, 0);
	bed__run(all_have_samples);
	check_teams();
	for (round_number = 0; round_number < ROUNDS; round_number++) {
		play_round();
		bed__run(all_have_samples);
		check_teams();
		bed__scrape(2);
	}
	close_all();
}

/* A target that is scraped ten times as often weighs as much as ten others. */
static void test_load(void **state)
{
	uint32_t i, others = 0;

	make_hosts(12, false);
	options.settings.io_threads = TEAMS;
	bed__open();
	bed__add(0, 1000000000, 0);
	for (i = 1; i < 12; i++)
		bed__add(i, 10000000000, 0);
	for (i = 1; i < 12; i++)
		others += bed.targets[i]->team != bed.targets[0]->team;
	assert_in_range(others, 10, 11);
	bed__run(all_have_samples);
	close_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a target on standby is connected and READ slowly, and outputs get nothing of it; it takes over, and goes back, with the connection that it has",
		     test_standby),
		TEST("the same of targets of two teams", test_standby_of_teams),
		TEST("two teams of I/O threads have half of the targets each, also while some of them end and begin, stand by and take over, amid scrapes and without credits",
		     test_rounds),
		TEST("their load is counted in scrapes", test_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
