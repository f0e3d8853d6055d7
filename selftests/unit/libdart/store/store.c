// SPDX-License-Identifier: GPL-2.0-only
/* Stores: answers of queries, in single slots and in full stores. */
#include <libdart/store/store_query.h>

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/report/flows.h>
#include <libdart/store/store_sizing.h>

#include "selftests/unit/unit.h"

static const struct dart_store_rule plurality = { DART_STORE_PLURALITY, 0 };
static const struct dart_store_rule unique = { DART_STORE_UNIQUE, 0 };
static const struct dart_store_rule two_agree = { DART_STORE_CONSENSUS, 2 };

/* A store and its memory. */
struct fixture {
	struct dart_store *store;
	uint8_t *memory;
};

static struct fixture fixture__new(uint64_t slots, uint32_t value_length,
				   uint32_t checksum_bits, uint32_t redundancy)
{
	const struct dart_store_geometry geometry = {
		.slots = slots, .value_length = value_length,
		.checksum_bits = checksum_bits, .redundancy = redundancy,
	};
	struct fixture fixture;

	fixture.memory = calloc(slots, dart_store_geometry__slot_length(&geometry));
	assert_non_null(fixture.memory);
	assert_int_equal(dart_store__new(&geometry, fixture.memory, &fixture.store), 0);
	return fixture;
}

static void fixture__free(struct fixture *fixture)
{
	dart_store__free(fixture->store);
	free(fixture->memory);
}

/* A key with different slots, or with the same slot for copies 0 and 1. */
static uint32_t find_key(const struct dart_store *store, bool is_repeated)
{
	const uint32_t redundancy = dart_store__geometry(store)->redundancy;
	struct dart_store_place place;
	uint32_t key, i, j;
	bool repeats;

	for (key = 0; key < 1000000; key++) {
		dart_store_hash__place(dart_store__hash(store), &key, 4, &place);
		repeats = false;
		for (i = is_repeated ? 2 : 1; i < redundancy; i++)
			for (j = 0; j < i; j++)
				repeats |= place.slots[i] == place.slots[j];
		if (!repeats && (!is_repeated || place.slots[0] == place.slots[1]))
			return key;
	}
	fail();
	return 0;
}

/* Fills each byte of copy n with values[n]; "." skips a copy. */
static void write_copies(struct dart_store *store, uint32_t key, const char *values)
{
	const size_t length = dart_store__geometry(store)->value_length;
	uint8_t value[DART_STORE_VALUE_MAX];
	uint32_t copy;

	for (copy = 0; values[copy]; copy++) {
		if (values[copy] == '.')
			continue;
		memset(value, values[copy], length);
		dart_store__write(store, &key, sizeof(key), copy, value);
	}
}

static void check_answer(const struct dart_store *store, uint32_t key,
			 const struct dart_store_rule *rule, enum dart_store_outcome outcome,
			 uint32_t matches, uint32_t agreeing, char value)
{
	const size_t length = dart_store__geometry(store)->value_length;
	struct dart_store_answer answers[2];
	uint8_t expected[DART_STORE_VALUE_MAX];
	uint32_t i;

	memset(expected, value, length);
	dart_store__query(store, &key, sizeof(key), rule, &answers[0]);
	dart_store__query_batch(store, &key, sizeof(key), 1, rule, &answers[1]);
	for (i = 0; i < 2; i++) {
		assert_int_equal(answers[i].outcome, outcome);
		assert_int_equal(answers[i].matches, matches);
		assert_int_equal(answers[i].agreeing, agreeing);
		if (outcome == DART_STORE_FOUND)
			assert_memory_equal(answers[i].value, expected, length);
	}
}

static void test_policies(void **state)
{
	static const struct {
		const char *copies;
		const struct dart_store_rule *rule;
		enum dart_store_outcome outcome;
		uint32_t matches;
		uint32_t agreeing;
		char value;
	} cases[] = {
		{ "....", &plurality, DART_STORE_EMPTY, 0, 0, 0 },
		{ "....", &unique, DART_STORE_EMPTY, 0, 0, 0 },
		{ "....", &two_agree, DART_STORE_EMPTY, 0, 0, 0 },
		{ "..a.", &plurality, DART_STORE_FOUND, 1, 1, 'a' },
		{ "..a.", &unique, DART_STORE_FOUND, 1, 1, 'a' },
		{ "..a.", &two_agree, DART_STORE_EMPTY, 1, 0, 0 },
		{ "aaaa", &plurality, DART_STORE_FOUND, 4, 4, 'a' },
		{ "aaaa", &unique, DART_STORE_FOUND, 4, 4, 'a' },
		{ "aaaa", &two_agree, DART_STORE_FOUND, 4, 4, 'a' },
		{ "ab..", &plurality, DART_STORE_AMBIGUOUS, 2, 0, 0 },
		{ "ab..", &unique, DART_STORE_AMBIGUOUS, 2, 0, 0 },
		{ "ab..", &two_agree, DART_STORE_EMPTY, 2, 0, 0 },
		{ "abb.", &plurality, DART_STORE_FOUND, 3, 2, 'b' },
		{ "abb.", &unique, DART_STORE_AMBIGUOUS, 3, 0, 0 },
		{ "abb.", &two_agree, DART_STORE_FOUND, 3, 2, 'b' },
		{ "abba", &plurality, DART_STORE_AMBIGUOUS, 4, 0, 0 },
		{ "abba", &unique, DART_STORE_AMBIGUOUS, 4, 0, 0 },
		{ "abba", &two_agree, DART_STORE_AMBIGUOUS, 4, 0, 0 },
		{ "abcc", &plurality, DART_STORE_FOUND, 4, 2, 'c' },
		{ "abcd", &plurality, DART_STORE_AMBIGUOUS, 4, 0, 0 },
		{ "aaab", &plurality, DART_STORE_FOUND, 4, 3, 'a' },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture = fixture__new(1024, 20, 32, 4);
		uint32_t key = find_key(fixture.store, false);

		write_copies(fixture.store, key, cases[i].copies);
		check_answer(fixture.store, key, cases[i].rule, cases[i].outcome, cases[i].matches,
			     cases[i].agreeing, cases[i].value);
		fixture__free(&fixture);
	}
}

/* Five places, as "12.4."; "." is a place that is not known. */
static void fill_places(uint8_t value[20], const char *places)
{
	uint32_t place;

	for (place = 0; place < 5; place++)
		memset(value + 4 * place, places[place] == '.' ? 0 : places[place], 4);
}

/* A copy of " " is skipped. */
static void test_merge(void **state)
{
	static const struct dart_store_rule rule = { DART_STORE_MERGE, 0 };
	static const struct {
		const char *copies[3];
		enum dart_store_outcome outcome;
		uint32_t matches;
		const char *value;
	} cases[] = {
		{ { " ", " ", " " }, DART_STORE_EMPTY, 0, NULL },
		{ { "12345", " ", " " }, DART_STORE_FOUND, 1, "12345" },
		{ { " ", "1...5", " " }, DART_STORE_FOUND, 1, "1...5" },
		{ { "12345", "12345", "12345" }, DART_STORE_FOUND, 3, "12345" },
		{ { "12...", "...45", " " }, DART_STORE_FOUND, 2, "12.45" },
		{ { "12...", " ", "..345" }, DART_STORE_FOUND, 2, "12345" },
		{ { "12...", ".234.", "...45" }, DART_STORE_FOUND, 3, "12345" },
		{ { ".....", "..3..", " " }, DART_STORE_FOUND, 2, "..3.." },
		{ { "12...", "13...", " " }, DART_STORE_AMBIGUOUS, 2, NULL },
		{ { "12...", "..3..", "....9" }, DART_STORE_FOUND, 3, "123.9" },
		{ { "1....", "..3..", "2...." }, DART_STORE_AMBIGUOUS, 3, NULL },
		{ { "....1", "....2", "1...." }, DART_STORE_AMBIGUOUS, 3, NULL },
	};
	/* The last place has two bytes. */
	const uint32_t length = 18;
	struct dart_store_answer answer;
	uint8_t value[20];
	uint32_t key, copy;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture = fixture__new(1024, length, 32, 3);

		key = find_key(fixture.store, false);
		for (copy = 0; copy < 3; copy++) {
			if (*cases[i].copies[copy] == ' ')
				continue;
			fill_places(value, cases[i].copies[copy]);
			dart_store__write(fixture.store, &key, sizeof(key), copy, value);
		}
		dart_store__query(fixture.store, &key, sizeof(key), &rule, &answer);
		assert_int_equal(answer.outcome, cases[i].outcome);
		assert_int_equal(answer.matches, cases[i].matches);
		assert_int_equal(answer.agreeing, cases[i].value ? cases[i].matches : 0);
		if (cases[i].value) {
			fill_places(value, cases[i].value);
			assert_memory_equal(answer.value, value, length);
		}
		fixture__free(&fixture);
	}
}

static void test_repeated_slots(void **state)
{
	struct fixture fixture = fixture__new(64, 8, 32, 3);
	uint32_t key = find_key(fixture.store, true);

	/* Copies 0 and 1 share a slot. */
	write_copies(fixture.store, key, "aa.");
	check_answer(fixture.store, key, &plurality, DART_STORE_FOUND, 1, 1, 'a');
	check_answer(fixture.store, key, &two_agree, DART_STORE_EMPTY, 1, 0, 0);
	write_copies(fixture.store, key, "aab");
	check_answer(fixture.store, key, &plurality, DART_STORE_AMBIGUOUS, 2, 0, 0);
	write_copies(fixture.store, key, "aaa");
	check_answer(fixture.store, key, &two_agree, DART_STORE_FOUND, 2, 2, 'a');
	fixture__free(&fixture);

	/* All copies share one slot. */
	fixture = fixture__new(1, 8, 64, 8);
	write_copies(fixture.store, key, "abcdefgh");
	check_answer(fixture.store, key, &unique, DART_STORE_FOUND, 1, 1, 'h');
	fixture__free(&fixture);
}

static void test_widths(void **state)
{
	uint32_t bits, length, redundancy, key;

	for (bits = 8; bits <= 64; bits *= 2) {
		for (length = DART_STORE_VALUE_MIN; length <= DART_STORE_VALUE_MAX; length++) {
			struct fixture fixture;

			redundancy = length % DART_STORE_REDUNDANCY_MAX + 1;
			fixture = fixture__new(4096, length, bits, redundancy);
			key = find_key(fixture.store, false);
			check_answer(fixture.store, key, &plurality, DART_STORE_EMPTY, 0, 0, 0);
			write_copies(fixture.store, key, "a");
			check_answer(fixture.store, key, &plurality, DART_STORE_FOUND, 1, 1, 'a');
			fixture__free(&fixture);
		}
	}
}

static void test_whole_values(void **state)
{
	uint32_t length, byte;

	for (length = DART_STORE_VALUE_MIN; length <= DART_STORE_VALUE_MAX; length++) {
		struct fixture fixture = fixture__new(64, length, 32, 2);
		uint32_t key = find_key(fixture.store, false);
		uint8_t value[DART_STORE_VALUE_MAX] = { 0 };

		dart_store__write(fixture.store, &key, 4, 0, value);
		for (byte = 0; byte < length; byte++) {
			value[byte] = 1;
			dart_store__write(fixture.store, &key, 4, 1, value);
			value[byte] = 0;
			check_answer(fixture.store, key, &plurality, DART_STORE_AMBIGUOUS, 2, 0, 0);
		}
		dart_store__write(fixture.store, &key, 4, 1, value);
		check_answer(fixture.store, key, &plurality, DART_STORE_FOUND, 2, 2, 0);
		fixture__free(&fixture);
	}
}

static void test_format(void **state)
{
	struct fixture fixture = fixture__new(1, 4, 8, 1);
	uint32_t key = 0;

	while (dart_store__crc(DART_STORE_CHECKSUM_0, &key, 4) & 0xff)
		key++;
	write_copies(fixture.store, key, "v");
	assert_memory_equal(fixture.memory, "\1vvvv", 5);
	check_answer(fixture.store, key, &plurality, DART_STORE_FOUND, 1, 1, 'v');
	fixture__free(&fixture);

	fixture = fixture__new(1, 4, 64, 1);
	write_copies(fixture.store, 5, "v");
	key = htobe32(dart_store__crc(DART_STORE_CHECKSUM_0, &(uint32_t){ 5 }, 4));
	assert_memory_equal(fixture.memory, &key, 4);
	key = htobe32(dart_store__crc(DART_STORE_CHECKSUM_1, &(uint32_t){ 5 }, 4));
	assert_memory_equal(fixture.memory + 4, &key, 4);
	assert_memory_equal(fixture.memory + 8, "vvvv", 4);
	fixture__free(&fixture);
}

/* ---- full stores */

#define SLOTS	(1 << 16)
#define KEY	DART_FLOW_KEY_LENGTH

/* The keys of @count flows, one after the other; the caller frees them. */
static uint8_t *make_keys(enum dart_flows_kind kind, uint32_t count)
{
	const struct dart_flows_options options = {
		.kind = kind, .k = 48, .count = count, .seed = count,
	};
	uint8_t *keys = malloc(count * KEY);
	struct dart_flows *flows;
	struct dart_flow flow;
	uint32_t i;

	assert_non_null(keys);
	assert_int_equal(dart_flows__new(&options, &flows), 0);
	for (i = 0; i < count; i++) {
		dart_flows__get(flows, i, &flow);
		memcpy(keys + i * KEY, flow.key, KEY);
	}
	dart_flows__free(flows);
	return keys;
}

/* Reports each key with its number as value, oldest first. */
static void report(struct dart_store *store, const uint8_t *keys, uint32_t count)
{
	const uint32_t redundancy = dart_store__geometry(store)->redundancy;
	uint32_t i, copy;

	for (i = 0; i < count; i++)
		for (copy = 0; copy < redundancy; copy++)
			dart_store__write(store, keys + i * KEY, KEY, copy, &i);
}

static uint32_t count_found(const struct dart_store *store, const uint8_t *keys, uint32_t count,
			    struct dart_store_answer *answers)
{
	uint32_t found = 0, i;

	dart_store__query_batch(store, keys, KEY, count, &plurality, answers);
	for (i = 0; i < count; i++) {
		if (answers[i].outcome != DART_STORE_FOUND)
			continue;
		assert_memory_equal(answers[i].value, &i, sizeof(i));
		found++;
	}
	return found;
}

static void check_full_store(enum dart_flows_kind kind, double load, uint32_t redundancy)
{
	const double theory = dart_store_sizing__average(load, redundancy);
	const uint32_t count = load * SLOTS;
	struct fixture fixture = fixture__new(SLOTS, 4, 64, redundancy);
	struct dart_store_answer *answers = malloc(count * sizeof(*answers));
	uint8_t *keys = make_keys(kind, count);
	double estimate, success;

	assert_non_null(answers);
	report(fixture.store, keys, count);

	success = (double)count_found(fixture.store, keys, count, answers) / count;
	if (fabs(success / theory - 1) > 0.01)
		fail_msg("%s keys, load %g, %u copies: %.4f found, not %.4f",
			 kind == DART_FLOWS_FAT_TREE ? "fat-tree" : "random", load, redundancy,
			 success, theory);

	/* With more than 4 copies for each slot, too few are empty. */
	estimate = dart_store_sizing__estimate(dart_store__sample(fixture.store, 100000, 1), 100000,
					       redundancy);
	if (load * redundancy <= 4 && fabs(estimate / load - 1) > 0.05)
		fail_msg("load %g, %u copies: estimated %g", load, redundancy, estimate);
	free(answers);
	free(keys);
	fixture__free(&fixture);
}

static void test_theory(void **state)
{
	static const double loads[] = { 0.1, 0.5, 1, 2 };
	uint32_t redundancy, i;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		for (redundancy = 1; redundancy <= 8; redundancy *= 2) {
			check_full_store(DART_FLOWS_UNIFORM, loads[i], redundancy);
			check_full_store(DART_FLOWS_FAT_TREE, loads[i], redundancy);
		}
	}
}

static void test_batches(void **state)
{
	struct fixture fixture = fixture__new(512, 12, 8, 3);
	static const struct dart_store_rule *const rules[] = {
		&plurality, &unique, &two_agree,
	};
	static uint32_t keys[1000];
	static struct dart_store_answer answers[1000];
	struct dart_store_answer single;
	uint8_t value[12] = { 0 };
	uint32_t outcomes[3] = { 0 }, i, rule;

	for (i = 0; i < 1000; i++) {
		keys[i] = i;
		value[0] = i;
		dart_store__write(fixture.store, &i, 4, i % 3, value);
		dart_store__write(fixture.store, &i, 4, (i + 1) % 3, value);
	}
	for (rule = 0; rule < 3; rule++) {
		dart_store__query_batch(fixture.store, keys, 4, 1000, rules[rule], answers);
		for (i = 0; i < 1000; i++) {
			dart_store__query(fixture.store, &keys[i], 4, rules[rule], &single);
			assert_int_equal(single.outcome, answers[i].outcome);
			assert_int_equal(single.matches, answers[i].matches);
			assert_int_equal(single.agreeing, answers[i].agreeing);
			if (single.outcome == DART_STORE_FOUND)
				assert_memory_equal(single.value, answers[i].value, 12);
			outcomes[single.outcome]++;
		}
	}
	for (i = 0; i < 3; i++)
		assert_true(outcomes[i]);
	fixture__free(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("plurality, unique and consensus decide each pattern of copies as specified",
		     test_policies),
		TEST("merge finds the union of places that are known, unless two contradict each other",
		     test_merge),
		TEST("copies of a key that share a slot count as one", test_repeated_slots),
		TEST("a key is found with every checksum width, value length and redundancy",
		     test_widths),
		TEST("two values that differ in any one byte are ambiguous", test_whole_values),
		TEST("a slot holds its checksum in network byte order, never 0, then its value",
		     test_format),
		TEST("stores of every load and redundancy find as many keys as theory predicts",
		     test_theory),
		TEST("a batch of queries gives the same answers as single queries", test_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
