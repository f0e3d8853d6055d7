// SPDX-License-Identifier: GPL-2.0-only
/* Peers that the agent tells that its table has changed. */
#include <errno.h>

#include "asked_session.h"

static void follow_table(struct fixture *fixture, uint32_t id)
{
	messages = 0;
	ask(fixture, dart_rpc__put_follow_table(fixture->request, id, SERVED_TABLE_MAX));
}

/* Takes the rest of an answer. */
static void take_answer(struct fixture *fixture)
{
	struct dart_rpc_message message;

	do {
		message = next(fixture, DART_RPC_ANSWER_MIN);
		assert_int_equal(message.type, DART_RPC_PART);
	} while (!message.is_last);
}

static void expect_change(struct fixture *fixture, uint32_t id)
{
	const struct dart_rpc_message message = next(fixture, DART_RPC_ANSWER_MIN);

	assert_int_equal(message.type, DART_RPC_CHANGED);
	assert_int_equal(message.id, id);
}

static void expect_nothing(struct fixture *fixture)
{
	assert_true(session__is_idle(&fixture->session));
	assert_int_equal(session__next(&fixture->session, fixture->message, DART_RPC_ANSWER_MIN),
			 0);
}

static void test_change(void **state)
{
	struct fixture *fixture = *state;

	follow_table(fixture, 1);
	take_answer(fixture);
	expect_nothing(fixture);
	served_host__change(fixture->host, false);
	assert_int_equal(messages, 1);
	expect_change(fixture, 1);
	/* Once. */
	served_host__change(fixture->host, false);
	assert_int_equal(messages, 1);
	expect_nothing(fixture);
	/* A request without the flag ends it. */
	follow_table(fixture, 2);
	take_answer(fixture);
	ask(fixture, dart_rpc__put_get_table(fixture->request, 3, SERVED_TABLE_MAX));
	take_answer(fixture);
	served_host__change(fixture->host, false);
	assert_int_equal(messages, 0);
	expect_nothing(fixture);
}

/* It comes after an answer, and never within one. */
static void test_change_meanwhile(void **state)
{
	struct fixture *fixture = *state;
	struct dart_rpc_landing landing;
	struct seen_table seen;

	seen_table__open(&seen, fixture->host->table, fixture->host->control_region.used, NULL, 0);
	follow_table(fixture, 1);
	served_host__change(fixture->host, false);
	assert_int_equal(messages, 0);
	take_answer(fixture);
	assert_false(session__is_idle(&fixture->session));
	expect_change(fixture, 1);
	expect_nothing(fixture);
	follow_table(fixture, 2);
	take_answer(fixture);
	ask_values(fixture, &seen, &landing);
	served_host__change(fixture->host, false);
	assert_int_equal(messages, 0);
	take_answer(fixture);
	expect_change(fixture, 2);
	expect_nothing(fixture);
	seen_table__close(&seen);
}

static void test_change_at_end(void **state)
{
	struct fixture *fixture = *state;
	struct dart_error error;

	follow_table(fixture, 1);
	take_answer(fixture);
	assert_int_equal(session__take(&fixture->session, fixture->request, 1, &error), -EBADMSG);
	expect_error(fixture, DART_RPC_ERROR_MALFORMED, "no header");
	served_host__change(fixture->host, false);
	assert_int_equal(messages, 0);
	expect_nothing(fixture);
	session__close(&fixture->session);
	assert_true(LIST_EMPTY(&fixture->host->control_region.mirrors.watchers.members));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a change of the table is told once to a peer that asked", test_change,
			     open_fixture, close_fixture),
		TEST_FIXTURE("it is told after an answer under way", test_change_meanwhile,
			     open_fixture, close_fixture),
		TEST_FIXTURE("it is not told at the end", test_change_at_end, open_fixture,
			     close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
