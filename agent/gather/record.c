// SPDX-License-Identifier: GPL-2.0-only
/* Sums copies of counters, and writes the sums into rows that readers READ meanwhile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "own_sample.h"
#include "record.h"
#include "shared_file.h"

/* Words of a row before its values: the time, and in some forms the number of the CPU. */
static uint32_t words_before(const struct record *record)
{
	return record->form == DART_ZERO_RECORD_COPIES ? 2 : 1;
}

static uint64_t align(uint64_t at, uint32_t width)
{
	return (at + width - 1) / width * width;
}

static bool is_sound(const struct dart_zero_piece *piece, uint64_t length)
{
	if (piece->width != 1 && piece->width != 2 && piece->width != 4 && piece->width != 8)
		return false;
	return piece->count && piece->offset % piece->width == 0 && piece->offset <= length &&
	       (length - piece->offset) / piece->width >= piece->count;
}

/* Counts the words of a row.  -EINVAL: a piece is outside of the copy, or there are too many. */
static int count_words(struct record *record, uint64_t length)
{
	uint64_t bytes = words_before(record) * sizeof(uint64_t);
	const struct dart_zero_piece *piece;
	uint32_t i;

	for (i = 0; i < record->piece_count; i++) {
		piece = &record->pieces[i];
		if (!is_sound(piece, length))
			return -EINVAL;
		bytes = align(bytes, piece->width) + piece->width * piece->count;
		if (bytes > DART_ZERO_RECORD_WORDS_MAX * sizeof(uint64_t))
			return -EINVAL;
	}
	record->words = align(bytes, sizeof(uint64_t)) / sizeof(uint64_t);
	record->row_lines =
		(record->words + DART_ZERO_RECORD_LINE_WORDS - 1) / DART_ZERO_RECORD_LINE_WORDS;
	return 0;
}

int record__new(const struct dart_zero_record *wanted, uint64_t length, struct record **result)
{
	struct record *record;
	int ret;

	if (wanted->piece_count > DART_ZERO_RECORD_WORDS_MAX)
		return -EINVAL;
	record = calloc(1, sizeof(*record) + wanted->piece_count * sizeof(*record->pieces));
	if (!record)
		return -ENOMEM;
	record->form = wanted->form;
	record->rows = 1;
	record->question.fd = -1;
	record->piece_count = wanted->piece_count;
	memcpy(record->pieces, (const void *)(uintptr_t)wanted->pieces,
	       wanted->piece_count * sizeof(*record->pieces));
	ret = count_words(record, length);
	if (ret)
		free(record);
	else
		*result = record;
	return ret;
}

int record__refer(struct record *record, int fd)
{
	const int ret = shared_file__take(fd, &record->file);

	if (!ret)
		record->question.fd = record->file->fd;
	return ret;
}

void record__free(struct record *record)
{
	if (record->file)
		shared_file__give(record->file);
	if (record->own)
		record->own->kind->close(record->own);
	free(record);
}

int record__place(struct record *record, struct record_pages *pages)
{
	int ret = record_pages__take(pages, record->rows * record->row_lines, &record->first_line,
				     &record->sequence);

	if (!ret)
		record->pages = pages;
	return ret;
}

static struct dart_zero_record_line *row_lines(const struct record *record, uint32_t row)
{
	return record->pages->lines + record->first_line + row * record->row_lines;
}

/* The next even sequence, without the sequence of empty rows. */
static uint32_t next_sequence(const struct record *record)
{
	return record->sequence + 2 ?: 2;
}

/*
 * Adapters see the stores before the call before those after it.  A fence of C orders stores for
 * processors, which on arm64 is not enough: this is dma_wmb() of the kernel.
 */
static void order_stores(void)
{
#ifdef __aarch64__
	__asm__ volatile("dmb oshst" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * An adapter READs a line from either end, or at one moment.  So a changed value arrives with an
 * odd sequence, or with another sequence, at one end: order_stores() orders the sequences with the
 * words.
 */
static void set_sequence(struct dart_zero_record_line *lines, uint32_t count, uint32_t sequence)
{
	struct dart_zero_record_line *end = lines + count;

	for (; lines < end; lines++) {
		__atomic_store_n(&lines->sequence, sequence, __ATOMIC_RELAXED);
		__atomic_store_n(&lines->last_sequence, sequence, __ATOMIC_RELAXED);
	}
}

/* Writes the words of a row before its values, and its values. */
static void write_words(const struct record *record, struct dart_zero_record_line *line,
			const uint64_t *before, const uint8_t *values)
{
	const uint32_t count = words_before(record), room = DART_ZERO_RECORD_LINE_WORDS - count;
	uint32_t left = record->words - count;

	memcpy(line->words, before, count * sizeof(*before));
	if (left <= room) {
		memcpy(line->words + count, values, left * sizeof(*before));
		return;
	}
	memcpy(line->words + count, values, room * sizeof(*before));
	values += room * sizeof(*before);
	left -= room;
	for (line++; left >= DART_ZERO_RECORD_LINE_WORDS; line++) {
		memcpy(line->words, values, sizeof(line->words));
		values += sizeof(line->words);
		left -= DART_ZERO_RECORD_LINE_WORDS;
	}
	if (left)
		memcpy(line->words, values, left * sizeof(*before));
}

/* A sum can miss times on their way from a CPU to a cgroup, but values that were shown stay. */
static void keep_highest(const struct record *record, uint64_t *values)
{
	const struct dart_zero_record_line *line = row_lines(record, 0);
	const uint32_t count = words_before(record);
	uint64_t before;
	uint32_t i;

	for (i = count; record->used_rows && i < record->words; i++) {
		memcpy(&before,
		       &line[i / DART_ZERO_RECORD_LINE_WORDS].words[i % DART_ZERO_RECORD_LINE_WORDS],
		       sizeof(before));
		if (values[i - count] < before)
			values[i - count] = before;
	}
}

static void clear_row(struct record *record, uint32_t row)
{
	struct dart_zero_record_line *lines = row_lines(record, row);
	uint32_t i;

	set_sequence(lines, record->row_lines, record->sequence + 1);
	order_stores(); /* before the first word changes */
	for (i = 0; i < record->row_lines; i++)
		memset(lines[i].words, 0, sizeof(lines[i].words));
	order_stores(); /* after the last word */
	set_sequence(lines, record->row_lines, 0);
}

void record__displace(struct record *record)
{
	while (record->used_rows)
		clear_row(record, --record->used_rows);
	record_pages__give(record->pages, record->first_line, record->rows * record->row_lines,
			   next_sequence(record));
	record->pages = NULL;
}

/* Copies of a variable, which lie @stride bytes apart. */
struct copies {
	const uint8_t *first;
	uint32_t count;
	uint64_t stride;
};

/* Adds up the elements of @piece from byte @done on. */
#define SUM(type)                                                       \
	do {                                                            \
		typedef type __attribute__((may_alias)) element_type;   \
		const uint8_t *element;                                 \
		element_type sum;                                       \
		uint32_t left;                                          \
                                                                        \
		for (; done < length; done += sizeof(sum)) {            \
			element = copies->first + piece->offset + done; \
			sum = *(const element_type *)element;           \
			for (left = copies->count - 1; left; left--) {  \
				element += copies->stride;              \
				sum += *(const element_type *)element;  \
			}                                               \
			*(element_type *)(to + done) = sum;             \
		}                                                       \
	} while (0)

/* Two words, which processors with vectors add at once. */
typedef uint64_t word_pair __attribute__((vector_size(16), aligned(8), may_alias));
#define GROUP (4 * sizeof(word_pair))

/* Adds up the words of two groups: half of the steps from copy to copy. */
static void sum_groups(const struct copies *copies, uint32_t offset, uint8_t *to)
{
	const word_pair *pairs = (const void *)(copies->first + offset);
	word_pair a = pairs[0], b = pairs[1], c = pairs[2], d = pairs[3];
	word_pair e = pairs[4], f = pairs[5], g = pairs[6], h = pairs[7];
	word_pair *sums = (void *)to;
	uint32_t left;

	for (left = copies->count - 1; left; left--) {
		pairs = (const void *)((const uint8_t *)pairs + copies->stride);
		a += pairs[0];
		b += pairs[1];
		c += pairs[2];
		d += pairs[3];
		e += pairs[4];
		f += pairs[5];
		g += pairs[6];
		h += pairs[7];
	}
	sums[0] = a;
	sums[1] = b;
	sums[2] = c;
	sums[3] = d;
	sums[4] = e;
	sums[5] = f;
	sums[6] = g;
	sums[7] = h;
}

/* Adds up words by the group. */
static void sum_group(const struct copies *copies, uint32_t offset, uint8_t *to)
{
	const word_pair *pairs = (const void *)(copies->first + offset);
	word_pair a = pairs[0], b = pairs[1], c = pairs[2], d = pairs[3];
	word_pair *sums = (void *)to;
	uint32_t left;

	for (left = copies->count - 1; left; left--) {
		pairs = (const void *)((const uint8_t *)pairs + copies->stride);
		a += pairs[0];
		b += pairs[1];
		c += pairs[2];
		d += pairs[3];
	}
	sums[0] = a;
	sums[1] = b;
	sums[2] = c;
	sums[3] = d;
}

static void sum_pair(const struct copies *copies, uint32_t offset, uint8_t *to)
{
	const uint8_t *pair = copies->first + offset;
	word_pair sum = *(const word_pair *)pair;
	uint32_t left;

	for (left = copies->count - 1; left; left--) {
		pair += copies->stride;
		sum += *(const word_pair *)pair;
	}
	*(word_pair *)to = sum;
}

/* Writes the elements of @piece, added up over at least one copy, at @to. */
static void sum_piece(const struct dart_zero_piece *piece, const struct copies *copies, uint8_t *to)
{
	const uint32_t length = piece->width * piece->count;
	uint32_t done = 0;

	if (copies->count == 1) {
		memcpy(to, copies->first + piece->offset, length);
		return;
	}
	switch (piece->width) {
	case 8:
		for (; done + 2 * GROUP <= length; done += 2 * GROUP)
			sum_groups(copies, piece->offset + done, to + done);
		for (; done + GROUP <= length; done += GROUP)
			sum_group(copies, piece->offset + done, to + done);
		for (; done + sizeof(word_pair) <= length; done += sizeof(word_pair))
			sum_pair(copies, piece->offset + done, to + done);
		SUM(uint64_t);
		break;
	case 4:
		SUM(uint32_t);
		break;
	case 2:
		SUM(uint16_t);
		break;
	default:
		SUM(uint8_t);
	}
}

/* Are the values of a row the bytes of one copy, in the same order? */
static bool is_straight(const struct record *record, uint32_t count)
{
	return count == 1 && record->piece_count == 1 &&
	       record->pieces[0].width == sizeof(uint64_t) && !record->never_falls;
}

/* Fills @values, @record->words at most, with the sums of the pieces. */
static void add_up(const struct record *record, const struct copies *copies, uint64_t *values)
{
	const struct dart_zero_piece *piece = record->pieces;
	uint64_t at = 0;

	memset(values, 0, record->words * sizeof(*values));
	for (; copies->count && piece < record->pieces + record->piece_count; piece++) {
		at = align(at, piece->width);
		sum_piece(piece, copies, (uint8_t *)values + at);
		at += piece->width * piece->count;
	}
	if (record->never_falls)
		keep_highest(record, values);
}

void record__write(struct record *record, uint32_t row, uint64_t time, uint64_t number,
		   const uint8_t *copies, uint32_t count, uint64_t stride)
{
	uint64_t sums[DART_ZERO_RECORD_WORDS_MAX];
	const struct copies all = { .first = copies, .count = count, .stride = stride };
	struct dart_zero_record_line *lines = row_lines(record, row);
	const uint64_t before[] = { time, number };
	const uint8_t *values = (const uint8_t *)sums;

	if (is_straight(record, count))
		values = copies + record->pieces[0].offset;
	else
		add_up(record, &all, sums);
	set_sequence(lines, record->row_lines, record->sequence + 1);
	order_stores(); /* before the first word changes */
	write_words(record, lines, before, values);
	order_stores(); /* after the last word */
	set_sequence(lines, record->row_lines, next_sequence(record));
	if (record->used_rows <= row)
		record->used_rows = row + 1;
}

void record__finish(struct record *record, uint32_t rows)
{
	while (record->used_rows > rows)
		clear_row(record, --record->used_rows);
	record->sequence = next_sequence(record);
}
