// SPDX-License-Identifier: GPL-2.0-only
/* READs as operations of the adapter. */
#include <libdart/private/read_pieces.h>

#include "unit.h"

#define LENGTH_MAX (DART_READ_PACKETS_MAX * 1024)

static void pieces__expect(struct dart_read_pieces *pieces, uint64_t room,
			   const struct dart_read *expected)
{
	struct dart_read piece;

	assert_true(dart_read_pieces__take(pieces, room, &piece));
	assert_int_equal(piece.address, expected->address);
	assert_int_equal(piece.rkey, expected->rkey);
	assert_int_equal(piece.length, expected->length);
	assert_int_equal(piece.landing, expected->landing);
}

static void test_order(void **state)
{
	static const struct dart_read reads[] = {
		{ .address = 100, .rkey = 7, .length = 10, .landing = 0 },
		{ .address = 900, .rkey = 8, .length = 4, .landing = 64 },
		{ .address = 5, .rkey = 9, .length = 9, .landing = 128 },
	};
	static const struct dart_read expected[] = {
		{ .address = 100, .rkey = 7, .length = 4, .landing = 0 },
		{ .address = 104, .rkey = 7, .length = 4, .landing = 4 },
		{ .address = 108, .rkey = 7, .length = 2, .landing = 8 },
		{ .address = 900, .rkey = 8, .length = 4, .landing = 64 },
		{ .address = 5, .rkey = 9, .length = 4, .landing = 128 },
		{ .address = 9, .rkey = 9, .length = 4, .landing = 132 },
		{ .address = 13, .rkey = 9, .length = 1, .landing = 136 },
	};
	struct dart_read_pieces pieces = {
		.reads = reads, .count = 3, .length_max = 4,
	};
	struct dart_read piece;
	size_t i;

	assert_int_equal(dart_read_pieces__count(reads, 3, 4), 7);
	for (i = 0; i < 7; i++) {
		assert_false(dart_read_pieces__have_ended(&pieces));
		assert_false(dart_read_pieces__take(
			&pieces, expected[i].length - 1, &piece));
		pieces__expect(&pieces, expected[i].length, &expected[i]);
	}
	assert_true(dart_read_pieces__have_ended(&pieces));
	assert_false(dart_read_pieces__take(&pieces, UINT64_MAX, &piece));
}

/* 512 KiB of records side by side, and the header of the table. */
static void test_records(void **state)
{
	static const struct dart_read reads[] = {
		{ .address = 1 << 20, .length = 512 << 10 },
		{ .address = 4096, .length = 64, .landing = 512 << 10 },
	};

	assert_int_equal(dart_read_pieces__count(reads, 2, LENGTH_MAX), 4);
	assert_int_equal(dart_read_pieces__count(reads, 2, 4 * LENGTH_MAX), 2);
	assert_int_equal(dart_read_pieces__count(reads, 0, LENGTH_MAX), 0);
}

static void test_longest(void **state)
{
	const struct dart_read read = { .length = UINT32_MAX };

	assert_int_equal(dart_read_pieces__count(&read, 1, UINT32_MAX), 1);
	assert_int_equal(dart_read_pieces__count(&read, 1, 1), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("pieces come in the order of READs, each at its place, if there is room for them",
		     test_order),
		TEST("512 KiB of records and a header are 4 operations at an MTU of 1024, and 2 at 4096",
		     test_records),
		TEST("the longest READ is counted", test_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
