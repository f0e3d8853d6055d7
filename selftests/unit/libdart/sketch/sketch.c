// SPDX-License-Identifier: GPL-2.0-only
/* Strips and frames of sketches like the golden vectors, counters that stay, and periods. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <libdart/report/sketch_target.h>

#include "selftests/unit/libdart/target_load.h"

#define VECTORS "selftests/vectors/strips.json"
#define S UINT64_C(1000000000)

static int load(void **state)
{
	return load_vectors(VECTORS);
}

/* Loads a file with @sketches; the caller knows whether it is valid. */
static int load_targets(json_t *sketches, const char *address, struct dart_sketch_target *target,
			struct dart_error *error)
{
	char path[] = TARGET_FILE;
	int ret;

	write_targets(path, "sketches", sketches);
	ret = dart_sketch_target__load(path, reporter_of(address), target, error);
	unlink(path);
	return ret;
}

static void load_target(json_t *vector, struct dart_sketch_target *target)
{
	json_t *sketches = json_pack("[O]", json_object_get(vector, "sketch"));
	struct dart_error error;

	if (load_targets(sketches, "10.0.0.2", target, &error))
		fail_msg("%s", error.text);
	json_decref(sketches);
}

/* ---- strips */

static void turn(struct dart_sketcher *sketcher, uint64_t seconds)
{
	dart_sketcher__turn(sketcher, seconds * S, seconds * S);
}

static void count_amounts(struct dart_sketcher *sketcher, json_t *vector)
{
	json_t *pair;
	size_t i;

	json_array_foreach(json_object_get(vector, "amounts"), i, pair) {
		json_t *key = json_pack("{s:O}", "key", json_array_get(pair, 0));
		const struct bytes taken = bytes(key, "key");

		dart_sketcher__count(sketcher, taken.data, taken.length,
				     json_integer_value(json_array_get(pair, 1)));
		json_decref(key);
	}
}

/* Finds the strip of the vector among all strips of the period. */
static void find_strip(struct dart_sketcher *sketcher, json_t *vector,
		       const struct dart_sketch_target *target, uint8_t *frame)
{
	const uint8_t mac[] = { 0x52, 0x54, 0, 0, 0, 2 };
	const struct bytes strip = bytes(vector, "strip"), expected = bytes(vector, "frame");
	struct dart_sketch_write write;

	do {
		assert_true(dart_sketcher__next(sketcher, &write));
	} while (write.number != number(vector, "number"));
	assert_int_equal(write.offset, number(vector, "offset"));
	assert_int_equal(write.length, strip.length);
	assert_memory_equal(write.bytes, strip.data, strip.length);
	assert_int_equal(dart_sketch_target__frame(target, mac, &write, number(vector, "psn"),
						   frame),
			 expected.length);
	assert_memory_equal(frame, expected.data, expected.length);
}

static void test_strips(void **state)
{
	uint8_t frame[DART_SKETCH_FRAME_MAX];
	struct dart_sketch_target target;
	struct dart_sketcher *sketcher;
	json_t *vector;
	size_t i;

	json_array_foreach(vectors, i, vector) {
		const uint64_t since = number(vector, "since");

		load_target(vector, &target);
		assert_int_equal(dart_sketcher__new(&target.geometry, &sketcher), 0);
		turn(sketcher, since - target.geometry.period);
		turn(sketcher, since);
		count_amounts(sketcher, vector);
		turn(sketcher, since + target.geometry.period);
		find_strip(sketcher, vector, &target, frame);
		dart_sketcher__free(sketcher);
	}
}

/* A strip with any changed bit is not whole, nor one in the place of another. */
static void test_torn(void **state)
{
	json_t *vector = json_array_get(vectors, 0);
	struct bytes strip = bytes(vector, "strip");
	struct dart_sketch_target target;
	struct dart_sketch_strip read;
	uint8_t *copy = malloc(strip.length);
	const uint32_t place = number(vector, "number");
	size_t i;

	assert_non_null(copy);
	load_target(vector, &target);
	memcpy(copy, strip.data, strip.length);
	assert_int_equal(dart_sketch_strip__read(&target.geometry, copy, place, &read),
			 DART_SKETCH_WHOLE);
	assert_int_equal(read.period, number(vector, "now"));
	assert_int_equal(read.reporters, 1);
	assert_int_equal(dart_sketch_strip__read(&target.geometry, copy, place + 1, &read),
			 DART_SKETCH_TORN);
	for (i = 0; i < 8 * strip.length; i++) {
		copy[i / 8] ^= 1 << i % 8;
		assert_int_equal(dart_sketch_strip__read(&target.geometry, copy, place, &read),
				 DART_SKETCH_TORN);
		copy[i / 8] ^= 1 << i % 8;
	}
	memset(copy, 0, strip.length);
	assert_int_equal(dart_sketch_strip__read(&target.geometry, copy, place, &read),
			 DART_SKETCH_EMPTY);
	free(copy);
}

/* Strips without a period or a reporter are not whole, even with the right CRC. */
static void test_nobody(void **state)
{
	const struct dart_sketch_geometry geometry = { 1, DART_SKETCH_COUNT_MIN, 1, 4, 10 };
	const uint32_t counters[DART_SKETCH_STRIP_COLUMNS] = { 7 };
	uint8_t bytes[DART_SKETCH_STRIP_MAX];
	struct dart_sketch_strip read;

	dart_sketch_strip__write(&geometry, 5, 65535, 0, counters, bytes);
	assert_int_equal(dart_sketch_strip__read(&geometry, bytes, 0, &read), DART_SKETCH_WHOLE);
	assert_int_equal(read.reporters, 65535);
	assert_int_equal(dart_sketch_strip__counter(&geometry, &read, 0, 0), 7);
	dart_sketch_strip__write(&geometry, 0, 1, 0, counters, bytes);
	assert_int_equal(dart_sketch_strip__read(&geometry, bytes, 0, &read), DART_SKETCH_TORN);
	dart_sketch_strip__write(&geometry, 5, 0, 0, counters, bytes);
	assert_int_equal(dart_sketch_strip__read(&geometry, bytes, 0, &read), DART_SKETCH_TORN);
}

static void test_counters(void **state)
{
	static const struct {
		uint32_t kind, counter, other, sum;
	} cases[] = {
		{ 0, 1, 2, 3 },
		{ 0, UINT32_MAX - 1, 1, UINT32_MAX },
		{ 0, UINT32_MAX, UINT32_MAX, UINT32_MAX },
		{ 0, UINT32_MAX, 0, UINT32_MAX },
		{ 1, 5, -7, -2 },
		{ 1, INT32_MAX - 1, 1, INT32_MAX },
		{ 1, INT32_MAX, -1, INT32_MAX },
		{ 1, -1, INT32_MAX, INT32_MAX },
		{ 1, -INT32_MAX, 5, -INT32_MAX },
		{ 1, -5, -INT32_MAX + 1, -INT32_MAX },
		{ 1, INT32_MIN, 1, -INT32_MAX },
		{ 1, 1, INT32_MIN, -INT32_MAX },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(dart_sketch_counter__add(cases[i].kind, cases[i].counter,
							  cases[i].other),
				 cases[i].sum);
	assert_true(dart_sketch_counter__is_saturated(0, UINT32_MAX));
	assert_false(dart_sketch_counter__is_saturated(0, UINT32_MAX - 1));
	assert_true(dart_sketch_counter__is_saturated(1, INT32_MIN));
	assert_true(dart_sketch_counter__is_saturated(1, -INT32_MAX));
	assert_false(dart_sketch_counter__is_saturated(1, UINT32_MAX));
}

/* ---- periods */

static const struct dart_sketch_geometry small = { 1, DART_SKETCH_COUNT_MIN, 2, 6, 10 };

/* The sum of all counters of the strips that are due; each is of @period. */
static uint64_t send_all(struct dart_sketcher *sketcher, uint32_t period)
{
	struct dart_sketch_strip strip;
	struct dart_sketch_write write;
	uint64_t sum = 0;
	uint32_t i;

	while (dart_sketcher__next(sketcher, &write)) {
		assert_int_equal(dart_sketch_strip__read(&small, write.bytes, write.number, &strip),
				 DART_SKETCH_WHOLE);
		assert_int_equal(strip.period, period);
		for (i = 0; i < DART_SKETCH_STRIP_COLUMNS * small.rows; i++)
			sum += dart_sketch_strip__counter(&small, &strip, i / small.rows,
							  i % small.rows);
	}
	return sum;
}

static void test_periods(void **state)
{
	const struct dart_sketcher_counts *counts;
	struct dart_sketch_write write;
	struct dart_sketcher *sketcher;

	assert_int_equal(dart_sketcher__new(&small, &sketcher), 0);
	counts = dart_sketcher__counts(sketcher);
	/* What is counted in the period of the start is not sent. */
	turn(sketcher, 1003);
	assert_false(dart_sketcher__is_whole(sketcher));
	assert_true(dart_sketcher__end(sketcher) == 1010 * S);
	dart_sketcher__count(sketcher, "a", 1, 1);
	turn(sketcher, 1010);
	assert_int_equal(dart_sketcher__due(sketcher), 0);
	assert_int_equal(counts->dropped, 1);
	/* A whole period, which is sent while the next one is counted. */
	dart_sketcher__count(sketcher, "a", 1, 2);
	turn(sketcher, 1019);
	dart_sketcher__count(sketcher, "b", 1, 3);
	turn(sketcher, 1020);
	assert_int_equal(dart_sketcher__due(sketcher), 4);
	dart_sketcher__count(sketcher, "c", 1, 10);
	assert_int_equal(send_all(sketcher, 101), 2 * 5);
	/* Strips that are not sent in time are lost, and do not come back. */
	turn(sketcher, 1030);
	assert_true(dart_sketcher__next(sketcher, &write));
	turn(sketcher, 1040);
	assert_int_equal(counts->lost, 3);
	assert_int_equal(send_all(sketcher, 103), 0);
	turn(sketcher, 1050);
	assert_int_equal(send_all(sketcher, 104), 0);
	/* After a gap nothing is sent of either period. */
	dart_sketcher__count(sketcher, "d", 1, 1);
	turn(sketcher, 1075);
	assert_int_equal(dart_sketcher__due(sketcher), 0);
	dart_sketcher__count(sketcher, "d", 1, 1);
	turn(sketcher, 1080);
	assert_int_equal(dart_sketcher__due(sketcher), 0);
	turn(sketcher, 1090);
	assert_int_equal(send_all(sketcher, 108), 0);
	assert_int_equal(counts->strips, 4 + 1 + 4 + 4 + 4);
	dart_sketcher__free(sketcher);
}

/* Tells the time of a clock that is @ahead seconds ahead of the other one. */
static void turn_ahead(struct dart_sketcher *sketcher, uint64_t seconds, int64_t ahead)
{
	dart_sketcher__turn(sketcher, (seconds + ahead) * S, seconds * S);
}

/* Sums of another program, added twice, and the counter that is sent. */
static void test_sums(void **state)
{
	static const struct {
		uint32_t kind;
		int64_t sums[2];
		uint32_t counter;
	} cases[] = {
		{ DART_SKETCH_COUNT_MIN, { 5, 7 }, 12 },
		{ DART_SKETCH_COUNT_MIN, { UINT32_MAX - 3ULL, 2 }, UINT32_MAX - 1 },
		{ DART_SKETCH_COUNT_MIN, { UINT32_MAX - 3ULL, 4 }, UINT32_MAX },
		{ DART_SKETCH_COUNT_MIN, { INT64_MAX, 0 }, UINT32_MAX },
		{ DART_SKETCH_COUNT_SKETCH, { 5, -7 }, -2 },
		{ DART_SKETCH_COUNT_SKETCH, { -INT32_MAX + 2, -2 }, -INT32_MAX },
		{ DART_SKETCH_COUNT_SKETCH, { 1LL << 40, -5 }, INT32_MAX },
		{ DART_SKETCH_COUNT_SKETCH, { INT64_MIN, 5 }, -INT32_MAX },
	};
	struct dart_sketch_geometry geometry = { 1, 0, 1, 4, 10 };
	const struct dart_sketch_geometry *of = &geometry;
	const uint64_t now = 100 * UINT64_C(1000000000);
	struct dart_sketcher *sketcher;
	struct dart_sketch_write write;
	struct dart_sketch_strip strip;
	int64_t sums[16] = { 0 };
	uint32_t counter;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		geometry.kind = cases[i].kind;
		assert_int_equal(dart_sketcher__new(of, &sketcher), 0);
		dart_sketcher__turn(sketcher, now, now);
		dart_sketcher__turn(sketcher, 11 * now / 10, 11 * now / 10);
		sums[3] = cases[i].sums[0];
		dart_sketcher__add(sketcher, sums);
		sums[3] = cases[i].sums[1];
		dart_sketcher__add(sketcher, sums);
		dart_sketcher__turn(sketcher, 12 * now / 10, 12 * now / 10);
		assert_true(dart_sketcher__next(sketcher, &write));
		assert_int_equal(dart_sketch_strip__read(of, write.bytes, 0, &strip),
				 DART_SKETCH_WHOLE);
		counter = dart_sketch_strip__counter(of, &strip, 3, 0);
		assert_int_equal(counter, cases[i].counter);
		assert_int_equal(dart_sketch_strip__counter(of, &strip, 2, 0), 0);
		dart_sketcher__free(sketcher);
	}
}

static void test_clock(void **state)
{
	struct dart_sketcher *sketcher;

	assert_int_equal(dart_sketcher__new(&small, &sketcher), 0);
	turn_ahead(sketcher, 1000, 0);
	turn_ahead(sketcher, 1010, 0);
	assert_true(dart_sketcher__is_whole(sketcher));
	/* A second is no more than a tenth of the period. */
	turn_ahead(sketcher, 1015, 1);
	turn_ahead(sketcher, 1019, 1);
	assert_int_equal(dart_sketcher__due(sketcher), 4);
	send_all(sketcher, 101);
	/* Forwards within the period, so that it ends early. */
	turn_ahead(sketcher, 1021, 4);
	assert_false(dart_sketcher__is_whole(sketcher));
	turn_ahead(sketcher, 1026, 4);
	assert_int_equal(dart_sketcher__due(sketcher), 0);
	assert_true(dart_sketcher__is_whole(sketcher));
	/* Straight to the next period. */
	turn_ahead(sketcher, 1027, 13);
	assert_int_equal(dart_sketcher__due(sketcher), 0);
	/* Backwards, by a period. */
	turn_ahead(sketcher, 1040, 13);
	assert_true(dart_sketcher__is_whole(sketcher));
	turn_ahead(sketcher, 1041, -6);
	assert_int_equal(dart_sketcher__due(sketcher), 0);
	assert_false(dart_sketcher__is_whole(sketcher));
	/* Before 1970 was an hour old. */
	turn_ahead(sketcher, 1042, -1042);
	assert_int_equal(dart_sketcher__due(sketcher), 0);
	turn_ahead(sketcher, 1052, -1042);
	turn_ahead(sketcher, 1062, -1042);
	assert_int_equal(dart_sketcher__due(sketcher), 4);
	send_all(sketcher, 1);
	dart_sketcher__free(sketcher);
}

/* ---- geometries and files */

static void test_geometry(void **state)
{
	static const struct dart_sketch_geometry good = { 64, 1, 8, 20, 3600 };
	static const struct dart_sketch_geometry bad[] = {
		{ 0, 0, 4, 16, 10 }, { 65, 0, 4, 16, 10 }, { 1, 2, 4, 16, 10 },
		{ 1, 0, 0, 16, 10 }, { 1, 0, 9, 16, 10 },  { 1, 0, 4, 3, 10 },
		{ 1, 0, 4, 21, 10 }, { 1, 0, 4, 16, 0 },   { 1, 0, 4, 16, 3601 },
	};
	struct dart_sketcher *sketcher;
	size_t i;

	assert_int_equal(dart_sketch_geometry__check(&good), 0);
	assert_true(dart_sketch_geometry__length(&good) == UINT64_C(524) * 65536 * 2 * 64);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_not_equal(dart_sketch_geometry__check(&bad[i]), 0);
		assert_int_not_equal(dart_sketcher__new(&bad[i], &sketcher), 0);
	}
	assert_string_equal(dart_sketch_kind__name(DART_SKETCH_COUNT_SKETCH), "count-sketch");
	assert_null(dart_sketch_kind__name(2));
	assert_int_equal(dart_sketch_kind__find("count-min"), DART_SKETCH_COUNT_MIN);
	assert_true(dart_sketch_kind__find("") < 0);
}

static void refuse(json_t *both, json_t *one, const char *member, json_t *value, const char *reason)
{
	json_t *before = json_incref(json_object_get(one, member));
	struct dart_sketch_target target;
	struct dart_error error;

	json_object_set_new(one, member, value);
	assert_int_not_equal(load_targets(both, "10.0.0.3", &target, &error), 0);
	if (!strstr(error.text, reason))
		fail_msg("%s", error.text);
	if (before)
		json_object_set_new(one, member, before);
	else
		json_object_del(one, member);
}

/* All sketchers of a file with @count copies of @sketch. */
static int load_all(json_t *sketch, uint32_t count,
		    struct dart_sketch_target targets[DART_SKETCH_PARTS_MAX], uint32_t *loaded,
		    struct dart_error *error)
{
	char path[] = TARGET_FILE, address[] = "10.0.1.100";
	json_t *list = json_array(), *copy;
	uint32_t i;
	int ret;

	for (i = 0; i < count; i++) {
		copy = json_deep_copy(sketch);
		snprintf(address, sizeof(address), "10.0.1.%u", i % 256);
		json_object_set_new(copy, "reporter", json_string(address));
		json_array_append_new(list, copy);
	}
	write_targets(path, "sketches", list);
	json_decref(list);
	ret = dart_sketch_target__load_all(path, targets, loaded, error);
	unlink(path);
	return ret;
}

static void test_all_sketchers(void **state)
{
	json_t *one = json_deep_copy(json_object_get(json_array_get(vectors, 0), "sketch"));
	struct dart_sketch_target targets[DART_SKETCH_PARTS_MAX];
	struct dart_error error;
	uint32_t count, i;

	assert_int_equal(load_all(one, DART_SKETCH_PARTS_MAX, targets, &count, &error), 0);
	assert_int_equal(count, DART_SKETCH_PARTS_MAX);
	for (i = 0; i < count; i++) {
		assert_int_equal(ntohl(targets[i].collector.reporter.s_addr), 0x0a000100 + i);
		assert_int_equal(targets[i].geometry.rows, 4);
	}
	assert_int_equal(load_all(one, 0, targets, &count, &error), 0);
	assert_int_equal(count, 0);
	assert_int_equal(load_all(one, DART_SKETCH_PARTS_MAX + 1, targets, &count, &error), -EINVAL);
	assert_non_null(strstr(error.text, "more than 64 sketchers"));
	json_object_set_new(one, "rows", json_integer(9));
	assert_int_equal(load_all(one, 2, targets, &count, &error), -EINVAL);
	assert_non_null(strstr(error.text, "sketches[0]: a sketch cannot have this geometry"));
	json_decref(one);
}

static void test_files(void **state)
{
	json_t *one = json_deep_copy(json_object_get(json_array_get(vectors, 0), "sketch"));
	json_t *other = json_deep_copy(one), *both = json_pack("[o, o]", one, other);
	struct dart_sketch_target target;
	struct dart_error error;
	json_t *written;

	json_object_set_new(other, "reporter", json_string("10.0.0.3"));
	assert_int_equal(load_targets(both, "10.0.0.3", &target, &error), 0);
	written = dart_sketch_target__to_json(&target);
	assert_true(json_equal(written, other));
	json_decref(written);
	assert_int_not_equal(load_targets(both, "0.0.0.0", &target, &error), 0);
	assert_non_null(strstr(error.text, "several sketches or sketchers"));
	assert_int_not_equal(load_targets(both, "10.0.0.4", &target, &error), 0);
	assert_non_null(strstr(error.text, "no sketch takes counters from 10.0.0.4"));
	refuse(both, one, "rows", json_integer(9), "sketches[0]: a sketch cannot have this");
	refuse(both, one, "rows", json_integer(0x100000004), "a sketch cannot have this");
	refuse(both, one, "columns_log2", json_integer(-1), "a sketch cannot have this geometry");
	refuse(both, one, "period", json_integer(0), "a sketch cannot have this geometry");
	refuse(both, one, "kind", json_string("other"), "a sketch cannot have this geometry");
	refuse(both, one, "base", json_string("0xffffffffffffff00"), "ends beyond all addresses");
	refuse(both, one, "shares", json_string("0-1023"), "it has members that no sketch has");
	json_decref(both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("strips and frames are like those of the golden vectors", test_strips),
		TEST("strips with a wrong bit or in a wrong place are torn", test_torn),
		TEST("strips of no period or nobody are torn", test_nobody),
		TEST("counters stay at their last value", test_counters),
		TEST("whole periods are sent, and no others", test_periods),
		TEST("sums of another program are counted, and stay at the last value", test_sums),
		TEST("periods in which the clock was set are not sent", test_clock),
		TEST("impossible geometries are refused", test_geometry),
		TEST("files of sketches are read, checked and written", test_files),
		TEST("all sketchers of a file are read, up to the most of a sketch", test_all_sketchers),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
