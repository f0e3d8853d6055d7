// SPDX-License-Identifier: GPL-2.0-only
/* Answers of the agent to callers that list and change entries of lookup tables, if they may. */
#include <errno.h>
#include <string.h>

#include <libdart/rpc/lookups.h>

#include "asked_session.h"

static struct dart_rpc_lookup_changes changed; /* the last ones that were made */

static ssize_t list_lookups(void *subject, const struct dart_rpc_lookups_wanted *wanted,
			    void *bytes, struct dart_error *error)
{
	struct dart_rpc_lookups_values values = { .key_length = 4,
						  .value_length = 2,
						  .epoch = 9,
						  .count = 1000,
						  .next = wanted->first + 5 };
	uint8_t *entries = (uint8_t *)bytes + sizeof(struct dart_rpc_lookups);
	size_t i;

	if (strcmp(wanted->table, "nat"))
		return dart_error__set(error, ENOENT, "there is no table '%s'", wanted->table);
	for (i = 0; i < 6000; i++)
		entries[i] = i * 31 + i / 256;
	return dart_rpc_lookups__put(bytes, &values);
}

static int change_lookups(void *subject, const struct dart_rpc_lookup_changes *changes,
			  uint8_t *outcomes, struct dart_error *error)
{
	uint32_t i;

	if (changes->epoch != 9)
		return dart_error__set(error, ESTALE, "it is another one now");
	if (changes->length != 7 * changes->count)
		return dart_error__set(error, EINVAL, "changes have %u bytes", changes->length);
	changed = *changes;
	for (i = 0; i < changes->count; i++)
		outcomes[i] = i % DART_RPC_LOOKUP_FULL + 1;
	return 0;
}

static const struct lookup_service lookups = { NULL, list_lookups, change_lookups };
static const char *const changers[] = { "one.example", "other.example" };

static void serve_lookups(struct fixture *fixture, const char *name)
{
	fixture->sessions.lookups = &lookups;
	fixture->sessions.changers = changers;
	fixture->sessions.changer_count = 2;
	session__name(&fixture->session, name);
	changed.count = 0;
}

static void ask_lookups(struct fixture *fixture, const char *table)
{
	struct dart_rpc_lookups_wanted wanted = { .first = 3 };

	strcpy(wanted.table, table);
	ask(fixture, dart_rpc__put_get_lookups(fixture->request, REQUEST_ID, &wanted));
}

static void ask_changes(struct fixture *fixture, uint32_t epoch, uint32_t count, uint32_t each)
{
	static uint8_t records[DART_RPC_RECORDS_LENGTH_MAX];
	struct dart_rpc_lookup_changes changes = { .table = "nat",
						   .epoch = epoch,
						   .count = count,
						   .records = records,
						   .length = count * each };

	ask(fixture, dart_rpc__put_change_lookups(fixture->request, REQUEST_ID, &changes));
}

/* Takes the parts of an answer; returns its length. */
static size_t land_bytes(struct fixture *fixture, uint8_t *bytes)
{
	struct dart_rpc_message message;
	size_t length = 0;

	do {
		message = next(fixture, DART_RPC_ANSWER_MIN);
		assert_int_equal(message.type, DART_RPC_PART);
		assert_int_equal(message.part.offset, length);
		memcpy(bytes + length, message.part.data, message.part.length);
		length += message.part.length;
	} while (!message.is_last);
	assert_true(session__is_idle(&fixture->session));
	assert_null(fixture->session.list);
	return length;
}

static void test_lookups(void **state)
{
	static uint8_t bytes[DART_RPC_LOOKUPS_LENGTH_MAX];
	struct fixture *fixture = *state;
	struct dart_rpc_lookups_values values;
	struct dart_error error;
	size_t length;

	serve_lookups(fixture, "other.example");
	ask_lookups(fixture, "nat");
	length = land_bytes(fixture, bytes);
	assert_int_equal(dart_rpc_lookups__decode(bytes, length, 3, &values, &error), 0);
	assert_int_equal(values.count, 1000);
	assert_int_equal(values.next, 8);
	assert_int_equal(values.entries[5999], (uint8_t)(5999 * 31 + 5999 / 256));
	ask_lookups(fixture, "none");
	expect_error(fixture, DART_RPC_ERROR_NOT_FOUND, "there is no table 'none'");
	/* More of them than a message of the answer has bytes. */
	ask_changes(fixture, 9, 576, 7);
	assert_int_equal(land_bytes(fixture, bytes), 576);
	assert_int_equal(changed.count, 576);
	assert_int_equal(bytes[575], 575 % DART_RPC_LOOKUP_FULL + 1);
	ask_changes(fixture, 8, 1, 7);
	expect_error(fixture, DART_RPC_ERROR_STALE, "it is another one now");
	ask_changes(fixture, 9, 2, 6);
	expect_error(fixture, DART_RPC_ERROR_REFUSED, "changes have 12 bytes");
	assert_false(fixture->session.is_over);
	assert_int_equal(counts.refused_changes, 0);
}

static void test_refused_lookups(void **state)
{
	static const char *const names[] = { NULL, "stranger.example", "one.exampl" };
	struct fixture *fixture = *state;
	size_t i;

	for (i = 0; i < 3; i++) {
		serve_lookups(fixture, names[i]);
		ask_changes(fixture, 9, 1, 7);
		expect_error(fixture, DART_RPC_ERROR_REFUSED,
			     i ? "' is not in tcp: tables" : "over TCP only");
		ask_lookups(fixture, "nat");
		expect_error(fixture, DART_RPC_ERROR_REFUSED,
			     i ? "' is not in tcp: tables" : "over TCP only");
		assert_int_equal(changed.count, 0);
		assert_int_equal(counts.refused_changes, 2 * (i + 1));
		assert_false(fixture->session.is_over);
	}
	/* A name that the configuration no longer lists. */
	serve_lookups(fixture, "other.example");
	fixture->sessions.changer_count = 1;
	ask_changes(fixture, 9, 1, 7);
	expect_error(fixture, DART_RPC_ERROR_REFUSED, "'other.example' is not in tcp: tables");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a caller that may lists entries of lookup tables and changes them",
			     test_lookups, open_fixture, close_fixture),
		TEST_FIXTURE("all other callers are refused with a sentence, and counted",
			     test_refused_lookups, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
