// SPDX-License-Identifier: GPL-2.0-only
/* Answers of the agent to requests for its table and for values. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <libdart/rpc/epochs.h>

#include "asked_session.h"

/* Lands the answer in messages of @size bytes; returns how many there were. */
static int land(struct fixture *fixture, struct dart_rpc_landing *landing, size_t size)
{
	struct dart_rpc_message message;
	uint32_t offset = 0;
	int count = 0;

	do {
		message = next(fixture, size);
		assert_int_equal(message.type, DART_RPC_PART);
		assert_int_equal(message.id, REQUEST_ID);
		assert_int_equal(message.part.offset, offset);
		assert_int_equal(
			dart_rpc_landing__take(landing, message.part.data, message.part.length), 0);
		offset += message.part.length;
		count++;
	} while (!message.is_last);
	assert_true(dart_rpc_landing__is_whole(landing));
	assert_true(session__is_idle(&fixture->session));
	return count;
}

static void test_table(void **state)
{
	struct fixture *fixture = *state;
	uint8_t before[SERVED_TABLE_MAX], after[SERVED_TABLE_MAX] = {};
	uint32_t used = fixture->host->control_region.used;
	struct dart_rpc_message message;
	struct dart_table *table;
	struct dart_error error;

	memcpy(before, fixture->host->table, used);
	ask(fixture, dart_rpc__put_get_table(fixture->request, REQUEST_ID, SERVED_TABLE_MAX));
	do {
		message = next(fixture, DART_RPC_ANSWER_MIN);
		assert_int_equal(message.type, DART_RPC_PART);
		memcpy(after + message.part.offset, message.part.data, message.part.length);
		served_host__change(fixture->host, false);
	} while (!message.is_last);
	assert_int_equal(message.part.offset + message.part.length, used);
	assert_memory_equal(before, after, used);
	assert_int_equal(dart_table__decode(after, used, &table, NULL, &error), 0);
	dart_table__free(table);
}

static void test_beginning(void **state)
{
	const uint32_t length = sizeof(struct dart_control_header);
	struct fixture *fixture = *state;
	struct dart_rpc_message message;

	ask(fixture, dart_rpc__put_get_table(fixture->request, REQUEST_ID, length));
	message = next(fixture, DART_RPC_ANSWER_MAX);
	assert_true(message.is_last);
	assert_int_equal(message.part.length, length);
	assert_memory_equal(message.part.data, fixture->host->table, length);
}

static void test_values(void **state)
{
	static const uint32_t sizes[] = { 512, 513, 777, 1024, 4096, 16384 };
	struct fixture *fixture = *state;
	struct dart_rpc_landing landing;
	struct seen_table seen;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		seen_table__open(&seen, fixture->host->table,
				 fixture->host->control_region.used, NULL, 0);
		ask_values(fixture, &seen, &landing);
		assert_true(land(fixture, &landing, sizes[i]) > 1 || sizes[i] > 777);
		seen_table__expect_landed(&seen, NULL, 0, 0);
		seen_table__close(&seen);
	}
}

static void test_some(void **state)
{
	static const uint32_t some[] = { SAMPLE_ROWS, SAMPLE_CPUSTAT };
	struct fixture *fixture = *state;
	struct dart_rpc_landing landing;
	struct seen_table seen;

	seen_table__open(&seen, fixture->host->table, fixture->host->control_region.used, some, 2);
	ask_values(fixture, &seen, &landing);
	assert_int_equal(landing.runs, 2);
	land(fixture, &landing, DART_RPC_ANSWER_MAX);
	seen_table__expect_landed(&seen, some, 2, 0);
	seen_table__close(&seen);
	/* No entries: the header alone. */
	seen_table__open(&seen, fixture->host->table, fixture->host->control_region.used, some, 0);
	ask_values(fixture, &seen, &landing);
	assert_int_equal(land(fixture, &landing, DART_RPC_ANSWER_MAX), 1);
	seen_table__expect_landed(&seen, some, 0, 0);
	seen_table__close(&seen);
}

static void test_removed(void **state)
{
	struct fixture *fixture = *state;
	struct dart_rpc_landing landing;
	struct seen_table seen, later;

	seen_table__open(&seen, fixture->host->table, fixture->host->control_region.used, NULL, 0);
	served_host__remove(fixture->host, "cpustat");
	ask_values(fixture, &seen, &landing);
	land(fixture, &landing, DART_RPC_ANSWER_MIN);
	seen_table__expect_landed(&seen, NULL, 0, -ESTALE);
	seen_table__close(&seen);
	/* The first place is empty in the next table. */
	seen_table__open(&later, fixture->host->table, fixture->host->control_region.used, NULL, 0);
	assert_int_equal(later.table->entry_count, 2);
	assert_int_equal(later.table->entries[0].place, 1);
	ask_values(fixture, &later, &landing);
	land(fixture, &landing, DART_RPC_ANSWER_MIN);
	seen_table__expect_landed(&later, NULL, 0, 0);
	seen_table__close(&later);
}

/* A place that was empty already in the generation that is asked for. */
static void test_gone(void **state)
{
	static const struct dart_rpc_entries run = { 0, 2 };
	struct fixture *fixture = *state;
	const struct control_region *region = &fixture->host->control_region;
	struct dart_error error;
	size_t length;

	served_host__remove(fixture->host, "cpustat");
	length = dart_rpc__put_get_values(fixture->request, REQUEST_ID, region->instance,
					  region->generation, &run, 1);
	assert_int_equal(session__take(&fixture->session, fixture->request, length, &error),
			 -EBADMSG);
	expect_error(fixture, DART_RPC_ERROR_MALFORMED, "no entry at place 0");
	assert_true(fixture->session.is_over);
}

/* A place that an entry took only one generation after the requested one. */
static void test_later(void **state)
{
	static const struct dart_rpc_entries run = { 0, 1 };
	struct fixture *fixture = *state;
	const struct control_region *region = &fixture->host->control_region;
	const struct dart_control_header *header = region->memory;
	struct dart_control_entry *first;
	struct dart_error error;
	size_t length;

	first = (void *)(fixture->host->table + le32toh(header->entries.offset));
	served_host__change(fixture->host, false);
	first->since = htole64(region->generation);
	length = dart_rpc__put_get_values(fixture->request, REQUEST_ID, region->instance,
					  region->generation - 1, &run, 1);
	assert_int_equal(session__take(&fixture->session, fixture->request, length, &error),
			 -EBADMSG);
	expect_error(fixture, DART_RPC_ERROR_MALFORMED, "no entry at place 0");
}

static void test_beyond(void **state)
{
	static const struct dart_rpc_entries runs[] = {
		{ SAMPLE_ENTRIES, 1 }, { 0, SAMPLE_ENTRIES + 1 },
		{ UINT32_MAX - 1, 1 }, { 0, UINT32_MAX },
	};
	struct fixture *fixture = *state;
	const struct control_region *region = &fixture->host->control_region;
	struct dart_error error;
	size_t i, length;

	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		session__open(&fixture->session, &fixture->sessions, &loopback, note_message);
		length = dart_rpc__put_get_values(fixture->request, REQUEST_ID, region->instance,
						  region->generation, &runs[i], 1);
		assert_int_equal(session__take(&fixture->session, fixture->request, length, &error),
				 -EBADMSG);
		expect_error(fixture, DART_RPC_ERROR_MALFORMED, "no entry at place");
	}
}

static void test_stale(void **state)
{
	struct fixture *fixture = *state;
	struct control_region *region = &fixture->host->control_region;
	struct dart_rpc_landing landing;
	struct seen_table seen;

	seen_table__open(&seen, fixture->host->table, region->used, NULL, 0);
	region->instance++;
	ask_values(fixture, &seen, &landing);
	expect_error(fixture, DART_RPC_ERROR_STALE, "cannot be used any longer");
	region->instance--;
	ask_values(fixture, &seen, &landing);
	served_host__change(fixture->host, false);
	land(fixture, &landing, DART_RPC_ANSWER_MIN);
	served_host__change(fixture->host, true);
	ask_values(fixture, &seen, &landing);
	expect_error(fixture, DART_RPC_ERROR_STALE, "cannot be used any longer");
	assert_false(fixture->session.is_over);
	seen_table__close(&seen);
}

/* Places change while their values are being sent. */
static void test_stale_midway(void **state)
{
	struct fixture *fixture = *state;
	struct control_region *region = &fixture->host->control_region;
	struct dart_rpc_landing landing;
	struct seen_table seen;

	seen_table__open(&seen, fixture->host->table, region->used, NULL, 0);
	ask_values(fixture, &seen, &landing);
	assert_int_equal(next(fixture, DART_RPC_ANSWER_MIN).type, DART_RPC_PART);
	served_host__change(fixture->host, true);
	expect_error(fixture, DART_RPC_ERROR_STALE, "cannot be used any longer");
	assert_true(session__is_idle(&fixture->session));
	seen_table__close(&seen);
}

static void test_early(void **state)
{
	struct fixture *fixture = *state;
	struct dart_error error;
	size_t length;

	length = dart_rpc__put_get_table(fixture->request, REQUEST_ID, 4096);
	ask(fixture, length);
	assert_int_equal(session__take(&fixture->session, fixture->request, length, &error),
			 -EBADMSG);
	expect_error(fixture, DART_RPC_ERROR_MALFORMED, "before it had the answer");
	assert_int_equal(session__take(&fixture->session, fixture->request, length, &error),
			 -EBADMSG);
}

static void test_no_request(void **state)
{
	static const struct dart_rpc_welcome_values welcome = {
		.length = 4096, .used = 4096,
	};
	struct fixture *fixture = *state;
	struct dart_error error;
	size_t length;

	length = dart_rpc__put_welcome(fixture->request, &welcome);
	assert_int_equal(session__take(&fixture->session, fixture->request, length, &error),
			 -EBADMSG);
	expect_error(fixture, DART_RPC_ERROR_MALFORMED, "is not a request");
	session__open(&fixture->session, &fixture->sessions, &loopback, note_message);
	memset(fixture->request, 0xff, 100);
	assert_int_equal(session__take(&fixture->session, fixture->request, 100, &error), -EBADMSG);
	expect_error(fixture, DART_RPC_ERROR_MALFORMED, "breaks a rule");
	assert_int_equal(counts.requests, 0);
	assert_int_equal(counts.errors, 2);
}

/* Sessions that do not take their table keep its different generations. */
static void test_snapshots(void **state)
{
	struct fixture *fixture = *state;
	struct session sessions[SNAPSHOTS_MAX + 1];
	struct dart_rpc_message message;
	struct dart_error error;
	size_t length, i;

	length = dart_rpc__put_get_table(fixture->request, REQUEST_ID, 4096);
	for (i = 0; i <= SNAPSHOTS_MAX; i++) {
		served_host__change(fixture->host, false);
		session__open(&sessions[i], &fixture->sessions, &loopback, note_message);
		assert_int_equal(session__take(&sessions[i], fixture->request, length, &error), 0);
	}
	assert_int_equal(fixture->snapshots.count, SNAPSHOTS_MAX);
	/* Sessions of one generation share it. */
	ask(fixture, length);
	assert_int_equal(fixture->snapshots.count, SNAPSHOTS_MAX);
	assert_int_equal(next(fixture, DART_RPC_ANSWER_MIN).type, DART_RPC_PART);
	for (i = 0; i <= SNAPSHOTS_MAX; i++) {
		length = session__next(&sessions[i], fixture->message, DART_RPC_ANSWER_MIN);
		assert_int_equal(
			dart_rpc_message__decode(fixture->message, length, &message, &error), 0);
		/* The oldest session made room, and may ask again. */
		assert_int_equal(message.type, i ? DART_RPC_PART : DART_RPC_ERROR);
		assert_int_equal(session__is_idle(&sessions[i]), !i);
		assert_false(sessions[i].is_over);
		if (!i)
			assert_int_equal(message.error.code, DART_RPC_ERROR_BUSY);
		session__close(&sessions[i]);
	}
	assert_int_equal(fixture->snapshots.count, 1);
}

/* ---- epochs: a store "paths" with one in memory, and one in a file */

#define EPOCH_BYTES 5000

static struct {
	uint8_t bytes[EPOCH_BYTES];
	bool has_gone;
	int fd;			/* of the file */
	int ret;		/* of open() */
} past;

static ssize_t list_past(void *subject, const char *store, uint64_t since_ns, uint64_t until_ns,
			 void *bytes, struct dart_error *error)
{
	const struct dart_rpc_epoch_values epoch = { since_ns, until_ns, EPOCH_BYTES,
						     DART_RPC_EPOCH_FILE };
	struct dart_rpc_epochs_values values = { .redundancy = 2, .count = 1 };

	assert_ptr_equal(subject, &past);
	if (strcmp(store, "paths"))
		return dart_error__set(error, ENOENT, "there is no store '%s'", store);
	for (; values.count < 100; values.count++)
		dart_rpc_epochs__put_epoch(bytes, values.count - 1, &epoch);
	dart_rpc_epochs__put_epoch(bytes, values.count - 1, &epoch);
	return dart_rpc_epochs__put(bytes, &values);
}

static int open_past(void *subject, const struct dart_rpc_epoch_bytes *wanted, int *fd,
		     struct dart_error *error)
{
	*fd = -1;
	if (past.ret)
		return dart_error__set(error, -past.ret, "open() failed");
	if (wanted->place == DART_RPC_EPOCH_FILE)
		*fd = past.fd = dup(0);
	return 0;
}

static int read_past(void *subject, const struct dart_rpc_epoch_bytes *wanted, int fd,
		     uint32_t offset, void *bytes, size_t size, struct dart_error *error)
{
	if (past.has_gone)
		return dart_error__set(error, ESTALE, "it has gone");
	assert_true(wanted->offset + offset + size <= EPOCH_BYTES);
	assert_int_equal(fd >= 0, wanted->place == DART_RPC_EPOCH_FILE);
	memcpy(bytes, past.bytes + wanted->offset + offset, size);
	return 0;
}

static struct dart_prefix loopback_prefix = { .family = AF_INET, .length = 8, .address = { 127 } };
static struct dart_prefixes readers = { .is_given = true, .list = &loopback_prefix, .count = 1 };

static const struct epoch_service past_service = {
	.readers = &readers,
	.subject = &past, .list = list_past, .open = open_past, .read = read_past,
};

static void serve_past(struct fixture *fixture)
{
	size_t i;

	fixture->sessions.epochs = &past_service;
	memset(&past, 0, sizeof(past));
	past.fd = -1;
	for (i = 0; i < EPOCH_BYTES; i++)
		past.bytes[i] = i * 31 + i / 256;
}

static void ask_epoch(struct fixture *fixture, uint64_t offset, uint32_t length,
		      enum dart_rpc_epoch_place place)
{
	const struct dart_rpc_epoch_bytes wanted = { "paths", 1000, offset, length, place };

	ask(fixture, dart_rpc__put_get_epoch(fixture->request, REQUEST_ID, &wanted));
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_epochs(void **state)
{
	struct fixture *fixture = *state;
	uint8_t bytes[DART_RPC_EPOCHS_LENGTH_MAX];
	struct dart_rpc_epochs_values values;
	struct dart_rpc_message message;
	struct dart_error error;
	size_t length = 0;

	serve_past(fixture);
	ask(fixture, dart_rpc__put_get_epochs(fixture->request, REQUEST_ID, "paths", 1000, 2000));
	do {
		message = next(fixture, DART_RPC_ANSWER_MIN);
		assert_int_equal(message.type, DART_RPC_PART);
		assert_int_equal(message.part.offset, length);
		memcpy(bytes + length, message.part.data, message.part.length);
		length += message.part.length;
	} while (!message.is_last);
	assert_int_equal(length, sizeof(struct dart_rpc_epochs) +
					 100 * sizeof(struct dart_rpc_epoch));
	/* All of them begin at the same time. */
	assert_int_equal(dart_rpc_epochs__decode(bytes, length, &values, &error), -EBADMSG);
	assert_true(session__is_idle(&fixture->session));
	assert_null(fixture->session.list);
	ask(fixture, dart_rpc__put_get_epochs(fixture->request, REQUEST_ID, "none", 1000, 2000));
	expect_error(fixture, DART_RPC_ERROR_NOT_FOUND, "there is no store 'none'");
	assert_false(fixture->session.is_over);
}

static void test_epoch(void **state)
{
	static const enum dart_rpc_epoch_place places[] = { DART_RPC_EPOCH_FILE,
							     DART_RPC_EPOCH_MEMORY };
	struct fixture *fixture = *state;
	struct dart_rpc_message message;
	uint32_t offset;
	size_t i;

	serve_past(fixture);
	for (i = 0; i < 2; i++) {
		offset = 0;
		ask_epoch(fixture, 7, EPOCH_BYTES - 7, places[i]);
		do {
			message = next(fixture, DART_RPC_ANSWER_MIN);
			assert_int_equal(message.type, DART_RPC_PART);
			assert_int_equal(message.part.offset, offset);
			assert_memory_equal(message.part.data, past.bytes + 7 + offset,
					    message.part.length);
			offset += message.part.length;
		} while (!message.is_last);
		assert_int_equal(offset, EPOCH_BYTES - 7);
		assert_true(session__is_idle(&fixture->session));
		assert_false(is_open(past.fd));
	}
}

/* Whatever ends an answer, its file is closed. */
static void test_epoch_gone(void **state)
{
	struct fixture *fixture = *state;

	serve_past(fixture);
	ask_epoch(fixture, 0, EPOCH_BYTES, DART_RPC_EPOCH_FILE);
	assert_int_equal(next(fixture, DART_RPC_ANSWER_MIN).type, DART_RPC_PART);
	assert_true(is_open(past.fd));
	past.has_gone = true;
	expect_error(fixture, DART_RPC_ERROR_STALE, "it has gone");
	assert_false(is_open(past.fd));
	assert_false(fixture->session.is_over);
	past.ret = -ESTALE;
	ask_epoch(fixture, 0, 1, DART_RPC_EPOCH_FILE);
	expect_error(fixture, DART_RPC_ERROR_STALE, "open() failed");
	past.ret = -ENOENT;
	ask_epoch(fixture, 0, 1, DART_RPC_EPOCH_MEMORY);
	expect_error(fixture, DART_RPC_ERROR_NOT_FOUND, "open() failed");
	past.ret = 0;
	ask_epoch(fixture, 0, EPOCH_BYTES, DART_RPC_EPOCH_FILE);
	session__close(&fixture->session);
	assert_false(is_open(past.fd));
	/* An address that may not READ stores; and any address while there is no list. */
	loopback_prefix.address[0] = 10;
	ask_epoch(fixture, 0, 1, DART_RPC_EPOCH_MEMORY);
	expect_error(fixture, DART_RPC_ERROR_NOT_FOUND, "not in allow: readers");
	loopback_prefix.address[0] = 127;
	readers.is_given = false;
	ask(fixture, dart_rpc__put_get_epochs(fixture->request, REQUEST_ID, "paths", 1000, 2000));
	expect_error(fixture, DART_RPC_ERROR_NOT_FOUND, "not in allow: readers");
	readers.is_given = true;
	/* Without stores. */
	fixture->sessions.epochs = NULL;
	ask_epoch(fixture, 0, 1, DART_RPC_EPOCH_MEMORY);
	expect_error(fixture, DART_RPC_ERROR_NOT_FOUND, "no store has epochs here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a table arrives as it was when it was asked for, though it changes meanwhile",
			     test_table, open_fixture, close_fixture),
		TEST_FIXTURE("only so many bytes of a table arrive as were asked for",
			     test_beginning, open_fixture, close_fixture),
		TEST_FIXTURE("values in messages of any size land as READs would have landed them, with a header behind them",
			     test_values, open_fixture, close_fixture),
		TEST_FIXTURE("some entries can be asked for, or none",
			     test_some, open_fixture, close_fixture),
		TEST_FIXTURE("an entry that was removed can be asked for by the table before, and its place is not one of the next table",
			     test_removed, open_fixture, close_fixture),
		TEST_FIXTURE("the place of an entry that was removed before is refused",
			     test_gone, open_fixture, close_fixture),
		TEST_FIXTURE("the place of an entry that was added later is refused",
			     test_later, open_fixture, close_fixture),
		TEST_FIXTURE("places behind the last entry are refused",
			     test_beyond, open_fixture, close_fixture),
		TEST_FIXTURE("another run of the agent, or a table from before a rewrite, is stale",
			     test_stale, open_fixture, close_fixture),
		TEST_FIXTURE("an answer whose places change midway ends with the error that they are stale",
			     test_stale_midway, open_fixture, close_fixture),
		TEST_FIXTURE("a request before the answer to the last one is refused, and nothing follows it",
			     test_early, open_fixture, close_fixture),
		TEST_FIXTURE("what is not a request is refused with the reason",
			     test_no_request, open_fixture, close_fixture),
		TEST_FIXTURE("a list of epochs arrives, and an unknown store is an error that ends nothing",
			     test_epochs, open_fixture, close_fixture),
		TEST_FIXTURE("bytes of an epoch arrive in parts, of a file and of memory",
			     test_epoch, open_fixture, close_fixture),
		TEST_FIXTURE("an epoch that goes midway is stale, and its file is closed",
			     test_epoch_gone, open_fixture, close_fixture),
		TEST_FIXTURE("eight different tables are sent at a time, each to any number of peers; for one more the oldest is withdrawn",
			     test_snapshots, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
