// SPDX-License-Identifier: GPL-2.0-only
/* Lists of epochs of <dart/rpc.h>: written lists are read, hostile lists are refused. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rpc/epochs.h>

#include "selftests/unit/unit.h"

static uint8_t bytes[DART_RPC_EPOCHS_LENGTH_MAX + 1];

static const struct dart_rpc_epoch_values epochs[] = {
	{ 1000, 2000, 4096, DART_RPC_EPOCH_FILE },
	{ 2000, 3000, 24 << 10, DART_RPC_EPOCH_MEMORY },
	{ 3000, 0, 24 << 10, DART_RPC_EPOCH_MEMORY },
};

/* The list of these epochs, of which the one with @index is @other unless that is NULL. */
static size_t put(uint32_t count, uint64_t more_ns, uint32_t index,
		  const struct dart_rpc_epoch_values *other)
{
	const struct dart_rpc_epochs_values values = {
		.slots_log2 = 10, .value_length = 20, .checksum_bits = 32, .redundancy = 2,
		.count = count, .more_ns = more_ns,
	};
	uint32_t i;

	for (i = 0; i < count && i < 3; i++)
		dart_rpc_epochs__put_epoch(bytes, i, other && i == index ? other : &epochs[i]);
	return dart_rpc_epochs__put(bytes, &values);
}

static void refused(size_t length, const char *words)
{
	/* Ends where the memory ends, for the sanitizer. */
	uint8_t *exact = malloc(length + !length);
	struct dart_rpc_epochs_values values;
	struct dart_error error = {};

	assert_non_null(exact);
	memcpy(exact, bytes, length);
	assert_int_equal(dart_rpc_epochs__decode(exact, length, &values, &error), -EBADMSG);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
	free(exact);
}

static void test_list(void **state)
{
	struct dart_rpc_epochs_values values;
	struct dart_rpc_epoch_values epoch;
	struct dart_error error;
	size_t length = put(3, 0, 0, NULL);
	uint32_t i;

	assert_int_equal(dart_rpc_epochs__decode(bytes, length, &values, &error), 0);
	assert_int_equal(values.slots_log2, 10);
	assert_int_equal(values.value_length, 20);
	assert_int_equal(values.checksum_bits, 32);
	assert_int_equal(values.redundancy, 2);
	assert_int_equal(values.count, 3);
	assert_int_equal(values.more_ns, 0);
	for (i = 0; i < 3; i++) {
		epoch = dart_rpc_epochs__get(&values, i);
		assert_int_equal(epoch.since_ns, epochs[i].since_ns);
		assert_int_equal(epoch.until_ns, epochs[i].until_ns);
		assert_int_equal(epoch.length, epochs[i].length);
		assert_int_equal(epoch.place, epochs[i].place);
	}
	assert_int_equal(dart_rpc_epochs__decode(bytes, put(0, 0, 0, NULL), &values, &error), 0);
	assert_int_equal(values.count, 0);
	assert_int_equal(dart_rpc_epochs__decode(bytes, put(2, 3000, 0, NULL), &values, &error), 0);
	assert_int_equal(values.more_ns, 3000);
}

static void test_lengths(void **state)
{
	const size_t right = put(3, 0, 0, NULL);
	size_t length;

	for (length = 0; length < right; length++)
		refused(length, "list of ");
	refused(right + 1, "has 129 bytes");
	put(DART_RPC_EPOCHS_MAX + 1, 0, 0, NULL);
	refused(sizeof(bytes), "list of 1025 epochs");
	put(0x08000003, 0, 0, NULL);
	refused(right, "list of 134217731 epochs");
}

static void test_epochs(void **state)
{
	static const struct {
		uint32_t index;
		struct dart_rpc_epoch_values epoch;
		const char *words;
	} wrong[] = {
		{ 0, { 0, 2000, 1, DART_RPC_EPOCH_FILE }, "epoch 0 " },
		{ 1, { 1000, 3000, 1, DART_RPC_EPOCH_FILE }, "epoch 1 " },
		{ 1, { 999, 3000, 1, DART_RPC_EPOCH_FILE }, "epoch 1 " },
		{ 1, { 2000, 2000, 1, DART_RPC_EPOCH_FILE }, "epoch 1 " },
		{ 2, { 1ULL << 63, 0, 1, DART_RPC_EPOCH_FILE }, "epoch 2 " },
		{ 2, { 3000, 1ULL << 63, 1, DART_RPC_EPOCH_FILE }, "epoch 2 " },
		{ 2, { 3000, 0, 1, 0 }, "the unknown place 0" },
		{ 2, { 3000, 0, 1, 3 }, "the unknown place 3" },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		refused(put(3, 0, wrong[i].index, &wrong[i].epoch), wrong[i].words);
}

/* A reader that asks again from there has to come to an end. */
static void test_more(void **state)
{
	refused(put(0, 1000, 0, NULL), "does not go on after its end");
	refused(put(2, 2000, 0, NULL), "does not go on after its end");
	refused(put(2, 1ULL << 63, 0, NULL), "does not go on after its end");
}

static void test_reserved(void **state)
{
	struct dart_rpc_epochs *head = (void *)bytes;
	struct dart_rpc_epoch *epoch = (void *)(bytes + sizeof(*head));
	size_t length = put(3, 0, 0, NULL);

	epoch[1].reserved = htole32(1);
	refused(length, "epoch 1 of the agent's list breaks a rule");
	epoch[1].reserved = 0;
	head->reserved = htole32(1);
	refused(length, "list of 3 epochs has ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a list of epochs is read as it was written", test_list),
		TEST("a list of any other length than its count says is refused", test_lengths),
		TEST("epochs that go back in time, end before they begin or lie in no place are refused",
		     test_epochs),
		TEST("a list that goes on before its end is refused", test_more),
		TEST("reserved members are 0", test_reserved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
