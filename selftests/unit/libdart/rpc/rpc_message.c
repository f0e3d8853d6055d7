// SPDX-License-Identifier: GPL-2.0-only
/* Messages of <dart/rpc.h>: written messages are read, messages that break a rule are refused. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/rpc/message.h>

#include "selftests/unit/unit.h"

static uint8_t bytes[DART_RPC_ANSWER_MAX + 1];

static struct dart_rpc_message decoded(size_t length)
{
	struct dart_rpc_message message;
	struct dart_error error;

	assert_int_equal(dart_rpc_message__decode(bytes, length, &message, &error), 0);
	return message;
}

static void refused(size_t length, int ret, const char *words)
{
	/* Ends where the memory ends, for the sanitizer. */
	uint8_t *exact = malloc(length + !length);
	struct dart_rpc_message message;
	struct dart_error error = {};

	assert_non_null(exact);
	memcpy(exact, bytes, length);
	assert_int_equal(dart_rpc_message__decode(exact, length, &message, &error), ret);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
	free(exact);
}

static const struct dart_rpc_welcome_values welcome = {
	.length = 1 << 20, .used = 4096, .time_ns = 1ULL << 60,
};

static const struct dart_rpc_entries runs[] = { { 0, 3 }, { 3, 1 }, { 70, 9 } };

static void test_handshake(void **state)
{
	struct dart_rpc_message message;

	message = decoded(dart_rpc__put_hello(bytes, 4096, 8, 60000));
	assert_int_equal(message.type, DART_RPC_HELLO);
	assert_int_equal(message.hello.abi_version, DART_RPC_ABI_VERSION);
	assert_int_equal(message.hello.answer_max, 4096);
	assert_int_equal(message.hello.receives, 8);
	assert_int_equal(message.hello.interval_ms, 60000);
	message = decoded(dart_rpc__put_welcome(bytes, &welcome));
	assert_int_equal(message.type, DART_RPC_WELCOME);
	assert_memory_equal(&message.welcome, &welcome, sizeof(welcome));
}

static void test_requests(void **state)
{
	struct dart_rpc_message message;
	struct dart_rpc_entries run;
	uint32_t i;

	message = decoded(dart_rpc__put_get_table(bytes, 5, 70000));
	assert_int_equal(message.type, DART_RPC_GET_TABLE);
	assert_int_equal(message.id, 5);
	assert_int_equal(message.table_length, 70000);
	message = decoded(dart_rpc__put_follow_table(bytes, 5, 70000));
	assert_int_equal(message.type, DART_RPC_FOLLOW_TABLE);
	assert_int_equal(message.table_length, 70000);
	message = decoded(dart_rpc__put_changed(bytes, 5));
	assert_int_equal(message.type, DART_RPC_CHANGED);
	assert_int_equal(message.id, 5);
	message = decoded(dart_rpc__put_get_values(bytes, 6, 7, 8, runs, 3));
	assert_int_equal(message.type, DART_RPC_GET_VALUES);
	assert_int_equal(message.id, 6);
	assert_int_equal(message.values.instance, 7);
	assert_int_equal(message.values.generation, 8);
	assert_int_equal(message.values.runs, 3);
	for (i = 0; i < 3; i++) {
		run = dart_rpc_message__run(&message, i);
		assert_memory_equal(&run, &runs[i], sizeof(run));
	}
	message = decoded(dart_rpc__put_get_values(bytes, 6, 7, 8, runs, 0));
	assert_int_equal(message.values.runs, 0);
}

static const struct dart_rpc_epoch_bytes epoch = {
	.store = "paths", .since_ns = 1ULL << 60, .offset = 1ULL << 40, .length = 24,
	.place = DART_RPC_EPOCH_FILE,
};

static void test_requests_about_epochs(void **state)
{
	struct dart_rpc_message message;

	message = decoded(dart_rpc__put_get_epochs(bytes, 7, "paths", 5, 6));
	assert_int_equal(message.type, DART_RPC_GET_EPOCHS);
	assert_int_equal(message.id, 7);
	assert_string_equal(message.epochs.store, "paths");
	assert_int_equal(message.epochs.since_ns, 5);
	assert_int_equal(message.epochs.until_ns, 6);
	message = decoded(dart_rpc__put_get_epoch(bytes, 8, &epoch));
	assert_int_equal(message.type, DART_RPC_GET_EPOCH);
	assert_int_equal(message.id, 8);
	assert_string_equal(message.epoch.store, "paths");
	assert_true(message.epoch.since_ns == epoch.since_ns);
	assert_true(message.epoch.offset == epoch.offset);
	assert_int_equal(message.epoch.length, 24);
	assert_int_equal(message.epoch.place, DART_RPC_EPOCH_FILE);
}

/* A request with @length instead of 24 bytes at @offset. */
static size_t put_other_epoch(uint64_t offset, uint32_t length, uint32_t place)
{
	struct dart_rpc_epoch_bytes other = epoch;

	other.offset = offset;
	other.length = length;
	other.place = place;
	return dart_rpc__put_get_epoch(bytes, 1, &other);
}

static void test_hostile_requests_about_epochs(void **state)
{
	char *store = (char *)bytes + sizeof(struct dart_rpc_header);
	size_t length = dart_rpc__put_get_epochs(bytes, 1, "", 5, 6);

	refused(length, -EBADMSG, "does not name a store");
	memset(store, 'a', DART_RPC_STORE_MAX);
	refused(length, -EBADMSG, "does not name a store");
	memset(store + 1, 0, DART_RPC_STORE_MAX - 1);
	store[DART_RPC_STORE_MAX - 1] = 'b';
	refused(length, -EBADMSG, "does not name a store");
	length = dart_rpc__put_get_epochs(bytes, 1, "paths", 6, 5);
	refused(length, -EBADMSG, "ends before it begins");
	length = put_other_epoch(0, 1, DART_RPC_EPOCH_MEMORY);
	*store = '\0';
	refused(length, -EBADMSG, "does not name a store");
	refused(put_other_epoch(0, 0, DART_RPC_EPOCH_MEMORY), -EBADMSG, "0 bytes at 0");
	refused(put_other_epoch(0, DART_RPC_EPOCH_MAX + 1, DART_RPC_EPOCH_MEMORY), -EBADMSG,
		"262145 bytes at 0");
	refused(put_other_epoch(UINT64_MAX, 1, DART_RPC_EPOCH_MEMORY), -EBADMSG,
		"1 bytes at 18446744073709551615");
	refused(put_other_epoch(0, 1, 3), -EBADMSG, "the unknown place 3");
}

static const struct dart_rpc_lookups_wanted lookups = { "nat", 1ULL << 40, 9 };
static const struct dart_rpc_lookup_changes changes = {
	.table = "nat", .epoch = 9, .count = 2, .records = (const uint8_t *)"abcdef", .length = 6,
};

static void test_requests_about_lookups(void **state)
{
	struct dart_rpc_message message;

	message = decoded(dart_rpc__put_get_lookups(bytes, 7, &lookups));
	assert_int_equal(message.type, DART_RPC_GET_LOOKUPS);
	assert_int_equal(message.id, 7);
	assert_string_equal(message.lookups.table, "nat");
	assert_true(message.lookups.first == lookups.first);
	assert_int_equal(message.lookups.epoch, 9);
	message = decoded(dart_rpc__put_change_lookups(bytes, 8, &changes));
	assert_int_equal(message.type, DART_RPC_CHANGE_LOOKUPS);
	assert_int_equal(message.id, 8);
	assert_string_equal(message.changes.table, "nat");
	assert_int_equal(message.changes.epoch, 9);
	assert_int_equal(message.changes.count, 2);
	assert_int_equal(message.changes.length, 6);
	assert_memory_equal(message.changes.records, "abcdef", 6);
}

/* @count changes of @length bytes together. */
static size_t put_other_changes(uint32_t epoch, uint32_t count, uint32_t length)
{
	static uint8_t records[DART_RPC_RECORDS_LENGTH_MAX + 1];
	struct dart_rpc_lookup_changes other = changes;

	other.epoch = epoch;
	other.count = count;
	other.records = records;
	other.length = length;
	return dart_rpc__put_change_lookups(bytes, 1, &other);
}

static void test_hostile_requests_about_lookups(void **state)
{
	char *table = (char *)bytes + sizeof(struct dart_rpc_header);
	size_t length = dart_rpc__put_get_lookups(bytes, 1, &lookups);

	memset(table, 'a', DART_RPC_LOOKUP_TABLE_MAX);
	refused(length, -EBADMSG, "does not name a lookup table");
	length = dart_rpc__put_change_lookups(bytes, 1, &changes);
	table[DART_RPC_LOOKUP_TABLE_MAX - 1] = 'b';
	refused(length, -EBADMSG, "does not name a lookup table");
	refused(put_other_changes(0, 2, 6), -EBADMSG, "6 bytes for 2 changes in epoch 0");
	refused(put_other_changes(9, 0, 6), -EBADMSG, "6 bytes for 0 changes");
	refused(put_other_changes(9, 2, 0), -EBADMSG, "0 bytes for 2 changes");
	refused(put_other_changes(9, 2, 7), -EBADMSG, "7 bytes for 2 changes");
	refused(put_other_changes(9, 7, 6), -EBADMSG, "6 bytes for 7 changes");
	refused(put_other_changes(9, UINT32_MAX, 6), -EBADMSG, "6 bytes for 4294967295 changes");
	refused(put_other_changes(9, 1, DART_RPC_RECORDS_LENGTH_MAX + 1), -EBADMSG, "for 1 changes");
	decoded(put_other_changes(9, 1, DART_RPC_RECORDS_LENGTH_MAX));
}

static void test_answers(void **state)
{
	struct dart_rpc_message message;

	memcpy(bytes + DART_RPC_PART_HEAD, "values", 6);
	message = decoded(dart_rpc__put_part(bytes, 9, 100, 6, false));
	assert_int_equal(message.type, DART_RPC_PART);
	assert_int_equal(message.part.offset, 100);
	assert_int_equal(message.part.length, 6);
	assert_memory_equal(message.part.data, "values", 6);
	assert_false(message.is_last);
	assert_true(decoded(dart_rpc__put_part(bytes, 9, 0, 6, true)).is_last);
	message = decoded(dart_rpc__put_error(bytes, 9, DART_RPC_ERROR_STALE, "too old"));
	assert_int_equal(message.type, DART_RPC_ERROR);
	assert_int_equal(message.error.code, DART_RPC_ERROR_STALE);
	assert_int_equal(message.error.abi_version, DART_RPC_ABI_VERSION);
	assert_string_equal(message.error.reason, "too old");
}

static void test_reason(void **state)
{
	char longest[2 * DART_RPC_REASON_MAX];
	struct dart_rpc_message message;
	size_t length;

	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	length = dart_rpc__put_error(bytes, 1, DART_RPC_ERROR_BUSY, longest);
	message = decoded(length);
	assert_int_equal(strlen(message.error.reason), DART_RPC_REASON_MAX - 1);
	/* A hostile reason lacks an end. */
	memset(bytes + length - DART_RPC_REASON_MAX, 'b', DART_RPC_REASON_MAX);
	message = decoded(length);
	assert_int_equal(strlen(message.error.reason), DART_RPC_REASON_MAX);
}

static size_t put_hello(void)
{
	return dart_rpc__put_hello(bytes, 4096, 8, 0);
}

static size_t put_welcome(void)
{
	return dart_rpc__put_welcome(bytes, &welcome);
}

static size_t put_get_table(void)
{
	return dart_rpc__put_get_table(bytes, 1, 4096);
}

static size_t put_get_values(void)
{
	return dart_rpc__put_get_values(bytes, 1, 1, 1, runs, 3);
}

static size_t put_get_epochs(void)
{
	return dart_rpc__put_get_epochs(bytes, 1, "paths", 5, 6);
}

static size_t put_get_epoch(void)
{
	return dart_rpc__put_get_epoch(bytes, 1, &epoch);
}

static size_t put_get_lookups(void)
{
	return dart_rpc__put_get_lookups(bytes, 1, &lookups);
}

static size_t put_changed(void)
{
	return dart_rpc__put_changed(bytes, 1);
}

static void test_length(void **state)
{
	static size_t (*const put[])(void) = { put_hello,      put_welcome,   put_get_table,
					       put_get_epochs, put_get_epoch, put_changed,
					       put_get_lookups, put_get_values };
	struct dart_rpc_header *header = (void *)bytes;
	size_t i, length, right;

	for (i = 0; i < sizeof(put) / sizeof(put[0]); i++) {
		right = put[i]();
		for (length = 0; length < right; length++) {
			put[i]();
			refused(length, -EBADMSG, "");
			header->length = htole32(length);
			refused(length, -EBADMSG, "");
		}
	}
	for (i = 0; i < sizeof(put) / sizeof(put[0]); i++) {
		right = put[i]();
		header->length = htole32(right + 1);
		refused(right + 1, -EBADMSG, "");
	}
	refused(right + 1, -EBADMSG, "25 bytes for 3 runs of entries");
	dart_rpc__put_part(bytes, 1, 0, 0, false);
	refused(DART_RPC_PART_HEAD, -EBADMSG, "0 bytes at 0");
	dart_rpc__put_part(bytes, 1, UINT32_MAX, 1, false);
	refused(DART_RPC_PART_HEAD + 1, -EBADMSG, "1 bytes at 4294967295");
}

static void test_stream(void **state)
{
	struct dart_rpc_header header = { .length = htole32(15) };

	assert_int_equal(dart_rpc__message_length(&header, 4096), 0);
	header.length = htole32(16);
	assert_int_equal(dart_rpc__message_length(&header, 4096), 16);
	header.length = htole32(4096);
	assert_int_equal(dart_rpc__message_length(&header, 4096), 4096);
	header.length = htole32(4097);
	assert_int_equal(dart_rpc__message_length(&header, 4096), 0);
	header.length = htole32(UINT32_MAX);
	assert_int_equal(dart_rpc__message_length(&header, 4096), 0);
}

static void test_header(void **state)
{
	struct dart_rpc_header *header = (void *)bytes;
	size_t length = dart_rpc__put_get_table(bytes, 1, 4096);

	header->reserved = htole32(1);
	refused(length, -EBADMSG, "breaks a rule");
	header->reserved = 0;
	header->flags = htole16(DART_RPC_LAST);
	refused(length, -EBADMSG, "breaks a rule");
	header->flags = 0;
	header->type = htole16(9);
	refused(length, -EBADMSG, "unknown type 9");
	length = dart_rpc__put_part(bytes, 1, 0, 1, false);
	header->flags = htole16(2);
	refused(length, -EBADMSG, "breaks a rule");
	length = put_hello();
	header->id = htole32(1);
	refused(length, -EBADMSG, "the id of a request");
	length = put_welcome();
	header->id = htole32(1);
	refused(length, -EBADMSG, "the id of a request");
}

static void test_runs(void **state)
{
	static const struct dart_rpc_entries wrong[][2] = {
		{ { 0, 0 }, { 1, 1 } },
		{ { 0, 2 }, { 1, 1 } },
		{ { 5, 1 }, { 0, 1 } },
		{ { 0, 1 }, { UINT32_MAX, 1 } },
		{ { 1, UINT32_MAX }, { 9, 1 } },
	};
	struct dart_rpc_get_values *values = (void *)(bytes + sizeof(struct dart_rpc_header));
	size_t i, length;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		length = dart_rpc__put_get_values(bytes, 1, 1, 1, wrong[i], 2);
		refused(length, -EBADMSG, "not behind the one before");
	}
	length = dart_rpc__put_get_values(bytes, 1, 1, 1, runs, 3);
	values->runs = htole32(DART_RPC_RUNS_MAX + 1);
	refused(length, -EBADMSG, "508 runs of entries");
	values->runs = htole32(0x20000003);
	refused(length, -EBADMSG, "536870915 runs of entries");
}

static void test_members(void **state)
{
	struct dart_rpc_hello *hello = (void *)(bytes + sizeof(struct dart_rpc_header));
	struct dart_rpc_welcome *raw = (void *)hello;
	size_t length;

	length = dart_rpc__put_hello(bytes, DART_RPC_ANSWER_MIN - 1, 1, 0);
	refused(length, -EBADMSG, "511 bytes");
	length = dart_rpc__put_hello(bytes, DART_RPC_ANSWER_MAX + 1, 1, 0);
	refused(length, -EBADMSG, "16385 bytes");
	length = dart_rpc__put_hello(bytes, 4096, DART_RPC_RECEIVES_MAX + 1, 0);
	refused(length, -EBADMSG, "65 receives");
	hello->magic++;
	refused(length, -EBADMSG, "magic");
	/* The rest of another version is unknown. */
	length = dart_rpc__put_hello(bytes, 0, 0, 0);
	hello->abi_version = htole32(7);
	assert_int_equal(decoded(length).hello.abi_version, 7);
	((struct dart_rpc_header *)bytes)->length = htole32(length + 1);
	assert_int_equal(decoded(length + 1).hello.abi_version, 7);
	length = dart_rpc__put_get_table(bytes, 1, sizeof(struct dart_control_header) - 1);
	refused(length, -EBADMSG, "bytes of a table are asked for");
	length = dart_rpc__put_welcome(bytes, &welcome);
	raw->used = htole32((1 << 20) + 1);
	refused(length, -EBADMSG, "cannot be");
	raw->used = htole32(4096);
	raw->length = htole32(DART_CONTROL_LENGTH_MAX + 1);
	refused(length, -EBADMSG, "cannot be");
	raw->abi_version = htole32(7);
	refused(length, -EPROTONOSUPPORT, "version 7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a hello and a welcome are read as they were written", test_handshake),
		TEST("requests for the table and for runs of entries, or none, are read as they were written",
		     test_requests),
		TEST("requests about epochs are read as they were written",
		     test_requests_about_epochs),
		TEST("requests about lookup tables are read as they were written",
		     test_requests_about_lookups),
		TEST("requests without a lookup table, and changes of impossible lengths, are refused",
		     test_hostile_requests_about_lookups),
		TEST("requests without a store, for impossible times, or for too many bytes of an epoch are refused",
		     test_hostile_requests_about_epochs),
		TEST("parts and errors are read as they were written", test_answers),
		TEST("a reason that is too long is cut off, one without an end has one",
		     test_reason),
		TEST("a message of any other length than its own is refused, a part without bytes too",
		     test_length),
		TEST("lengths below that of a header or above the limit break a stream",
		     test_stream),
		TEST("a header with a reserved member, a flag, an id or a type that it cannot have is refused",
		     test_header),
		TEST("runs of entries that are empty, overlap, go back or are too many are refused",
		     test_runs),
		TEST("members of a handshake or a request outside their limits are refused",
		     test_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
