// SPDX-License-Identifier: GPL-2.0-only
/* Rows have the sums of the copies of all CPUs, for elements of any width and number. */
#include <stdlib.h>
#include <string.h>

#include "agent/gather/record.h"
#include "selftests/unit/unit.h"

#define COPIES 5
#define STRIDE 1536
#define PIECES 4
#define LINES 64

struct shape {
	struct dart_zero_piece pieces[PIECES];
	uint32_t piece_count;
	enum dart_zero_record_form form;
	uint8_t copies[COPIES * STRIDE] __attribute__((aligned(8)));
};

/* Pieces of random widths and counts, one after the other, with gaps. */
static void invent(struct shape *shape, uint64_t *state)
{
	uint32_t i, at = random__below(state, 100);

	shape->piece_count = 1 + random__below(state, PIECES);
	for (i = 0; i < shape->piece_count; i++) {
		struct dart_zero_piece *piece = &shape->pieces[i];

		piece->width = 1 << random__below(state, 4);
		piece->count = 1 + random__below(state, 40);
		piece->offset = (at + 7) / 8 * 8;
		at = piece->offset + piece->width * piece->count;
	}
	shape->form = random__below(state, 2) ? DART_ZERO_RECORD_SUM : DART_ZERO_RECORD_COPIES;
	for (i = 0; i < sizeof(shape->copies); i++)
		shape->copies[i] = random__below(state, 256);
}

static uint64_t element(const uint8_t *from, uint32_t width)
{
	uint64_t value = 0;

	memcpy(&value, from, width); /* little endian */
	return value;
}

static uint64_t sum(const struct shape *shape, uint32_t count, uint32_t offset, uint32_t width)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		total += element(shape->copies + i * STRIDE + offset, width);
	return width < 8 ? total & ((UINT64_C(1) << 8 * width) - 1) : total;
}

static void check_row(const struct shape *shape, const struct record *record, uint32_t count)
{
	uint8_t row[LINES * DART_ZERO_RECORD_LINE_WORDS * 8];
	uint32_t i, k, at = 8;

	for (i = 0; i < record->row_lines; i++) {
		const struct dart_zero_record_line *line = record->pages->lines + i;

		memcpy(row + i * sizeof(line->words), line->words, sizeof(line->words));
		assert_int_equal(line->sequence, line->last_sequence);
		assert_int_equal(line->sequence, record->sequence + 2);
	}
	assert_int_equal(element(row, 8), 77);
	if (shape->form == DART_ZERO_RECORD_COPIES) {
		assert_int_equal(element(row + at, 8), 3);
		at += 8;
	}
	for (i = 0; i < shape->piece_count; i++) {
		const struct dart_zero_piece *piece = &shape->pieces[i];

		at = (at + piece->width - 1) / piece->width * piece->width;
		for (k = 0; k < piece->count; k++, at += piece->width)
			assert_int_equal(element(row + at, piece->width),
					 sum(shape, count, piece->offset + k * piece->width,
					     piece->width));
	}
	for (; at % 8; at++)
		assert_int_equal(row[at], 0);
}

static void check_shape(const struct shape *shape, uint32_t count)
{
	const struct dart_zero_record wanted = {
		.form = shape->form,
		.pieces = (uintptr_t)shape->pieces,
		.piece_count = shape->piece_count,
	};
	struct record_pages pages;
	struct record *record;
	void *memory = aligned_alloc(DART_ZERO_RECORD_LINE, LINES * DART_ZERO_RECORD_LINE);

	memset(memory, 0, LINES * DART_ZERO_RECORD_LINE);
	assert_int_equal(record_pages__open(&pages, memory, LINES * DART_ZERO_RECORD_LINE), 0);
	assert_int_equal(record__new(&wanted, STRIDE, &record), 0);
	assert_int_equal(record__place(record, &pages), 0);
	record__write(record, 0, 77, 3, shape->copies, count, STRIDE);
	check_row(shape, record, count);
	record__displace(record);
	record__free(record);
	record_pages__close(&pages);
	free(memory);
}

static void test_sums(void **state)
{
	uint64_t random = 1;
	struct shape shape;
	int i;

	for (i = 0; i < 1000; i++) {
		invent(&shape, &random);
		check_shape(&shape, 1 + random__below(&random, COPIES));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a row has the sum of each element over all copies", test_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
