// SPDX-License-Identifier: GPL-2.0-only
/* When a part was asked for, with and without credits. */
#include <stdlib.h>

#include "selftests/unit/unit.h"
#include "tools/controller/flow/flow.h"

#define FRAGMENTS 5

/* A transport that notes when the first READ of a part could reach the host. */
struct noting_transport {
	struct transport base; /* first: a transport is found by it */
	uint32_t group;
	uint64_t first_ns; /* CLOCK_MONOTONIC; 0: nothing was posted */
	uint32_t left, completed;
};

static struct noting_transport *noting_of(const struct transport *transport)
{
	return (struct noting_transport *)transport;
}

/* As if this thread were preempted right after the READ was posted: later readings differ. */
static void note_post(struct noting_transport *noting)
{
	const uint64_t now_ns = monotonic_ns();

	noting->first_ns = noting->first_ns ?: now_ns;
	while (monotonic_ns() == now_ns)
		;
}

static void get_path(const struct transport *transport, struct dart_endpoint_path *path)
{
	*path = (struct dart_endpoint_path){ .device = "rxe0" };
}

static int begin(struct transport *transport, enum transport_part part, uint32_t *fragments)
{
	noting_of(transport)->left = FRAGMENTS;
	if (fragments)
		*fragments = FRAGMENTS;
	else
		note_post(noting_of(transport));
	return 0;
}

static int post(struct transport *transport, uint32_t fragments)
{
	struct noting_transport *noting = noting_of(transport);

	note_post(noting);
	assert_true(fragments <= noting->left);
	noting->left -= fragments;
	noting->completed = fragments;
	return 0;
}

static uint32_t take_completed(struct transport *transport)
{
	struct noting_transport *noting = noting_of(transport);
	const uint32_t completed = noting->completed;

	noting->completed = 0;
	return completed;
}

static uint32_t get_group(const struct transport *transport)
{
	return noting_of(transport)->group;
}

static const struct transport_operations operations = {
	.path = get_path,
	.group = get_group,
	.begin = begin,
	.post = post,
	.take_completed = take_completed,
};

static void on_wake(struct credit_taker *taker)
{
	fail_msg("another thread gave back credits");
}

static void on_failed(struct flow *flow, int error)
{
	fail_msg("posting failed: %d", error);
}

/* Asks for three parts, one after the other. */
static void ask(struct flow *flow, struct noting_transport *noting)
{
	uint64_t asked_ns;
	int i;

	for (i = 0; i < 3; i++) {
		noting->first_ns = 0;
		asked_ns = monotonic_ns();
		assert_int_equal(flow__ask(flow, TRANSPORT_VALUES), 0);
		assert_int_not_equal(noting->first_ns, 0);
		assert_in_range(flow->posted_ns, asked_ns, noting->first_ns);
		assert_in_range(flow->heard_ns, asked_ns, noting->first_ns);
		/* The first post counts, however many credits come later. */
		while (noting->completed)
			flow__complete(flow, noting->left ? 0 : 1);
		assert_in_range(flow->posted_ns, asked_ns, noting->first_ns);
		flow->is_asking = false;
	}
}

static void check_flow(enum settings_flow kind, uint64_t bytes, bool is_alone)
{
	const struct settings settings = { .flow = kind, .flow_bytes = bytes };
	struct noting_transport noting = { .base.operations = &operations };
	struct flow flow = { .failed = on_failed };
	struct flow_control *control;
	struct credit_taker taker;
	struct timers *timers;

	assert_int_equal(timers__new(NULL, &timers), 0);
	assert_int_equal(flow_control__new(timers, &settings, is_alone, &control), 0);
	credit_taker__init(&taker, flow_control__pool(control, 0), on_wake);
	assert_int_equal(flow__open(&flow, control, 0, &noting.base, &taker), 0);
	ask(&flow, &noting);
	flow__stop(&flow);
	flow__end(&flow);
	flow_control__free(control);
	timers__free(timers);
}

static void test_posted(void **state)
{
	check_flow(0, 0, true);
	check_flow(SETTINGS_FLOW_NONE, 0, false);
	check_flow(SETTINGS_FLOW_CREDIT, 1 << 20, false);
	/* A fragment at a time. */
	check_flow(SETTINGS_FLOW_CREDIT, 1, false);
	check_flow(SETTINGS_FLOW_BDP, 1 << 20, false);
}

/* ---- two teams, with one taker and two credits each */

#define TEAMS 2
#define FLOWS 3

struct two_teams {
	struct flow_control *control;
	struct timers *timers;
	struct test_taker {
		struct credit_taker base; /* first: it is found by it */
		unsigned int wakes;
	} takers[TEAMS];
	struct noting_transport noting[FLOWS];
	struct flow flows[FLOWS];
};

static void count_wake(struct credit_taker *taker)
{
	((struct test_taker *)taker)->wakes++;
}

static struct credit *credit_of(struct two_teams *teams, unsigned int team)
{
	return &flow_control__pool(teams->control, team)->groups.credit;
}

static void two_teams__open(struct two_teams *teams)
{
	const struct settings settings = {
		.flow = SETTINGS_FLOW_CREDIT,
		.flow_bytes = 4 * CREDIT_FRAGMENT,
		.io_threads = TEAMS,
	};
	int i;

	*teams = (struct two_teams){};
	assert_int_equal(timers__new(NULL, &teams->timers), 0);
	assert_int_equal(flow_control__new(teams->timers, &settings, false, &teams->control), 0);
	for (i = 0; i < TEAMS; i++)
		credit_taker__init(&teams->takers[i].base, flow_control__pool(teams->control, i),
				   count_wake);
}

/* All credits are free again. */
static void two_teams__close(struct two_teams *teams)
{
	int i;

	for (i = 0; i < FLOWS; i++)
		flow__end(&teams->flows[i]);
	for (i = 0; i < TEAMS; i++) {
		assert_int_equal(credit_of(teams, i)->total, 2);
		assert_int_equal(credit_of(teams, i)->free, 2);
		assert_int_equal(credit_of(teams, i)->waiting, 0);
	}
	flow_control__free(teams->control);
	timers__free(teams->timers);
}

/* The flow asks for a part, from @team and @group of queue pairs; returns what it posts at once. */
static uint32_t two_teams__ask(struct two_teams *teams, unsigned int number, unsigned int team,
			       uint32_t group)
{
	struct noting_transport *noting = &teams->noting[number];
	struct flow *flow = &teams->flows[number];

	noting->base.operations = &operations;
	noting->group = group;
	flow->failed = on_failed;
	assert_int_equal(flow__open(flow, teams->control, 0, &noting->base,
				    &teams->takers[team].base),
			 0);
	assert_int_equal(flow__ask(flow, TRANSPORT_VALUES), 0);
	return flow->posted;
}

/* The bound of all bytes is shared out, and a team without free credits waits for its own. */
static void test_teams(void **state)
{
	struct two_teams teams;
	int i;

	two_teams__open(&teams);
	for (i = 0; i < TEAMS; i++) {
		assert_int_equal(two_teams__ask(&teams, i, i, i), 2);
		assert_int_equal(credit_of(&teams, i)->free, 0);
	}
	for (i = 0; i < TEAMS; i++) {
		/* The next two fragments of five follow. */
		flow__complete(&teams.flows[i], 0);
		assert_int_equal(teams.flows[i].posted, 2);
		flow__stop(&teams.flows[i]);
		assert_int_equal(teams.takers[i].wakes, 0);
	}
	two_teams__close(&teams);
}

/* A device goes with a group that waits for credits, and the other team gets its number. */
static void test_group_number(void **state)
{
	struct two_teams teams;

	two_teams__open(&teams);
	assert_int_equal(two_teams__ask(&teams, 0, 0, 1), 2);
	assert_int_equal(two_teams__ask(&teams, 1, 0, 0), 0);
	assert_true(flow__waits(&teams.flows[1]));
	flow__stop(&teams.flows[1]);
	flow__close(&teams.flows[1]);
	assert_int_equal(two_teams__ask(&teams, 2, 1, 0), 2);
	/* The first team does not grant to that group. */
	flow__complete(&teams.flows[0], 0);
	assert_int_equal(teams.flows[0].posted, 2);
	assert_int_equal(teams.takers[1].wakes, 0);
	flow__stop(&teams.flows[0]);
	flow__stop(&teams.flows[2]);
	two_teams__close(&teams);
}

/*
 * A target ends while its fragments are in flight: once none can be on the network, another flow of
 * its team gets their credits, and the other team none.
 */
static void test_drained(void **state)
{
	struct two_teams teams;

	two_teams__open(&teams);
	assert_int_equal(two_teams__ask(&teams, 0, 0, 0), 2);
	assert_int_equal(two_teams__ask(&teams, 1, 0, 0), 0);
	assert_int_equal(two_teams__ask(&teams, 2, 1, 1), 2);
	flow__stop(&teams.flows[0]);
	flow__close(&teams.flows[0]);
	assert_int_equal(teams.flows[0].draining, 2);
	assert_int_equal(teams.takers[0].wakes, 0);
	while (teams.flows[0].draining)
		timers__run(teams.timers, monotonic_ns());
	assert_true(monotonic_ns() >= teams.flows[0].drained_ns);
	assert_int_equal(teams.takers[0].wakes, 1);
	flow__wake_up(&teams.takers[0].base);
	assert_int_equal(teams.flows[1].posted, 2);
	assert_int_equal(teams.takers[1].wakes, 0);
	assert_int_equal(teams.flows[2].posted, 2);
	flow__stop(&teams.flows[1]);
	flow__stop(&teams.flows[2]);
	two_teams__close(&teams);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the time of a part is before its first READ, with and without credits",
		     test_posted),
		TEST("two teams of threads have half of the bytes in flight each", test_teams),
		TEST("a group of queue pairs waits for credits of its own team, whichever had its number",
		     test_group_number),
		TEST("credits of a target that ended in the middle of a part come back to its team",
		     test_drained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
