/* SPDX-License-Identifier: GPL-2.0-only */
/* Gathered records of <linux/dart_zero.h>, for tests. */
#ifndef DART_TEST_RECORD_H
#define DART_TEST_RECORD_H

#include <stdbool.h>
#include <time.h>

#include "device.h"

/* Words of a row, in whole lines. */
#define RECORD_ROW_WORDS_MAX \
	(DART_ZERO_RECORD_WORDS_MAX + DART_ZERO_RECORD_LINE_WORDS)

static inline uint32_t record_pages_new(int region, uint32_t pages)
{
	struct dart_zero_slab slab = {
		.size = sizeof(slab),
		.flags = DART_ZERO_SLAB_RECORDS,
		.pages = pages,
	};

	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_SLAB, &slab), 0);
	assert_int_equal(slab.extent.kind, DART_ZERO_EXTENT_RECORDS);
	return slab.extent.id;
}

/* One piece of a source without a selector; the caller changes other members. */
static inline struct dart_zero_record
record_of(uint32_t pages, uint32_t source, const struct dart_zero_piece *piece)
{
	return (struct dart_zero_record){
		.size = sizeof(struct dart_zero_record),
		.slab = pages,
		.form = DART_ZERO_RECORD_SUM,
		.interval_ms = 10,
		.piece_count = 1,
		.pieces = (uintptr_t)piece,
		.source = source,
		.fd = -1,
	};
}

static inline int record_add(int region, struct dart_zero_record *record)
{
	return device_call(region, DART_ZERO_IOC_ADD_RECORD, record);
}

/* Only describes the counters, which takes the same capability. */
static inline int record_describe(int region, uint32_t source)
{
	struct dart_zero_record record = record_of(0, source, NULL);

	record.piece_count = 0;
	return record_add(region, &record);
}

/*
 * Copies the words of a row to @words, an array of RECORD_ROW_WORDS_MAX.  Returns its
 * sequence, or 1 if the row is torn.
 */
static inline uint64_t record_row(const char *address, const struct dart_zero_record *record,
				  uint32_t row, uint64_t *words)
{
	const volatile struct dart_zero_record_line *line =
		(const void *)(address + record->data + row * record->length);
	uint32_t lines = record->length / DART_ZERO_RECORD_LINE, i, j;
	uint32_t sequence = line->sequence;
	bool is_torn = sequence % 2;

	for (i = 0; i < lines; i++, line++) {
		is_torn |= line->sequence != sequence;
		for (j = 0; j < DART_ZERO_RECORD_LINE_WORDS; j++)
			*words++ = line->words[j];
		is_torn |= line->last_sequence != sequence;
	}
	return is_torn ? 1 : sequence;
}

/* The same of a whole row, for which it waits. */
static inline uint64_t record_row_whole(const char *address, const struct dart_zero_record *record,
					uint32_t row, uint64_t *words)
{
	uint64_t sequence;

	do
		sequence = record_row(address, record, row, words);
	while (sequence % 2);
	return sequence;
}

/* The same of a row that was gathered after this call. */
static inline uint64_t record_row_next(const char *address, const struct dart_zero_record *record,
				       uint32_t row, uint64_t *words)
{
	uint64_t first = record_row_whole(address, record, row, words);
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t sequence = first;

	for (int i = 0; i < 10000 && sequence <= first + 2; i++) {
		nanosleep(&pause, NULL);
		sequence = record_row_whole(address, record, row, words);
	}
	assert_true(sequence > first + 2);
	return sequence;
}

#endif /* DART_TEST_RECORD_H */
