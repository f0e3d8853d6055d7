// SPDX-License-Identifier: GPL-2.0-only
/* Translators report the path of each key from its postcards, and no path has hops of another. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include <libdart/report/translator.h>
#include <libdart/store/store_query.h>

#include "selftests/unit/libdart/vector.h"

#define VECTORS "selftests/vectors/postcards.json"
#define HOPS	5
#define AGE	UINT64_C(1000)

static struct dart_translator *translator;
static struct dart_translator_report reports[DART_TRANSLATOR_REPORTS_MAX];

static void open_translator(uint32_t rows_log2, uint32_t places)
{
	assert_int_equal(dart_translator__new(rows_log2, places, AGE, &translator), 0);
}

static int drop(void **state)
{
	dart_translator__free(translator);
	translator = NULL;
	return 0;
}

static struct dart_postcard postcard(uint32_t key, uint32_t hop, uint32_t value)
{
	struct dart_postcard postcard = {
		.key_length = sizeof(key),
		.hop = hop,
		.hops = HOPS,
		.value = value,
	};

	memcpy(postcard.key, &key, sizeof(key));
	return postcard;
}

/* Adds a postcard, of which @due reports are expected. */
static void add(uint32_t key, uint32_t hop, uint32_t value, int due)
{
	const struct dart_postcard added = postcard(key, hop, value);

	assert_int_equal(dart_translator__add(translator, &added, 0, reports), due);
}

static uint32_t place(const struct dart_translator_report *report, uint32_t hop)
{
	uint32_t value;

	memcpy(&value, report->value + 4 * hop, sizeof(value));
	return be32toh(value);
}

static uint32_t key_of(const struct dart_translator_report *report)
{
	uint32_t key;

	assert_int_equal(report->key_length, sizeof(key));
	memcpy(&key, report->key, sizeof(key));
	return key;
}

/* The report is of @key, and has these values. */
static void expect(const struct dart_translator_report *report, uint32_t key, bool is_complete,
		   const uint32_t values[HOPS])
{
	uint32_t hop;

	assert_int_equal(key_of(report), key);
	assert_int_equal(report->is_complete, is_complete);
	for (hop = 0; hop < HOPS; hop++)
		assert_int_equal(place(report, hop), values[hop]);
}

static void test_complete(void **state)
{
	uint32_t hop;

	open_translator(4, HOPS);
	add(1, 3, 13, 0);
	add(1, 0, 10, 0);
	add(1, 4, 14, 0);
	add(1, 0, 10, 0);
	add(1, 2, 12, 0);
	add(1, 1, 11, 1);
	expect(reports, 1, true, (uint32_t[]){ 10, 11, 12, 13, 14 });
	/* The next packet of the flow. */
	for (hop = 0; hop < HOPS; hop++)
		add(1, hop, 10 + hop, 0);
	assert_false(dart_translator__expire(translator, UINT64_MAX, reports));
	assert_int_equal(dart_translator__counts(translator)->complete, 1);
	assert_int_equal(dart_translator__counts(translator)->postcards, 11);
}

static void test_evictions(void **state)
{
	const struct dart_postcard short_path = {
		.key = "one hop", .key_length = 7, .hops = 1, .value = 30,
	};

	/* All keys need the only row. */
	open_translator(0, HOPS);
	add(1, 0, 10, 0);
	add(1, 1, 11, 0);
	add(2, 4, 24, 1);
	expect(reports, 1, false, (uint32_t[]){ 10, 11, 0, 0, 0 });
	assert_int_equal(reports[0].number, 0);
	add(1, 4, 14, 1);
	expect(reports, 2, false, (uint32_t[]){ 0, 0, 0, 0, 24 });
	assert_int_equal(reports[0].number, 1);
	assert_int_equal(dart_translator__add(translator, &short_path, 0, reports), 2);
	expect(reports, 1, false, (uint32_t[]){ 0, 0, 0, 0, 14 });
	assert_int_equal(reports[0].number, 2);
	assert_int_equal(reports[1].key_length, 7);
	assert_true(reports[1].is_complete);
	assert_int_equal(place(&reports[1], 0), 30);
	assert_int_equal(place(&reports[1], 1), DART_POSTCARD_NO_HOP);
	/* A complete row is not reported again. */
	add(2, 1, 21, 0);
	assert_int_equal(dart_translator__counts(translator)->evicted, 3);
}

static void test_contradictions(void **state)
{
	struct dart_postcard longer;
	uint32_t hop;

	open_translator(4, HOPS);
	add(1, 0, 10, 0);
	add(1, 1, 11, 0);
	add(1, 1, 21, 1);
	expect(reports, 1, false, (uint32_t[]){ 10, 11, 0, 0, 0 });
	longer = postcard(1, 2, 22);
	longer.hops = 4;
	assert_int_equal(dart_translator__add(translator, &longer, 0, reports), 1);
	expect(reports, 1, false, (uint32_t[]){ 0, 21, 0, 0, 0 });
	assert_true(dart_translator__expire(translator, UINT64_MAX, reports));
	expect(reports, 1, false, (uint32_t[]){ 0, 0, 22, 0, DART_POSTCARD_NO_HOP });
	assert_int_equal(dart_translator__counts(translator)->changed, 2);
	assert_int_equal(dart_translator__counts(translator)->aged, 1);
	/* A complete row begins again when its path changes. */
	for (hop = 0; hop < HOPS; hop++)
		add(2, hop, 10 + hop, hop == HOPS - 1);
	add(2, 2, 22, 0);
	assert_true(dart_translator__expire(translator, UINT64_MAX, reports));
	expect(reports, 2, false, (uint32_t[]){ 0, 0, 22, 0, 0 });
}

static void add_at(uint32_t key, uint64_t now)
{
	const struct dart_postcard added = postcard(key, 0, 1);

	assert_int_equal(dart_translator__add(translator, &added, now, reports), 0);
}

/* A frame with a time in the future, and a clock that is set back, keep no row. */
static void test_steps(void **state)
{
	const uint64_t s = 1000000000, day = 86400 * s;
	uint64_t now = 1700000000 * s;

	open_translator(10, HOPS);
	add_at(1, now);
	add_at(2, now + 30 * day);
	assert_true(dart_translator__expire(translator, now + 30 * day, reports));
	assert_int_equal(key_of(reports), 1);
	now += s;
	add_at(3, now);
	assert_false(dart_translator__expire(translator, now + 999, reports));
	assert_true(dart_translator__expire(translator, now + 1000, reports));
	assert_int_equal(key_of(reports), 2);
	assert_true(dart_translator__expire(translator, now + 1000, reports));
	assert_int_equal(key_of(reports), 3);
	add_at(4, UINT64_MAX - 5);
	now -= day;
	add_at(5, now);
	assert_true(dart_translator__expire(translator, now + 1000, reports));
	assert_true(dart_translator__expire(translator, now + 1000, reports));
	add_at(6, now + 2000);
	assert_false(dart_translator__expire(translator, now + 2999, reports));
	assert_true(dart_translator__expire(translator, now + 3000, reports));
	assert_int_equal(key_of(reports), 6);
}

static void test_age(void **state)
{
	uint32_t hop;

	open_translator(10, HOPS);
	add_at(1, 5000);
	/* The clock went back: it counts from 5000. */
	add_at(2, 4000);
	add_at(3, 5500);
	add_at(1, 5900);
	assert_false(dart_translator__expire(translator, 5999, reports));
	assert_false(dart_translator__expire(translator, 10, reports));
	assert_true(dart_translator__expire(translator, 6000, reports));
	assert_int_equal(key_of(reports), 1);
	assert_true(dart_translator__expire(translator, 6000, reports));
	assert_int_equal(key_of(reports), 2);
	assert_false(dart_translator__expire(translator, 6499, reports));
	assert_true(dart_translator__expire(translator, 6500, reports));
	assert_int_equal(key_of(reports), 3);
	/* A complete row ends, too: then the same path is reported again. */
	for (hop = 0; hop < HOPS; hop++)
		add(4, hop, 10 + hop, hop == HOPS - 1);
	assert_false(dart_translator__expire(translator, 8000, reports));
	for (hop = 0; hop < HOPS; hop++)
		add(4, hop, 10 + hop, hop == HOPS - 1);
	assert_int_equal(dart_translator__counts(translator)->aged, 3);
}

/* No two keys and hops have the same value. */
static uint32_t value_of(uint32_t key, uint32_t hop)
{
	return 1 + key * HOPS + hop;
}

static uint32_t check_report(const struct dart_translator_report *report)
{
	uint32_t hop, known = 0;

	for (hop = 0; hop < HOPS; hop++) {
		if (!place(report, hop))
			continue;
		assert_int_equal(place(report, hop), value_of(key_of(report), hop));
		known++;
	}
	assert_int_equal(report->is_complete, known == HOPS);
	assert_true(known);
	return known;
}

static void test_bound(void **state)
{
	struct dart_random random = dart_random__of(5);
	const struct dart_translator_counts *counts;
	uint32_t i, key, hop, left = 0;
	uint64_t told = 0;
	int due;

	open_translator(4, HOPS);
	counts = dart_translator__counts(translator);
	for (i = 0; i < 100000; i++) {
		struct dart_postcard added;

		key = dart_random__below(&random, 40);
		hop = dart_random__below(&random, HOPS);
		added = postcard(key, hop, value_of(key, hop));
		due = dart_translator__add(translator, &added, i, reports);
		assert_in_range(due, 0, DART_TRANSLATOR_REPORTS_MAX);
		while (due--)
			told += check_report(&reports[due]);
		while (dart_translator__expire(translator, i, reports))
			told += check_report(reports);
	}
	while (dart_translator__expire(translator, UINT64_MAX, reports)) {
		told += check_report(reports);
		left++;
	}
	assert_in_range(left, 0, 16);
	assert_int_equal(counts->postcards, 100000);
	assert_int_equal(counts->changed, 0);
	assert_true(counts->evicted && counts->complete && told > counts->evicted);
}

static void test_refused(void **state)
{
	struct dart_postcard wrong[] = {
		postcard(1, HOPS, 1),		      postcard(1, 0, DART_POSTCARD_UNKNOWN),
		postcard(1, 0, DART_POSTCARD_NO_HOP), postcard(1, 0, 1),
		postcard(1, 0, 1),		      postcard(1, 0, 1),
	};
	size_t i;

	wrong[3].hops = HOPS + 1;
	wrong[4].key_length = 0;
	wrong[5].key_length = DART_STORE_KEY_MAX + 1;
	open_translator(4, HOPS);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(dart_translator__add(translator, &wrong[i], 0, reports), -EINVAL);
	assert_false(dart_translator__expire(translator, UINT64_MAX, reports));
	assert_int_equal(dart_translator__counts(translator)->refused, i);
	drop(state);
	assert_int_equal(dart_translator__new(23, HOPS, AGE, &translator), -EINVAL);
	assert_int_equal(dart_translator__new(4, 0, AGE, &translator), -EINVAL);
	assert_int_equal(dart_translator__new(4, 17, AGE, &translator), -EINVAL);
}

/* ---- golden vectors */

static void check_datagram(const json_t *vector, bool is_postcard)
{
	const struct bytes datagram = bytes(vector, "datagram");
	struct dart_postcard postcard;
	struct bytes key;

	if (!is_postcard) {
		assert_int_equal(dart_postcard__read(datagram.data, datagram.length, &postcard),
				 -EBADMSG);
		return;
	}
	assert_int_equal(dart_postcard__read(datagram.data, datagram.length, &postcard), 0);
	key = bytes(vector, "key");
	assert_int_equal(postcard.key_length, key.length);
	assert_memory_equal(postcard.key, key.data, key.length);
	assert_int_equal(postcard.hop, number(vector, "hop"));
	assert_int_equal(postcard.hops, number(vector, "hops"));
	assert_int_equal(postcard.value, number(vector, "value"));
}

static void check_value(const json_t *vector)
{
	const struct bytes value = bytes(vector, "value");
	json_t *known = json_object_get(vector, "known"), *told;
	struct dart_postcard added = postcard(1, 0, 1);
	const char *hop;
	int due = 0;

	open_translator(0, number(vector, "length") / 4);
	added.hops = number(vector, "hops");
	json_object_foreach(known, hop, told) {
		added.hop = strtoul(hop, NULL, 10);
		added.value = json_integer_value(told);
		due = dart_translator__add(translator, &added, 0, reports);
	}
	assert_int_equal(due, json_object_size(known) == added.hops);
	if (!due)
		assert_true(dart_translator__expire(translator, UINT64_MAX, reports));
	assert_int_equal(value.length, number(vector, "length"));
	assert_memory_equal(reports[0].value, value.data, value.length);
	drop(NULL);
}

static void check_merge(const json_t *vector)
{
	json_t *slots = json_object_get(vector, "slots"), *slot;
	struct dart_store_geometry geometry = {
		.slots = 8, .checksum_bits = 32, .redundancy = json_array_size(slots),
		.value_length = number(vector, "length"),
	};
	const struct dart_store_rule rule = { DART_STORE_MERGE, 0 };
	const struct dart_store_place place = {
		.slots = { 0, 1, 2, 3 }, .checksum = 9,
	};
	uint8_t memory[4][DART_STORE_SLOT_MAX];
	const uint8_t *at[DART_STORE_REDUNDANCY_MAX];
	struct dart_store_answer answer;
	struct bytes value;
	size_t i;

	json_array_foreach(slots, i, slot) {
		json_t *wrapped = json_pack("{s:O}", "slot", slot);

		value = bytes(wrapped, "slot");
		dart_store__fill(&geometry, &place, value.data, memory[i]);
		at[i] = memory[i];
		json_decref(wrapped);
	}
	dart_store__decide(&geometry, &place, at, &rule, &answer);
	assert_int_equal(answer.matches, geometry.redundancy);
	if (json_is_null(json_object_get(vector, "value"))) {
		assert_int_equal(answer.outcome, DART_STORE_AMBIGUOUS);
		return;
	}
	value = bytes(vector, "value");
	assert_int_equal(answer.outcome, DART_STORE_FOUND);
	assert_int_equal(answer.agreeing, geometry.redundancy);
	assert_memory_equal(answer.value, value.data, value.length);
}

static void test_vectors(void **state)
{
	json_t *vectors = json_load_file(VECTORS, 0, NULL), *vector;
	const char *kind;
	size_t i;

	assert_true(json_array_size(vectors) > 80);
	json_array_foreach(vectors, i, vector) {
		kind = text(vector, "kind");
		if (!strcmp(kind, "value"))
			check_value(vector);
		else if (!strcmp(kind, "merge"))
			check_merge(vector);
		else
			check_datagram(vector, !strcmp(kind, "postcard"));
	}
	json_decref(vectors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a path whose postcards come in any order, or twice, is reported once",
			     test_complete, NULL, drop),
		TEST_FIXTURE("a row that another key needs is reported with its own key and values",
			     test_evictions, NULL, drop),
		TEST_FIXTURE("a row whose path changes is reported, and begins again",
			     test_contradictions, NULL, drop),
		TEST_FIXTURE("a row is reported when its time has passed",
			     test_age, NULL, drop),
		TEST_FIXTURE("a row is reported in time though the clock steps",
			     test_steps, NULL, drop),
		TEST_FIXTURE("rows are bounded, and no report has a hop of another key",
			     test_bound, NULL, drop),
		TEST_FIXTURE("postcards that are invalid, or of too long paths, change nothing",
			     test_refused, NULL, drop),
		TEST_FIXTURE("postcards, values and merged values are those of the golden vectors",
			     test_vectors, NULL, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
