// SPDX-License-Identifier: GPL-2.0-only
/* When a part was asked for, with and without credits. */
#include <stdlib.h>

#include "selftests/unit/unit.h"
#include "tools/controller/flow/flow.h"

#define FRAGMENTS 5

/* A transport that notes when the first READ of a part could reach the host. */
struct noting_transport {
	struct transport base; /* first: a transport is found by it */
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

static const struct transport_operations operations = {
	.path = get_path,
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

static unsigned int credits_of(struct flow_control *control, unsigned int team)
{
	return flow_control__pool(control, team)->groups.credit.total;
}

/* The bound of all bytes is shared out, and a team whose credits are in flight waits for its own. */
static void test_teams(void **state)
{
	const struct settings settings = {
		.flow = SETTINGS_FLOW_CREDIT,
		.flow_bytes = 4 * CREDIT_FRAGMENT,
		.io_threads = 2,
	};
	struct noting_transport noting[2] = {
		{ .base.operations = &operations },
		{ .base.operations = &operations },
	};
	struct flow flows[2] = { { .failed = on_failed }, { .failed = on_failed } };
	struct flow_control *control;
	struct credit_taker takers[2];
	struct timers *timers;
	int i;

	assert_int_equal(timers__new(NULL, &timers), 0);
	assert_int_equal(flow_control__new(timers, &settings, false, &control), 0);
	for (i = 0; i < 2; i++) {
		credit_taker__init(&takers[i], flow_control__pool(control, i), on_wake);
		assert_int_equal(flow__open(&flows[i], control, 0, &noting[i].base, &takers[i]), 0);
		assert_int_equal(credits_of(control, i), 2);
	}
	assert_int_equal(flow__ask(&flows[0], TRANSPORT_VALUES), 0);
	assert_int_equal(flows[0].posted, 2);
	assert_int_equal(flow__ask(&flows[1], TRANSPORT_VALUES), 0);
	assert_int_equal(flows[1].posted, 2);
	for (i = 0; i < 2; i++) {
		flow__complete(&flows[i], 1);
		assert_int_equal(flows[i].posted, 0);
		flow__stop(&flows[i]);
		flow__end(&flows[i]);
	}
	flow_control__free(control);
	timers__free(timers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the time of a part is before its first READ, with and without credits",
		     test_posted),
		TEST("two teams of threads have half of the bytes in flight each", test_teams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
