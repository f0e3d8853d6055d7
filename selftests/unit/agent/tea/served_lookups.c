// SPDX-License-Identifier: GPL-2.0-only
/* Entries of lookup tables for callers: lists in bounded answers, and changes with their outcomes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>
#include <libdart/rpc/lookups.h>

#include "agent/tea/served_lookups.h"
#include "selftests/unit/unit.h"

#define KEY 4
#define VALUE 60 /* so that an answer has room for few entries */
#define RECORD (1 + KEY + VALUE)
#define EPOCH 7
#define ENTRIES 3000

static struct lookup_table table;
static struct lookup_tables tables;
static struct lookup_service service;
static uint8_t answer[DART_RPC_LOOKUPS_LENGTH_MAX];

/* ---- the rooms around it */

struct remote_object *remote_objects__find(const struct remote_objects *objects, const char *name)
{
	assert_ptr_equal(objects, &tables.objects);
	return strcmp(name, "nat") ? NULL : &table.object;
}

static int open_table(void **state)
{
	const struct dart_tea_geometry geometry = {
		.rows_log2 = 13, .cells = 2, .key_length = KEY, .value_length = VALUE,
		.packet_length = 100,
	};
	const size_t length = dart_tea_geometry__length(&geometry);

	memset(&table, 0, sizeof(table));
	table.parameters.geometry = geometry;
	table.parameters.last_share = DART_TEA_SHARES - 1;
	table.epoch = EPOCH;
	table.object.memory.address = aligned_alloc(64, (length + 63) / 64 * 64);
	assert_non_null(table.object.memory.address);
	memset(table.object.memory.address, 0, length);
	service = served_lookups__service(&tables);
	return dart_tea_table__new(&geometry, EPOCH, table.object.memory.address, &table.entries);
}

static int close_table(void **state)
{
	dart_tea_table__free(table.entries);
	free(table.object.memory.address);
	return 0;
}

static void put_record(uint8_t *record, uint8_t operation, uint32_t number)
{
	memset(record, 0, RECORD);
	record[0] = operation;
	memcpy(record + 1, &number, KEY);
	memcpy(record + 1 + KEY, &number, KEY);
}

static void fill(uint32_t count)
{
	uint8_t record[RECORD];
	uint32_t i;

	for (i = 0; i < count; i++) {
		put_record(record, DART_REGISTRATION_TABLE_INSERT, i);
		assert_true(dart_tea_table__insert(table.entries, record + 1, record + 1 + KEY) >= 0);
	}
}

/* Asks for entries from @first on; returns the place of the next ones. */
static uint64_t ask(uint64_t first, uint32_t epoch, struct dart_rpc_lookups_values *values)
{
	const struct dart_rpc_lookups_wanted wanted = { "nat", first, epoch };
	struct dart_error error = {};
	ssize_t length;

	length = service.list(service.subject, &wanted, answer, &error);
	assert_in_range(length, sizeof(struct dart_rpc_lookups), sizeof(answer));
	if (dart_rpc_lookups__decode(answer, length, first, values, &error))
		fail_msg("%s", error.text);
	assert_int_equal(values->epoch, EPOCH);
	assert_int_equal(values->rows_log2, 13);
	assert_int_equal(values->packet_length, 100);
	return values->next;
}

static void test_lists(void **state)
{
	struct dart_rpc_lookups_values values;
	uint32_t i, number, lists = 0, found = 0;
	static bool is_found[ENTRIES];
	uint64_t next = 0;

	fill(ENTRIES);
	do {
		next = ask(next, next ? EPOCH : 0, &values);
		lists++;
		for (i = 0; i < values.count; i++) {
			const uint8_t *entry = values.entries + i * (KEY + VALUE);

			memcpy(&number, entry, KEY);
			assert_true(number < ENTRIES && !is_found[number]);
			assert_memory_equal(entry + KEY, entry, KEY);
			is_found[number] = true;
			found++;
		}
	} while (next);
	assert_int_equal(found, ENTRIES);
	/* So many have room in no fewer answers. */
	assert_true(lists >= ENTRIES * (KEY + VALUE) / DART_RPC_LOOKUPS_LENGTH_MAX + 1);
}

/* An answer about an empty table takes dartd as long as one about a part of it. */
static void test_rows(void **state)
{
	struct dart_rpc_lookups_values values;
	uint64_t next = ask(0, 0, &values);
	uint32_t lists = 1;

	assert_int_equal(values.count, 0);
	assert_in_range(next, 1, 8192);
	for (; next; lists++)
		next = ask(next, EPOCH, &values);
	assert_true(lists > 2);
	assert_int_equal(ask(UINT64_MAX, EPOCH, &values), 0);
	assert_int_equal(values.count, 0);
}

static void test_refused(void **state)
{
	struct dart_rpc_lookups_wanted wanted = { "none", 0, 0 };
	struct dart_rpc_lookup_changes changes = { .table = "nat", .epoch = EPOCH + 1, .count = 1 };
	uint8_t records[2 * RECORD], outcomes[2];
	struct dart_error error;

	assert_int_equal(service.list(service.subject, &wanted, answer, &error), -ENOENT);
	strcpy(wanted.table, "nat");
	wanted.epoch = EPOCH + 1;
	assert_int_equal(service.list(service.subject, &wanted, answer, &error), -ESTALE);
	put_record(records, DART_REGISTRATION_TABLE_INSERT, 1);
	put_record(records + RECORD, 3, 2);
	changes.records = records;
	changes.length = RECORD;
	assert_int_equal(service.change(service.subject, &changes, outcomes, &error), -ESTALE);
	changes.epoch = EPOCH;
	changes.length = RECORD - 1;
	assert_int_equal(service.change(service.subject, &changes, outcomes, &error), -EINVAL);
	/* The second one breaks a rule, so the first one is not made either. */
	changes.count = 2;
	changes.length = 2 * RECORD;
	assert_int_equal(service.change(service.subject, &changes, outcomes, &error), -EINVAL);
	assert_int_equal(dart_tea_table__lookup(table.entries, records + 1, answer), -ENOENT);
	strcpy(changes.table, "none");
	assert_int_equal(service.change(service.subject, &changes, outcomes, &error), -ENOENT);
}

static enum dart_rpc_lookup_outcome change(uint8_t operation, uint32_t number)
{
	uint8_t record[RECORD], outcome = 0;
	const struct dart_rpc_lookup_changes changes = { .table = "nat", .epoch = EPOCH, .count = 1,
							 .records = record, .length = RECORD };
	struct dart_error error;

	put_record(record, operation, number);
	assert_int_equal(service.change(service.subject, &changes, &outcome, &error), 0);
	return outcome;
}

static void test_outcomes(void **state)
{
	uint32_t i, full = 0, stashed = 0, foreign = 0;

	assert_int_equal(change(DART_REGISTRATION_TABLE_INSERT, 1), DART_RPC_LOOKUP_INSERTED);
	assert_int_equal(change(DART_REGISTRATION_TABLE_INSERT, 1), DART_RPC_LOOKUP_CHANGED);
	assert_int_equal(change(DART_REGISTRATION_TABLE_REMOVE, 1), DART_RPC_LOOKUP_REMOVED);
	assert_int_equal(change(DART_REGISTRATION_TABLE_REMOVE, 1), DART_RPC_LOOKUP_MISSING);
	for (i = 0; i < 20000; i++)
		switch (change(DART_REGISTRATION_TABLE_INSERT, i)) {
		case DART_RPC_LOOKUP_FULL:
			full++;
			break;
		case DART_RPC_LOOKUP_STASHED:
			stashed++;
			break;
		case DART_RPC_LOOKUP_INSERTED:
			break;
		default:
			fail();
		}
	assert_true(full > 1000 && stashed > 0);
	table.parameters.last_share = DART_TEA_SHARES / 2 - 1;
	for (i = 0; i < 1000; i++)
		foreign += change(DART_REGISTRATION_TABLE_REMOVE, i) == DART_RPC_LOOKUP_FOREIGN;
	assert_in_range(foreign, 400, 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("all entries come once, in answers of bounded length", test_lists,
			     open_table, close_table),
		TEST_FIXTURE("an answer looks at a bounded number of rows", test_rows, open_table,
			     close_table),
		TEST_FIXTURE("other tables, epochs and records are refused, and nothing is changed",
			     test_refused, open_table, close_table),
		TEST_FIXTURE("each change has the outcome that it had in the table", test_outcomes,
			     open_table, close_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
