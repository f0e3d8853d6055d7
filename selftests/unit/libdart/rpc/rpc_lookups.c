// SPDX-License-Identifier: GPL-2.0-only
/* Entries of lookup tables of <dart/rpc.h>: written lists are read, hostile lists are refused. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rpc/lookups.h>

#include "selftests/unit/unit.h"

static uint8_t bytes[DART_RPC_LOOKUPS_LENGTH_MAX + 1];
static struct dart_rpc_lookups *const head = (struct dart_rpc_lookups *)bytes;

/* A list of two entries, from place 4 on. */
static size_t put(uint64_t next)
{
	const struct dart_rpc_lookups_values values = {
		.rows_log2 = 10,
		.cells = 4,
		.key_length = 3,
		.value_length = 2,
		.packet_length = 1514,
		.epoch = 9,
		.count = 2,
		.next = next,
	};

	memcpy(bytes + sizeof(*head), "abcdefghij", 10);
	return dart_rpc_lookups__put(bytes, &values);
}

static void refused(size_t length, const char *words)
{
	/* Ends where the memory ends, for the sanitizer. */
	uint8_t *exact = malloc(length + !length);
	struct dart_rpc_lookups_values values;
	struct dart_error error = {};

	assert_non_null(exact);
	memcpy(exact, bytes, length);
	assert_int_equal(dart_rpc_lookups__decode(exact, length, 4, &values, &error), -EBADMSG);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
	free(exact);
}

static void test_list(void **state)
{
	const size_t length = put(5);
	struct dart_rpc_lookups_values values;
	struct dart_error error;

	assert_int_equal(length, sizeof(*head) + 10);
	assert_int_equal(dart_rpc_lookups__decode(bytes, length, 4, &values, &error), 0);
	assert_int_equal(values.rows_log2, 10);
	assert_int_equal(values.cells, 4);
	assert_int_equal(values.key_length, 3);
	assert_int_equal(values.value_length, 2);
	assert_int_equal(values.packet_length, 1514);
	assert_int_equal(values.epoch, 9);
	assert_int_equal(values.count, 2);
	assert_int_equal(values.next, 5);
	assert_memory_equal(values.entries, "abcdefghij", 10);
	assert_int_equal(dart_rpc_lookups__decode(bytes, put(0), 4, &values, &error), 0);
	assert_int_equal(values.next, 0);
}

static void test_hostile(void **state)
{
	const size_t length = put(5);
	size_t i;

	for (i = 0; i < length; i++)
		refused(i, "the agent's list of ");
	refused(length + 1, "the agent's list of 2 entries has");
	refused(sizeof(bytes), "the agent's list of entries has 65537 bytes");
	put(4);
	refused(length, "does not go on after its end");
	put(3);
	refused(length, "does not go on after its end");
	put(5);
	head->epoch = 0;
	refused(length, "the agent's list of 2 entries");
	put(5);
	head->reserved = htole32(1);
	refused(length, "the agent's list of 2 entries");
	put(5);
	head->key_length = 0;
	head->value_length = htole32(5);
	refused(length, "the agent's list of 2 entries");
	/* Lengths and counts whose products or sums exceed 32 and 64 bits. */
	put(5);
	head->key_length = htole32(UINT32_MAX);
	head->value_length = htole32(6);
	refused(length, "the agent's list of 2 entries");
	put(5);
	head->count = htole32(UINT32_MAX);
	refused(length, "the agent's list of 4294967295 entries");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a list of entries is read as it was written", test_list),
		TEST("lists of other lengths, without an epoch, or that do not go on are refused",
		     test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
