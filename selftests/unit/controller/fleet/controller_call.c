// SPDX-License-Identifier: GPL-2.0-only
/*
 * Targets that are called over TCP: the control loop, the I/O thread and a worker of a
 * controller, and the agent, which shares the loop, in one process.
 */
#include "controller_called.h"

/* Waits until the first target is down, for a reason with these words. */
static void lose(struct controlled *controlled, const char *words)
{
	struct target_status status;

	do {
		turn(controlled);
		target__status(controlled->targets[0], &status);
	} while (!status.error || !strstr(status.error, words));
	assert_string_not_equal(status.state, "up");
}

static void test_scrapes(void **state)
{
	struct controlled *controlled = *state;
	struct target_status status;

	start(controlled);
	scrape(controlled, 200);
	target__status(controlled->targets[0], &status);
	assert_string_equal(status.state, "up");
	assert_null(status.error);
	assert_int_equal(status.failed, 0);
	assert_int_equal(status.discarded, 0);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

/* There is one credit, and each answer needs more. */
static void test_credits(void **state)
{
	struct controlled *controlled = *state;
	unsigned int i;

	for (i = 0; i < TARGETS; i++)
		start(controlled);
	scrape(controlled, 100);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

static void test_changes(void **state)
{
	struct controlled *controlled = *state;
	struct fixture *fixture = controlled->fixture;
	struct target_status status;
	unsigned long long generation;

	start(controlled);
	scrape(controlled, 5);
	for (int i = 0; i < 3; i++) {
		/* Every place may hold another entry then. */
		served_host__change(fixture->host, true);
		generation = fixture->host->control_region.generation;
		while (atomic_load(&controlled->seen.generation) != generation)
			scrape(controlled, 1);
	}
	target__status(controlled->targets[0], &status);
	assert_in_range(status.discarded, 1, 3);
	served_host__change(fixture->host, false);
	generation = fixture->host->control_region.generation;
	while (atomic_load(&controlled->seen.generation) != generation)
		scrape(controlled, 1);
	target__status(controlled->targets[0], &status);
	assert_int_equal(status.failed, 0);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

/* The next scrape would be due in an hour; an entry that has no values yet is worth another one. */
static void test_told(void **state)
{
	struct controlled *controlled = *state;
	struct fixture *fixture = controlled->fixture;
	struct target_status status;
	unsigned int scrapes;

	controlled->options.settings.mirror_bytes = SERVED_TABLE_MAX;
	start_every(controlled, port_of(fixture), 3600000000000ULL);
	scrape(controlled, 1);
	for (scrapes = 2; scrapes <= 4; scrapes++) {
		served_host__renew(fixture->host);
		scrape(controlled, 1);
		assert_int_equal(atomic_load(&controlled->seen.generation),
				 fixture->host->control_region.generation);
		assert_int_equal(atomic_load(&controlled->seen.samples[0]), scrapes);
	}
	target__status(controlled->targets[0], &status);
	assert_int_equal(status.failed, 0);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
	/* For each generation a table and values. */
	assert_int_equal(counts.requests, 8);
}

/* A table that is longer than the mirror would be. */
static void test_too_long(void **state)
{
	struct controlled *controlled = *state;
	struct fixture *fixture = controlled->fixture;

	controlled->options.settings.mirror_bytes = sizeof(struct dart_control_header);
	start(controlled);
	scrape(controlled, 5);
	assert_true(LIST_EMPTY(&fixture->host->control_region.mirrors.watchers.members));
}

static void test_refused(void **state)
{
	struct controlled *controlled = *state;

	start(controlled);
	scrape(controlled, 5);
	admit(controlled->fixture, "another.example");
	lose(controlled, "refuses the certificate of this side");
	admit(controlled->fixture, CALLER);
	scrape(controlled, 5);
	assert_true(atomic_load(&controlled->seen.lost) > 0);
}

static void test_gone(void **state)
{
	static char loopback[] = HOST;
	static char *addresses[] = { loopback };
	struct controlled *controlled = *state;
	struct fixture *fixture = controlled->fixture;
	const struct tcp_place place = {
		.addresses = addresses,
		.count = 1,
		.port = port_of(fixture),
	};
	struct tcp_admission admission = fixture->admission;
	struct dart_error error;
	struct pem pem;

	start(controlled);
	scrape(controlled, 5);
	tcp_listener__close(&fixture->listener);
	lose(controlled, "cannot connect: Connection refused");
	admission.files = *files_of(&pem, known, HOST, known);
	if (tcp_listener__open(&fixture->listener, fixture->loop, &place, &admission,
			       &fixture->snapshots, &changes, &counts, &refused, &error))
		fail_msg("%s", error.text);
	scrape(controlled, 5);
}

/* One target is stopped amid scrapes, and the other goes on. */
static void test_stopped(void **state)
{
	struct controlled *controlled = *state;
	struct target *target;

	start(controlled);
	start(controlled);
	scrape(controlled, 5);
	target = controlled->targets[--controlled->count];
	target__stop(target);
	while (!controlled->finished || target__is_draining(target))
		turn(controlled);
	assert_int_equal(controlled->result, 0);
	scrape(controlled, 20);
	assert_int_equal(counts.peers.connected, 1);
	/* Its worker is done with it: all samples are later. */
	target__free(target);
}

static int open_two(void **state)
{
	return open_controlled_with(state, 2);
}

/* Each of two threads calls an agent, and one goes on when the target of the other has ended. */
static void test_two_threads(void **state)
{
	struct controlled *controlled = *state;
	const struct io_team *teams = controlled->context.io.teams;
	struct target *target;

	start(controlled);
	start(controlled);
	scrape(controlled, 20);
	assert_non_null(teams[0].call);
	assert_non_null(teams[1].call);
	assert_int_equal(teams[0].targets, 1);
	target = controlled->targets[--controlled->count];
	target__stop(target);
	while (!controlled->finished || target__is_draining(target))
		turn(controlled);
	scrape(controlled, 20);
	target__free(target);
	assert_int_equal(teams[1].targets, 0);
	/* The next target takes the place. */
	start(controlled);
	scrape(controlled, 5);
	assert_int_equal(teams[1].targets, 1);
	assert_int_equal(atomic_load(&controlled->seen.lost), 0);
}

static void test_without_tls(void **state)
{
	struct controlled *controlled = *state;

	controlled->context.tls = NULL;
	start(controlled);
	lose(controlled, "tcp needs --tls-certificate");
	controlled->context.tls = controlled->fixture->tls;
	scrape(controlled, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a target that is called by TCP is scraped by its own table, with the bytes that READs would land",
			     test_scrapes, open_controlled, close_controlled),
		TEST_FIXTURE("several share a credit that is shorter than their answers",
			     test_credits, open_controlled, close_controlled),
		TEST_FIXTURE("so do the calls of one of two threads, and the other thread has its own",
			     test_credits, open_two, close_controlled),
		TEST_FIXTURE("after a change the table is fetched again, and no value of another table is shown",
			     test_changes, open_controlled, close_controlled),
		TEST_FIXTURE("an agent that is asked to tells of a change, and new entries have values at once",
			     test_told, open_controlled, close_controlled),
		TEST_FIXTURE("it is not asked to if the table is too long", test_too_long,
			     open_controlled, close_controlled),
		TEST_FIXTURE("a certificate that is refused is told, and once it is accepted values come back",
			     test_refused, open_controlled, close_controlled),
		TEST_FIXTURE("an agent that has gone is lost, and scraped again when it is back",
			     test_gone, open_controlled, close_controlled),
		TEST_FIXTURE("a target that is stopped disconnects, and disturbs no other",
			     test_stopped, open_controlled, close_controlled),
		TEST_FIXTURE("two threads share the targets out", test_two_threads, open_two,
			     close_controlled),
		TEST_FIXTURE("without a certificate of its own a controller says what it needs",
			     test_without_tls, open_controlled, close_controlled),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
