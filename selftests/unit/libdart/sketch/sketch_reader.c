// SPDX-License-Identifier: GPL-2.0-only
/* What a reader finds in the memory of a sketch: sums of parts, holes of each kind, estimates. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/sketch/sketch_reader.h>

#include "selftests/unit/unit.h"

#define S UINT64_C(1000000000)
#define PERIOD 101 /* that is read, and lies in bank 1 */

/* The memory of a sketch, and a sketcher for each part. */
struct rig {
	struct dart_sketch_geometry geometry;
	uint8_t *memory;
	struct dart_sketcher *sketchers[DART_SKETCH_PARTS_MAX];
	struct dart_sketch_reader *reader;
};

static void rig__open(struct rig *rig, uint32_t kind, uint32_t rows, uint32_t columns_log2,
		      uint32_t parts)
{
	uint32_t i;

	*rig = (struct rig){ { parts, kind, rows, columns_log2, 10 }, NULL, {}, NULL };
	rig->memory = calloc(1, dart_sketch_geometry__length(&rig->geometry));
	assert_non_null(rig->memory);
	assert_int_equal(dart_sketch_reader__map(&rig->geometry, rig->memory, &rig->reader), 0);
	for (i = 0; i < parts; i++) {
		assert_int_equal(dart_sketcher__new(&rig->geometry, &rig->sketchers[i]), 0);
		dart_sketcher__turn(rig->sketchers[i], (PERIOD - 1) * 10 * S, 0);
		dart_sketcher__turn(rig->sketchers[i], PERIOD * 10 * S, 10 * S);
	}
}

static void rig__close(struct rig *rig)
{
	uint32_t i;

	for (i = 0; i < rig->geometry.parts; i++)
		dart_sketcher__free(rig->sketchers[i]);
	dart_sketch_reader__close(rig->reader);
	free(rig->memory);
}

static uint8_t *part_of(const struct rig *rig, uint32_t part)
{
	return rig->memory + part * dart_sketch_geometry__part(&rig->geometry);
}

/* Where strip @number of the period lies. */
static uint8_t *strip_of(const struct rig *rig, uint32_t part, uint32_t number)
{
	return part_of(rig, part) + dart_sketch_geometry__offset(&rig->geometry, PERIOD, number);
}

/* WRITEs the next strip of @part. */
static bool send_one(struct rig *rig, uint32_t part)
{
	struct dart_sketch_write write;

	if (!dart_sketcher__next(rig->sketchers[part], &write))
		return false;
	memcpy(part_of(rig, part) + write.offset, write.bytes, write.length);
	return true;
}

/* Ends the @n-th period, from 0 on, of @part, and WRITEs all of it. */
static void end_period(struct rig *rig, uint32_t part, uint32_t n)
{
	dart_sketcher__turn(rig->sketchers[part], (PERIOD + n + 1) * 10 * S, (n + 2) * 10 * S);
	while (send_one(rig, part))
		;
}

static struct dart_sketch_merge *read_period(struct rig *rig, uint32_t period)
{
	struct dart_sketch_merge *merge;
	struct dart_error error;

	if (dart_sketch_reader__read(rig->reader, period, &merge, &error))
		fail_msg("%s", error.text);
	return merge;
}

static struct dart_sketch_estimate ask(const struct dart_sketch_merge *merge, const char *key)
{
	struct dart_sketch_estimate estimate;

	dart_sketch_merge__ask(merge, key, strlen(key), &estimate);
	return estimate;
}

static void count(struct rig *rig, uint32_t part, const char *key, uint32_t amount)
{
	dart_sketcher__count(rig->sketchers[part], key, strlen(key), amount);
}

/* The strip with the column of @key in @row. */
static uint32_t strip_with(const struct rig *rig, const char *key, uint32_t row)
{
	const uint32_t polynomials[] = { DART_STORE_SLOT_0, DART_STORE_SLOT_1 };
	const uint32_t crc = dart_store__crc(polynomials[row], key, strlen(key));

	return (crc & ((1u << rig->geometry.columns_log2) - 1)) / DART_SKETCH_STRIP_COLUMNS;
}

/* ---- sums and holes */

static void test_sum(void **state)
{
	const struct dart_sketch_summary *summary;
	struct dart_sketch_estimate estimate;
	struct dart_sketch_merge *merge;
	uint32_t kind, part;
	struct rig rig;

	for (kind = 0; kind < 2; kind++) {
		rig__open(&rig, kind, 4, 12, 4);
		for (part = 0; part < 3; part++) {
			count(&rig, part, "both", 10 + part);
			end_period(&rig, part, 0);
		}
		merge = read_period(&rig, 0);
		summary = dart_sketch_merge__summary(merge);
		assert_int_equal(summary->period, PERIOD);
		assert_int_equal(summary->present, 3);
		assert_int_equal(summary->unused, 1);
		assert_int_equal(summary->absent, 0);
		assert_int_equal(summary->reporters, 3);
		assert_int_equal(summary->strips, 256);
		assert_int_equal(summary->without_hole, 256);
		assert_int_equal(summary->total, kind ? 0 : 33);
		/* 2 sqrt(33^2 / 4096) is 1.03. */
		assert_int_equal(summary->epsilon, kind);
		estimate = ask(merge, "both");
		assert_int_equal(estimate.outcome, DART_SKETCH_COUNTED);
		assert_int_equal(estimate.count, 33);
		assert_int_equal(estimate.rows, 4);
		/* Two rows of four or more: 6 * 9 + 4 * 3 + 1 of 256. */
		assert_true(fabs(estimate.probability - (kind ? 1 - 67. / 256 : 15. / 16)) < 1e-9);
		assert_int_equal(ask(merge, "neither").count, 0);
		dart_sketch_merge__free(merge);
		rig__close(&rig);
	}
}

/* Each kind of hole, in the strip of row 0 of a key, whose other row still counts. */
static void test_holes(void **state)
{
	const struct dart_sketch_summary *summary;
	struct dart_sketch_merge *merge;
	struct rig rig;
	uint8_t *strip;
	uint32_t number, length, other;

	rig__open(&rig, DART_SKETCH_COUNT_MIN, 2, 10, 2);
	length = dart_sketch_geometry__strip_length(&rig.geometry);
	count(&rig, 0, "key", 5);
	count(&rig, 1, "key", 6);
	end_period(&rig, 0, 0);
	end_period(&rig, 1, 0);
	number = strip_with(&rig, "key", 0);
	other = strip_with(&rig, "key", 1);
	assert_int_not_equal(number, other);
	strip = strip_of(&rig, 0, number);
	memset(strip, 0, length);
	merge = read_period(&rig, 0);
	summary = dart_sketch_merge__summary(merge);
	assert_int_equal(summary->holes.empty, 1);
	assert_int_equal(summary->without_hole, 63);
	assert_int_equal(ask(merge, "key").count, 11);
	assert_int_equal(ask(merge, "key").rows, 1);
	assert_true(ask(merge, "key").probability == 0.5);
	dart_sketch_merge__free(merge);

	/* The other row, too: no row counts, and it is not 0. */
	strip_of(&rig, 1, other)[3] ^= 1;
	merge = read_period(&rig, 0);
	summary = dart_sketch_merge__summary(merge);
	assert_int_equal(summary->holes.torn, 1);
	assert_int_equal(summary->without_hole, 62);
	assert_int_equal(ask(merge, "key").outcome, DART_SKETCH_HOLE);
	dart_sketch_merge__free(merge);
	rig__close(&rig);
}

/* Strips of the same bank that are older, newer, or the sum of fewer or more reporters. */
static void test_other_strips(void **state)
{
	const uint32_t counters[DART_SKETCH_STRIP_COLUMNS] = { 1 };
	const struct dart_sketch_summary *summary;
	struct dart_sketch_merge *merge;
	struct rig rig;
	uint32_t number;

	rig__open(&rig, DART_SKETCH_COUNT_MIN, 1, 8, 1);
	end_period(&rig, 0, 0);
	dart_sketch_strip__write(&rig.geometry, PERIOD - 2, 1, 3, counters, strip_of(&rig, 0, 3));
	dart_sketch_strip__write(&rig.geometry, PERIOD + 2, 1, 4, counters, strip_of(&rig, 0, 4));
	dart_sketch_strip__write(&rig.geometry, UINT32_MAX, 1, 5, counters, strip_of(&rig, 0, 5));
	for (number = 6; number < 8; number++)
		dart_sketch_strip__write(&rig.geometry, PERIOD, 2, number, counters,
					 strip_of(&rig, 0, number));
	merge = read_period(&rig, 0);
	summary = dart_sketch_merge__summary(merge);
	assert_int_equal(summary->period, PERIOD);
	assert_int_equal(summary->holes.older, 1);
	assert_int_equal(summary->holes.newer, 2);
	assert_int_equal(summary->reporters, 2);
	assert_int_equal(summary->holes.fewer, 11);
	assert_int_equal(summary->holes.more, 0);
	assert_int_equal(summary->without_hole, 2);
	dart_sketch_merge__free(merge);
	/* One strip of a sketcher that lies does not harm the others. */
	for (number = 6; number < 8; number++)
		dart_sketch_strip__write(&rig.geometry, PERIOD, number == 6 ? UINT16_MAX : 1,
					 number, counters, strip_of(&rig, 0, number));
	merge = read_period(&rig, 0);
	summary = dart_sketch_merge__summary(merge);
	assert_int_equal(summary->reporters, 1);
	assert_int_equal(summary->holes.fewer, 0);
	assert_int_equal(summary->holes.more, 1);
	assert_int_equal(summary->without_hole, 12);
	dart_sketch_merge__free(merge);
	rig__close(&rig);
}

/* A sketcher that did not write the period is absent, and does not make all others useless. */
static void test_absent(void **state)
{
	const struct dart_sketch_summary *summary;
	struct dart_sketch_merge *merge;
	struct dart_error error;
	struct rig rig;
	uint32_t part, n;

	rig__open(&rig, DART_SKETCH_COUNT_MIN, 2, 10, 3);
	for (n = 0; n < 4; n++)
		for (part = 0; part < (n < 2 ? 3 : 2); part++) {
			count(&rig, part, "key", 1 + n);
			end_period(&rig, part, n);
		}
	merge = read_period(&rig, 0);
	summary = dart_sketch_merge__summary(merge);
	assert_int_equal(summary->period, PERIOD + 3);
	assert_int_equal(summary->present, 2);
	assert_int_equal(summary->absent, 1);
	assert_int_equal(summary->holes.older, 0);
	assert_int_equal(ask(merge, "key").count, 8);
	dart_sketch_merge__free(merge);
	/* The period before is still there, and those before it are still in the third part. */
	merge = read_period(&rig, PERIOD + 2);
	assert_int_equal(ask(merge, "key").count, 6);
	dart_sketch_merge__free(merge);
	merge = read_period(&rig, PERIOD + 1);
	summary = dart_sketch_merge__summary(merge);
	assert_int_equal(summary->present, 1);
	assert_int_equal(summary->absent, 2);
	assert_int_equal(ask(merge, "key").count, 2);
	dart_sketch_merge__free(merge);
	assert_int_equal(dart_sketch_reader__read(rig.reader, PERIOD + 4, &merge, &error),
			 -ENODATA);
	assert_non_null(strstr(error.text, "no sketcher has written period 105"));
	rig__close(&rig);
	rig__open(&rig, DART_SKETCH_COUNT_MIN, 2, 10, 3);
	assert_int_equal(dart_sketch_reader__read(rig.reader, 0, &merge, &error), -ENODATA);
	assert_non_null(strstr(error.text, "no sketcher has written a period yet"));
	rig__close(&rig);
}

/* A period is newest once 7/8 of it have come. */
static void test_choice(void **state)
{
	struct dart_sketch_merge *merge;
	struct rig rig;
	uint32_t i;

	rig__open(&rig, DART_SKETCH_COUNT_MIN, 1, 10, 1);
	end_period(&rig, 0, 0);
	dart_sketcher__turn(rig.sketchers[0], (PERIOD + 2) * 10 * S, 30 * S);
	for (i = 1; send_one(&rig, 0); i++) {
		merge = read_period(&rig, 0);
		assert_int_equal(dart_sketch_merge__summary(merge)->period,
				 i < 56 ? PERIOD : PERIOD + 1);
		dart_sketch_merge__free(merge);
	}
	assert_int_equal(i, 65);
	rig__close(&rig);
}

/* Sketchers that ended long ago, and a clock that is ahead, do not hide newer periods. */
static void test_majority(void **state)
{
	const uint32_t ahead = UINT32_MAX - 1;
	const uint32_t counters[DART_SKETCH_STRIP_COLUMNS] = { 1 };
	struct dart_sketch_merge *merge;
	struct rig rig;
	uint32_t part, n, i;

	rig__open(&rig, DART_SKETCH_COUNT_MIN, 1, 8, 8);
	for (part = 0; part < 7; part++)
		for (n = 0; n < (part < 5 ? 2 : 4); n++)
			end_period(&rig, part, n);
	for (i = 0; i < 16; i++)
		dart_sketch_strip__write(
			&rig.geometry, ahead, 1, i, counters,
			part_of(&rig, 7) + dart_sketch_geometry__offset(&rig.geometry, ahead, i));
	merge = read_period(&rig, 0);
	assert_int_equal(dart_sketch_merge__summary(merge)->period, PERIOD + 3);
	assert_int_equal(dart_sketch_merge__summary(merge)->present, 2);
	assert_int_equal(dart_sketch_merge__summary(merge)->absent, 6);
	dart_sketch_merge__free(merge);
	/* While one of two has the next one, the one before is read. */
	end_period(&rig, 5, 4);
	merge = read_period(&rig, 0);
	assert_int_equal(dart_sketch_merge__summary(merge)->period, PERIOD + 3);
	dart_sketch_merge__free(merge);
	rig__close(&rig);
}

static void test_saturated(void **state)
{
	struct dart_sketch_merge *merge;
	uint32_t kind;
	struct rig rig;

	for (kind = 0; kind < 2; kind++) {
		rig__open(&rig, kind, 2, 10, 2);
		count(&rig, 0, "much", kind ? INT32_MAX - 1 : UINT32_MAX - 1);
		count(&rig, 1, "much", 7);
		count(&rig, 1, "over", kind ? INT32_MAX : UINT32_MAX);
		end_period(&rig, 0, 0);
		end_period(&rig, 1, 0);
		merge = read_period(&rig, 0);
		assert_true(ask(merge, "much").count ==
			    (kind ? INT32_MAX - INT64_C(1) : UINT32_MAX - INT64_C(1)) + 7);
		assert_int_equal(ask(merge, "over").outcome, DART_SKETCH_SATURATED);
		assert_int_equal(dart_sketch_merge__summary(merge)->saturated, 2);
		dart_sketch_merge__free(merge);
		rig__close(&rig);
	}
}

/* ---- many operations, and a network that loses, repeats and delays */

#define KEYS 1000
#define OPERATIONS 10000
#define PARTS 3

/* A frame on its way; its bytes are those of the time when it was sent. */
struct frame {
	uint8_t *to;
	uint32_t length;
	uint8_t bytes[DART_SKETCH_STRIP_MAX];
};

static void arrive(const struct frame *frame)
{
	memcpy(frame->to, frame->bytes, frame->length);
}

/* Sends all of @part; 1 % is lost, 1 % comes twice, and all come in any order of 8. */
static uint32_t send_badly(struct rig *rig, uint32_t part)
{
	struct dart_sketch_write write;
	struct frame window[8];
	uint32_t held = 0, lost = 0, i;

	while (dart_sketcher__next(rig->sketchers[part], &write)) {
		if (rand() % 100 == 0) {
			lost++;
			continue;
		}
		if (held < 8) {
			i = held++;
		} else {
			i = (uint32_t)rand() % 8;
			arrive(&window[i]);
		}
		window[i] = (struct frame){ part_of(rig, part) + write.offset, write.length, {} };
		memcpy(window[i].bytes, write.bytes, write.length);
		if (rand() % 100 == 0)
			arrive(&window[i]);
	}
	for (i = 0; i < held; i++)
		arrive(&window[i]);
	return lost;
}

/* Counts the same in three sketchers, and in one whose strips all come. */
static void count_both(struct rig *rig, struct rig *one, int64_t *truth)
{
	uint32_t i;

	for (i = 0; i < OPERATIONS; i++) {
		const uint32_t number = (uint32_t)rand() % KEYS * ((uint32_t)rand() % KEYS) / KEYS;
		char key[16];

		snprintf(key, sizeof(key), "%u", number);
		count(rig, rand() % PARTS, key, 1 + i % 3);
		count(one, 0, key, 1 + i % 3);
		truth[number] += 1 + i % 3;
	}
}

/* Returns how many keys have an answer, of all rows and of at least one. */
static uint32_t compare_keys(const struct dart_sketch_merge *merge,
			     const struct dart_sketch_merge *whole, const int64_t *truth,
			     uint32_t kind, uint32_t *answers)
{
	uint32_t equal = 0, number;

	for (number = 0; number < KEYS; number++) {
		struct dart_sketch_estimate found, expected;
		char key[16];

		snprintf(key, sizeof(key), "%u", number);
		found = ask(merge, key);
		expected = ask(whole, key);
		assert_int_equal(expected.rows, 4);
		*answers += found.outcome == DART_SKETCH_COUNTED;
		if (found.rows == 4) {
			assert_int_equal(found.count, expected.count);
			equal++;
		} else if (found.rows && kind == DART_SKETCH_COUNT_MIN) {
			assert_true(found.count >= expected.count);
		}
		if (kind == DART_SKETCH_COUNT_MIN)
			assert_true(expected.count >= truth[number]);
	}
	return equal;
}

static void test_like_one(void **state)
{
	const struct dart_sketch_summary *summary;
	struct dart_sketch_merge *merge, *whole;
	uint32_t kind, part, lost, answers;
	struct rig rig, one;

	for (kind = 0; kind < 2; kind++) {
		int64_t truth[KEYS] = {};

		srand(1 + kind);
		rig__open(&rig, kind, 4, 12, PARTS);
		rig__open(&one, kind, 4, 12, 1);
		count_both(&rig, &one, truth);
		lost = answers = 0;
		for (part = 0; part < PARTS; part++) {
			dart_sketcher__turn(rig.sketchers[part], (PERIOD + 1) * 10 * S, 20 * S);
			lost += send_badly(&rig, part);
		}
		end_period(&one, 0, 0);
		merge = read_period(&rig, 0);
		whole = read_period(&one, 0);
		summary = dart_sketch_merge__summary(merge);
		assert_true(lost > 0);
		assert_int_equal(summary->holes.empty, lost);
		assert_int_equal(summary->holes.older + summary->holes.newer + summary->holes.torn +
					 summary->holes.fewer,
				 0);
		assert_true(compare_keys(merge, whole, truth, kind, &answers) > KEYS * 3 / 4);
		assert_true(answers > KEYS * 99 / 100);
		dart_sketch_merge__free(merge);
		dart_sketch_merge__free(whole);
		rig__close(&rig);
		rig__close(&one);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("parts are added up", test_sum),
		TEST("empty and torn strips are holes, and a key without a row has no count",
		     test_holes),
		TEST("older and newer strips, and fewer or more reporters, are holes",
		     test_other_strips),
		TEST("a sketcher that did not write the period is absent", test_absent),
		TEST("a period is the newest once 7/8 of it have come", test_choice),
		TEST("old sketchers and a clock that is ahead do not hide newer periods",
		     test_majority),
		TEST("saturated counters do not count", test_saturated),
		TEST("10,000 counts are like those in one memory, and lost strips are holes",
		     test_like_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
