// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of another host: dart-flows calls dartd over TLS, both in this process.  Callers that
 * dartd does not name are refused, changes are made in their order, and answers that break a rule
 * end the connection.
 */
#include <dart/registration.h>
#include <libdart/rpc/lookups.h>
#include <libdart/tea/tea_lookup.h>
#include <libdart/tea/tea_table.h>

#include "selftests/unit/agent/serve/serve_tcp.h"
#include "tools/flows/table/table.h"

#define KEY 4
#define VALUE 2
#define TABLE "nat"
#define EPOCH 7
#define FILLER 0x10000000 /* keys from here on are in the table before dart-flows comes */

/* ---- a lookup table, and what dartd says about it */

enum lie {
	NO_LIE,
	OTHER_GEOMETRY, /* in the second answer */
	OTHER_LENGTH, /* of keys */
	TOO_MANY, /* entries without an end */
	NO_PROGRESS, /* the list does not go on */
	NO_OUTCOME,
	OTHER_OUTCOME,
};

static struct {
	struct dart_tea_geometry geometry;
	struct dart_tea_table *entries;
	void *memory;
	uint32_t epoch;
	uint32_t step; /* rows that a list has, at most */
	enum lie lie;
	uint64_t lists, changes;
} served;

static int check_table(const char *name, uint32_t epoch, struct dart_error *error)
{
	if (strcmp(name, TABLE))
		return dart_error__set(error, ENOENT, "there is no table '%s'", name);
	if (epoch && epoch != served.epoch)
		return dart_error__set(error, ESTALE, "table '%s' is another one now", name);
	return 0;
}

static ssize_t list(void *subject, const struct dart_rpc_lookups_wanted *wanted, void *bytes,
		    struct dart_error *error)
{
	struct dart_tea_walk walk = { .row = wanted->first };
	uint8_t *entry = (uint8_t *)bytes + sizeof(struct dart_rpc_lookups);
	struct dart_rpc_lookups_values values = {
		.rows_log2 = served.geometry.rows_log2,
		.cells = served.geometry.cells,
		.key_length = KEY,
		.value_length = VALUE,
		.packet_length = served.geometry.packet_length,
		.epoch = served.epoch,
	};
	const uint64_t rows = dart_tea_geometry__rows(&served.geometry) +
			      dart_tea_geometry__stash_cells(&served.geometry);
	const int ret = check_table(wanted->table, wanted->epoch, error);
	bool is_stashed;

	if (ret)
		return ret;
	served.lists++;
	while (dart_tea_lookup__next_until(dart_tea_table__hash(served.entries), served.memory,
					   wanted->first + served.step, &walk, entry,
					   &is_stashed)) {
		entry += KEY + VALUE;
		values.count++;
	}
	values.next = walk.row < rows ? walk.row : 0;
	if (served.lie == OTHER_GEOMETRY && wanted->first)
		values.packet_length++;
	if (served.lie == OTHER_LENGTH) {
		values.key_length--;
		values.value_length++;
	}
	if (served.lie == TOO_MANY) {
		values.count = 1000;
		values.next = wanted->first + 1;
	}
	if (served.lie == NO_PROGRESS)
		values.next = wanted->first ?: 1;
	return dart_rpc_lookups__put(bytes, &values);
}

static enum dart_rpc_lookup_outcome make_change(const uint8_t *record)
{
	if (*record != DART_REGISTRATION_TABLE_INSERT)
		return dart_tea_table__remove(served.entries, record + 1) ?
			       DART_RPC_LOOKUP_MISSING :
			       DART_RPC_LOOKUP_REMOVED;
	switch (dart_tea_table__insert(served.entries, record + 1, record + 1 + KEY)) {
	case DART_TEA_INSERTED:
		return DART_RPC_LOOKUP_INSERTED;
	case DART_TEA_STASHED:
		return DART_RPC_LOOKUP_STASHED;
	case DART_TEA_CHANGED:
		return DART_RPC_LOOKUP_CHANGED;
	default:
		return DART_RPC_LOOKUP_FULL;
	}
}

static int change(void *subject, const struct dart_rpc_lookup_changes *changes, uint8_t *outcomes,
		  struct dart_error *error)
{
	const int ret = check_table(changes->table, changes->epoch, error);
	uint32_t i;

	if (ret)
		return ret;
	assert_int_equal(changes->length, changes->count * (1 + KEY + VALUE));
	for (i = 0; i < changes->count; i++)
		outcomes[i] = make_change(changes->records + i * (1 + KEY + VALUE));
	served.changes += changes->count;
	if (served.lie == NO_OUTCOME)
		outcomes[0] = 0;
	if (served.lie == OTHER_OUTCOME)
		outcomes[0] = DART_RPC_LOOKUP_FULL + 1;
	return 0;
}

static const struct lookup_service service = { NULL, list, change };
static const char *const changers[] = { CALLER };

static void key_of(uint32_t number, uint8_t key[static KEY])
{
	memcpy(key, &number, KEY);
}

static void serve_table(struct fixture *fixture, uint32_t rows_log2, uint32_t fillers)
{
	uint8_t key[KEY], value[VALUE] = {};
	uint32_t i;

	memset(&served, 0, sizeof(served));
	served.geometry = (struct dart_tea_geometry){
		.rows_log2 = rows_log2,
		.cells = 4,
		.key_length = KEY,
		.value_length = VALUE,
		.packet_length = 100,
	};
	served.epoch = EPOCH;
	served.step = 100;
	served.memory =
		aligned_alloc(64, (dart_tea_geometry__length(&served.geometry) + 63) / 64 * 64);
	assert_non_null(served.memory);
	memset(served.memory, 0, dart_tea_geometry__length(&served.geometry));
	assert_int_equal(
		dart_tea_table__new(&served.geometry, EPOCH, served.memory, &served.entries), 0);
	for (i = 0; i < fillers; i++) {
		key_of(FILLER + i, key);
		assert_true(dart_tea_table__insert(served.entries, key, value) >= 0);
	}
	fixture->listener.peers.sessions.lookups = &service;
	fixture->listener.peers.sessions.changers = changers;
	fixture->listener.peers.sessions.changer_count = 1;
}

static void forget_table(void)
{
	dart_tea_table__free(served.entries);
	free(served.memory);
}

static uint64_t entries_now(void)
{
	struct dart_tea_statistics statistics;

	dart_tea_table__statistics(served.entries, &statistics);
	return statistics.entries;
}

/* ---- dart-flows */

static struct {
	uint32_t seen, compared, told, last_token;
	uint32_t absent; /* changes whose entries are not there */
	bool is_known; /* the entries that are seen */
	bool is_there;
	char reason[DART_ERROR_MAX];
} flows;

static bool on_see(void *subject, const uint8_t *key, const uint8_t *value)
{
	flows.seen++;
	return flows.is_known;
}

static void on_compare(void *subject)
{
	flows.compared++;
}

static void on_changed(void *subject, void *token, bool is_inserted, bool is_there)
{
	const uint32_t number = (uintptr_t)token;

	assert_int_equal(number, flows.last_token + 1);
	flows.last_token = number;
	flows.told++;
	flows.absent += is_inserted && !is_there;
}

static void on_connected(void *subject, bool is_there, const char *reason)
{
	flows.is_there = is_there;
	if (!is_there)
		snprintf(flows.reason, sizeof(flows.reason), "%s", reason);
}

static const struct table_handlers handlers = { on_see, on_compare, on_changed, on_connected };

static struct table *call(struct fixture *fixture, const char *name)
{
	static struct table_server server;
	static struct table_settings settings;
	static struct pem pem;
	struct dart_error error;
	struct table *table;

	memset(&flows, 0, sizeof(flows));
	server = (struct table_server){ "127.0.0.1", port_of(fixture), AGENT,
					*files_of(&pem, known, name, known) };
	settings = (struct table_settings){ .way = &table_remote, .changes_max = UINT64_MAX,
					    .server = &server,
					    .name = TABLE,
					    .key_length = KEY,
					    .value_length = VALUE };
	if (table__new(fixture->loop, &settings, &handlers, NULL, &table, &error))
		fail_msg("%s", error.text);
	return table;
}

/* Both sides go on until there is nothing to do, for at most 10 s. */
static void run_until(struct fixture *fixture, const bool *is_true)
{
	while (!*is_true)
		assert_true(sd_event_run(fixture->loop, 10000000) > 0);
}

static void run_until_count(struct fixture *fixture, const uint32_t *count, uint32_t wanted)
{
	while (*count < wanted)
		assert_true(sd_event_run(fixture->loop, 10000000) > 0);
}

/* Goes on until the table is away for a reason with these words. */
static void run_until_reason(struct fixture *fixture, const char *words)
{
	while (!*flows.reason)
		assert_true(sd_event_run(fixture->loop, 10000000) > 0);
	if (!strstr(flows.reason, words))
		fail_msg("\"%s\" instead of \"%s\"", flows.reason, words);
	assert_non_null(strstr(flows.reason, "dartd at 127.0.0.1: "));
	assert_false(flows.is_there);
}

static void insert(struct table *table, uint32_t number, void *token)
{
	uint8_t key[KEY], value[VALUE] = { number };

	key_of(number, key);
	table__insert(table, key, value, token);
}

static void test_refused(void **state)
{
	struct fixture *fixture = *state;
	struct table *table;

	serve_table(fixture, 4, 10);
	fixture->listener.peers.sessions.changer_count = 0;
	table = call(fixture, CALLER);
	run_until_reason(fixture, "'" CALLER "' is not in tcp: tables");
	assert_int_equal(counts.refused_changes, 1);
	assert_int_equal(served.lists, 0);
	/* It comes again, and by then it may. */
	fixture->listener.peers.sessions.changer_count = 1;
	run_until(fixture, &flows.is_there);
	table__free(table);
	forget_table();
}

static void test_no_service(void **state)
{
	struct fixture *fixture = *state;
	struct table *table;

	serve_table(fixture, 4, 10);
	fixture->listener.peers.sessions.lookups = NULL;
	table = call(fixture, CALLER);
	run_until_reason(fixture, "is not in tcp: tables");
	table__free(table);
	forget_table();
}

static void test_comparison(void **state)
{
	struct fixture *fixture = *state;
	struct table *table;

	serve_table(fixture, 10, 3000);
	table = call(fixture, CALLER);
	run_until(fixture, &flows.is_there);
	assert_int_equal(flows.seen, 3000);
	assert_int_equal(flows.compared, 1);
	assert_true(served.lists > 10);
	assert_int_equal(table__frame_length(table), 100);
	/* Nobody knows them. */
	while (entries_now())
		assert_true(sd_event_run(fixture->loop, 10000000) > 0);
	run_agent(fixture);
	assert_int_equal(table__counts(table)->stray, 3000);
	assert_int_equal(table__counts(table)->removed, 3000);
	table__free(table);
	forget_table();
}

static void test_changes(void **state)
{
	struct fixture *fixture = *state;
	uint8_t key[KEY], value[VALUE];
	struct table *table;
	uint32_t i;

	serve_table(fixture, 12, 0);
	table = call(fixture, CALLER);
	run_until(fixture, &flows.is_there);
	for (i = 1; i <= 5000; i++)
		insert(table, i, (void *)(uintptr_t)i);
	run_until_count(fixture, &flows.told, 5000);
	assert_int_equal(flows.absent, 0);
	assert_int_equal(entries_now(), 5000);
	assert_true(table__counts(table)->requests >=
		    5000 * (1 + KEY + VALUE) / DART_RPC_REQUEST_MAX);
	for (i = 1; i <= 5000; i++) {
		key_of(i, key);
		assert_int_equal(dart_tea_table__lookup(served.entries, key, value), 0);
		assert_int_equal(value[0], (uint8_t)i);
		table__remove(table, key, (void *)(uintptr_t)(5000 + i));
	}
	run_until_count(fixture, &flows.told, 10000);
	assert_int_equal(entries_now(), 0);
	assert_int_equal(table__counts(table)->removed, 5000);
	assert_int_equal(table__counts(table)->waiting, 0);
	table__free(table);
	forget_table();
}

static void test_full(void **state)
{
	struct fixture *fixture = *state;
	struct table *table;
	uint32_t i;

	serve_table(fixture, 4, 0);
	table = call(fixture, CALLER);
	run_until(fixture, &flows.is_there);
	for (i = 1; i <= 500; i++)
		insert(table, i, (void *)(uintptr_t)i);
	run_until_count(fixture, &flows.told, 500);
	assert_true(flows.absent > 0);
	assert_int_equal(500 - flows.absent, entries_now());
	assert_int_equal(table__counts(table)->full, flows.absent);
	table__free(table);
	forget_table();
}

/* The table was deleted and created: it is listed again, and nothing is changed before. */
static void test_other_epoch(void **state)
{
	struct fixture *fixture = *state;
	struct table *table;

	serve_table(fixture, 4, 5);
	table = call(fixture, CALLER);
	flows.is_known = true;
	run_until(fixture, &flows.is_there);
	served.epoch++;
	insert(table, 1, NULL);
	run_until_reason(fixture, "is another one now");
	assert_int_equal(served.changes, 0);
	run_until(fixture, &flows.is_there);
	assert_int_equal(flows.compared, 2);
	table__free(table);
	forget_table();
}

static void test_lies(void **state)
{
	static const struct {
		enum lie lie;
		const char *words;
	} lies[] = {
		{ OTHER_GEOMETRY, "changes its geometry" },
		{ OTHER_LENGTH, "keys of 3 bytes and values of 3, not 4 and 2" },
		{ TOO_MANY, "lists more entries than it has" },
		{ NO_PROGRESS, "does not go on after its end" },
		{ NO_OUTCOME, "cannot understand what dartd says about changes" },
		{ OTHER_OUTCOME, "cannot understand what dartd says about changes" },
	};
	struct fixture *fixture = *state;
	struct table *table;
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		serve_table(fixture, 8, 20);
		served.lie = lies[i].lie;
		served.step = 16;
		table = call(fixture, CALLER);
		flows.is_known = true;
		if (lies[i].lie >= NO_OUTCOME) {
			run_until(fixture, &flows.is_there);
			insert(table, 1, (void *)1);
		}
		run_until_reason(fixture, lies[i].words);
		assert_int_equal(flows.told, 0);
		table__free(table);
		run_agent(fixture);
		forget_table();
	}
}

static void test_no_certificate(void **state)
{
	struct fixture *fixture = *state;
	struct table *table;

	serve_table(fixture, 4, 0);
	table = call(fixture, "absent");
	run_until_reason(fixture, "cannot read the key ");
	table__free(table);
	table = call(fixture, "stranger.example");
	run_until_reason(fixture, "refuses the certificate of this side");
	assert_int_equal(counts.refused_changes, 0);
	table__free(table);
	forget_table();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE(
			"a caller that dartd does not name is refused and counted, until it is named",
			test_refused, open_fixture, close_fixture),
		TEST_FIXTURE("a dartd without lookup tables refuses all callers", test_no_service,
			     open_fixture, close_fixture),
		TEST_FIXTURE("entries that come in many lists are compared, and strays are removed",
			     test_comparison, open_fixture, close_fixture),
		TEST_FIXTURE("changes of many requests are made in their order", test_changes,
			     open_fixture, close_fixture),
		TEST_FIXTURE("entries that have no place are told of, each one", test_full,
			     open_fixture, close_fixture),
		TEST_FIXTURE("a table of another epoch is compared before it is changed",
			     test_other_epoch, open_fixture, close_fixture),
		TEST_FIXTURE("answers that break a rule end the connection", test_lies,
			     open_fixture, close_fixture),
		TEST_FIXTURE("without a certificate that dartd accepts the table is away",
			     test_no_certificate, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
