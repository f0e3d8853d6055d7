// SPDX-License-Identifier: GPL-2.0-only
/* READs as operations of the adapter. */
#include <libdart/rdma/read_pieces_internal.h>

#include "selftests/unit/unit.h"

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
		assert_false(dart_read_pieces__take(&pieces, expected[i].length - 1, &piece));
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

	assert_int_equal(dart_read_pieces__count(&read, 1, UINT32_MAX), 2);
	assert_int_equal(dart_read_pieces__count(&read, 1, 1), UINT32_MAX);
}

/*
 * Takes all pieces of @read: their number equals the count, they are adjacent, and none is too
 * long.
 */
static void check_pieces(const struct dart_read *read, uint32_t length_max)
{
	struct dart_read_pieces pieces = {
		.reads = read, .count = 1, .length_max = length_max,
	};
	uint32_t taken = 0, done = 0;
	struct dart_read piece;

	while (dart_read_pieces__take(&pieces, UINT64_MAX, &piece)) {
		taken++;
		assert_int_equal(piece.address, read->address + done);
		assert_int_equal(piece.landing, read->landing + done);
		assert_in_range(piece.length, 1, length_max);
		done += piece.length;
		if (done < read->length && length_max >= 128)
			assert_int_equal((read->address + done) % 64, 0);
	}
	assert_int_equal(done, read->length);
	assert_int_equal(dart_read_pieces__count(read, 1, length_max), taken);
}

static void test_fragments(void **state)
{
	static const uint32_t edges[] = { 1, 63, 64, 65, 4032, 4095, 4096, 4097, 4160, 8192, 8193 };
	uint64_t random = 1;
	struct dart_read read;

	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
		for (uint32_t offset = 0; offset < 128; offset++) {
			read = (struct dart_read){ .address = 8192 + offset,
						   .length = edges[i],
						   .landing = 16 };
			check_pieces(&read, 4096);
		}
	}
	for (int i = 0; i < 20000; i++) {
		read = (struct dart_read){
			.address = random__below(&random, 1 << 20),
			.length = 1 + random__below(&random, 1 << 16),
		};
		check_pieces(&read, 1 + random__below(&random, 10000));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("pieces come in the order of READs, each at its place, if there is room for them",
		     test_order),
		TEST("512 KiB of records and a header are 4 operations at an MTU of 1024, and 2 at 4096",
		     test_records),
		TEST("the longest READ is counted", test_longest),
		TEST("fragments end at multiples of 64, lie side by side and are as many as are counted, for each offset",
		     test_fragments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
