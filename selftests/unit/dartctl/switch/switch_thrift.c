// SPDX-License-Identifier: GPL-2.0-only
/* Answers of a switch by Thrift: valid, wrong, and cut off anywhere. */
#include <errno.h>

#include "switch_answers.h"
#include "tools/dartctl/switch/reports/kind.h"
#include "tools/dartctl/switch/reports/state.h"

#define ROUNDS	1000
#define SEED	0x5eed

/* Returns the value of switch_state__read(). */
static int read_state(struct answers *answers, struct report_state *state, struct dart_error *error)
{
	struct report_wish wish = {
		.collectors.count = 1,
		.ports = { PORT },
	};
	struct thrift *thrift;
	pthread_t server;
	int ret;

	*error->text = '\0';
	assert_int_equal(pthread_create(&server, NULL, send_answers, answers), 0);
	assert_int_equal(thrift__connect(answers->name, &thrift, error), 0);
	ret = switch_state__read(&report_kind, thrift, &wish, state, error);
	thrift__close(thrift);
	pthread_join(server, NULL);
	assert_int_equal(!ret, !*error->text);
	return ret;
}

/* The same, where only the return value and the reason matter. */
static int read_answers(struct answers *answers, struct dart_error *error)
{
	struct report_state *state = switch_state__new(&report_kind);
	int ret;

	assert_non_null(state);
	ret = read_state(answers, state, error);
	free(state);
	return ret;
}

static void test_state(void **state)
{
	struct report_state *found = switch_state__new(&report_kind);
	struct answers *answers = answers__new();
	struct dart_error error;

	assert_non_null(found);
	append_state(answers);
	assert_int_equal(read_state(answers, found, &error), 0);
	assert_true(found->shares[263].there);
	assert_int_equal(found->shares[263].handle, 70);
	assert_int_equal(found->shares[263].values[SHARE_COLLECTOR], 5);
	assert_int_equal(found->shares[263].values[SHARE_SESSION], 0x104);
	/* An entry with another action exists, but is never the wanted one. */
	assert_true(found->shares[264].there);
	assert_true(found->shares[264].values[SHARE_COLLECTOR] == UINT64_MAX);
	assert_false(found->shares[265].there);
	assert_int_equal(found->collectors[5].handle, -1);
	assert_true(found->collectors[5].values[COLLECTOR_MAC] == 0x525401020304);
	assert_int_equal(found->collectors[5].values[COLLECTOR_RKEY], 0);
	assert_int_equal(found->collectors[5].values[COLLECTOR_REDUNDANCY], 2);
	assert_true(found->reporter.there);
	assert_int_equal(found->reporter.values[REPORTER_IP], 0x0a010102);
	assert_true(found->connections[5].there);
	assert_int_equal(found->connections[5].values[CONNECTION_FIRST_PSN], 3);
	assert_true(found->answers[0].there && !found->answers[1].there);
	assert_true(found->answers[0].key == 0x01010101010111);
	assert_int_equal(found->answers[0].values[ANSWER_SESSION], PORT + 1);
	assert_int_equal(found->sessions[PORT].values[0], PORT);
	assert_false(found->sessions[PORT + 1].there);
	answers__free(answers);
	free(found);
}

static void test_cut_off(void **state)
{
	struct answers *answers = answers__new();
	struct dart_error error;

	append_state(answers);
	while (answers->length--) {
		assert_true(read_answers(answers, &error) < 0);
		assert_string_equal(error.text, "it has disconnected");
	}
	answers__free(answers);
}

static void test_mutated(void **state)
{
	struct answers *answers = answers__new();
	uint64_t random = SEED;
	uint32_t i, refused = 0;
	struct dart_error error;
	uint8_t *byte, before;

	append_state(answers);
	for (i = 0; i < ROUNDS; i++) {
		byte = &answers->bytes[random__below(&random, answers->length)];
		before = *byte;
		*byte = random__below(&random, 256);
		refused += read_answers(answers, &error) < 0;
		*byte = before;
	}
	assert_in_range(refused, ROUNDS / 2, ROUNDS - 1);
	answers__free(answers);
}

static void append_entries_begin(struct answers *answers)
{
	answers->length = 0;
	append_header(answers, REPLY, "bm_mt_get_entries", 1);
}

static void test_refused(void **state)
{
	struct answers *answers = answers__new();
	struct dart_error error;
	uint32_t i;

	/* Nested too deep: a struct costs 3 bytes. */
	append_entries_begin(answers);
	append_list(answers, 0, THRIFT_STRUCT, 1);
	for (i = 0; i < 300000; i++)
		append_field(answers, THRIFT_STRUCT, 7);
	assert_int_equal(read_answers(answers, &error), -EPROTO);

	/* More entries than bytes, or than shares. */
	append_entries_begin(answers);
	append_list(answers, 0, THRIFT_STRUCT, UINT32_MAX);
	assert_int_equal(read_answers(answers, &error), -EPROTO);
	append_entries_begin(answers);
	append_list(answers, 0, THRIFT_STRUCT, DART_STORE_SHARES + 1);
	assert_int_equal(read_answers(answers, &error), -EPROTO);

	/* A list of empty elements is long at no cost. */
	append_entries_begin(answers);
	append_list(answers, 0, THRIFT_STRUCT, 1);
	append_list(answers, 9, THRIFT_STRUCT, INT32_MAX);
	assert_int_equal(read_answers(answers, &error), -EPROTO);

	/* The same share twice. */
	append_entries_begin(answers);
	append_list(answers, 0, THRIFT_STRUCT, 2);
	append_entry(answers, 7, 1, 70, "dart_assign", 0, NULL);
	append_entry(answers, 7, 1, 71, "dart_assign", 0, NULL);
	append_u8(answers, THRIFT_STOP);
	assert_int_equal(read_answers(answers, &error), -EPROTO);

	/* An answer to another call. */
	answers->length = 0;
	append_header(answers, REPLY, "bm_mt_get_entries", 2);
	assert_int_equal(read_answers(answers, &error), -EPROTO);
	answers->length = 0;
	append_header(answers, REPLY, "bm_mt_get_entry", 1);
	assert_int_equal(read_answers(answers, &error), -EPROTO);

	/* No result, or a result of another type. */
	append_entries_begin(answers);
	append_u8(answers, THRIFT_STOP);
	assert_int_equal(read_answers(answers, &error), -EPROTO);
	append_entries_begin(answers);
	append_i32(answers, 0, 5);
	append_u8(answers, THRIFT_STOP);
	assert_int_equal(read_answers(answers, &error), -EPROTO);

	answers->length = 0;
	append(answers, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
	assert_int_equal(read_answers(answers, &error), -EPROTO);
	assert_string_equal(error.text, "it does not speak Thrift");
	answers__free(answers);
}

static void test_exceptions(void **state)
{
	struct report_state *found = switch_state__new(&report_kind);
	struct answers *answers = answers__new();
	struct dart_error error;

	/* Thrift's own: the switch does not know the call. */
	append_header(answers, EXCEPTION, "bm_mt_get_entries", 1);
	append_field(answers, THRIFT_STRING, 1);
	append_string(answers, "\033[2J");
	append_i32(answers, 2, 1);
	append_u8(answers, THRIFT_STOP);
	assert_int_equal(read_state(answers, found, &error), -EOPNOTSUPP);
	assert_string_equal(error.text, "it does not take the call bm_mt_get_entries");

	/* The switch's. */
	append_entries_begin(answers);
	append_field(answers, THRIFT_STRUCT, 1);
	append_i32(answers, 1, 7);
	append_u8(answers, THRIFT_STOP);
	append_u8(answers, THRIFT_STOP);
	assert_int_equal(read_state(answers, found, &error), -EREMOTEIO);
	assert_string_equal(error.text, "it refuses dart_share (its code is 7)");
	answers__free(answers);
	free(found);
}

static void test_no_session(void **state)
{
	struct report_state *found = switch_state__new(&report_kind);
	struct answers *answers = answers__new();
	struct dart_error error;

	append_state(answers);
	answers->length -= 3 + 7 + 1 + 1;
	append_field(answers, THRIFT_STRUCT, 1);
	append_i32(answers, 1, 1);
	append_u8(answers, THRIFT_STOP);
	append_u8(answers, THRIFT_STOP);
	switch_entry__set(&found->sessions[PORT], 77);
	assert_int_equal(read_state(answers, found, &error), 0);
	assert_false(found->sessions[PORT].there);
	answers__free(answers);
	free(found);
}

static void test_no_switch(void **state)
{
	struct answers *answers = answers__new();
	struct thrift *thrift = NULL;
	struct dart_error error;

	close(answers->listener);
	assert_int_equal(thrift__connect(answers->name, &thrift, &error), -ECONNREFUSED);
	assert_null(thrift);
	assert_string_equal(error.text, strerror(ECONNREFUSED));
	free(answers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the tables and sessions of a switch are read, and unknown members skipped",
		     test_state),
		TEST("a switch that disconnects after any byte is reported as such", test_cut_off),
		TEST("an answer with any one byte changed never crashes the reader, and each refusal has a reason",
		     test_mutated),
		TEST("answers that are too deep, too long, repeated, mismatched or not Thrift are refused",
		     test_refused),
		TEST("an exception of Thrift is reported with the call, one of the switch with the table and its code",
		     test_exceptions),
		TEST("a mirroring session that does not exist is not an error", test_no_session),
		TEST("a connection to a port without a switch is refused with ECONNREFUSED",
		     test_no_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
