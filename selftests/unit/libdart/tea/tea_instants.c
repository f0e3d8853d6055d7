// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lookup table at each instant of a change: after each of the stores, between which its
 * server may be killed, and the memory be read.  For that, the parts of the table that store
 * are compiled here once more, with a store that is recorded.
 */
#include <stdint.h>

static void store(uint32_t *at, uint32_t word);
#define __atomic_store_n(at, word, order) store(at, word)

#include <libdart/tea/tea_rows.c>
#include <libdart/tea/tea_table.c>
#include <libdart/tea/tea_table_moves.c>
#include <libdart/tea/tea_table_resume.c>
#include <libdart/tea/tea_table_stash.c>

#include <libdart/random.h>

#include "tea_model.h"

enum {
	KEYS = 40,
	STATES_MAX = 8192,	/* of a change */
	CHANGES = 60,
	COPIES = 3000,		/* of a row, torn, for each change */
};

/* All states of the memory during a change. */
struct history {
	uint8_t *states;
	size_t length;
	uint32_t count;
};

struct wish {
	uint32_t key;
	int32_t value;		/* -1: remove */
};

/* The states being recorded; NULL: none. */
static struct {
	struct history *history;
	const uint8_t *memory;
} recorder;

static void record(void)
{
	struct history *history = recorder.history;

	assert_true(history->count < STATES_MAX);
	memcpy(history->states + history->count++ * history->length,
	       recorder.memory, history->length);
}

static void store(uint32_t *at, uint32_t word)
{
	*at = word;
	if (recorder.history)
		record();
}

/* Makes a change and records all states, beginning with the state before it. */
static void history__record(struct history *history, struct tea_model *model,
			    const struct wish *wish)
{
	history->count = 0;
	recorder.history = history;
	recorder.memory = model->memory;
	record();
	if (wish->value < 0)
		tea_model__remove(model, wish->key);
	else
		tea_model__insert(model, wish->key, wish->value);
	recorder.history = NULL;
}

/* The value of a key must be @before or @after; -1: no entry. */
static void expect_one(const struct tea_model *before, const struct tea_model *after, uint32_t key,
		       const uint8_t *value)
{
	uint8_t expected[DART_TEA_VALUE_MAX];
	const int32_t values[] = { before->values[key], after->values[key] };
	bool is_one = false;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		if (values[i] < 0 || !value) {
			is_one |= values[i] < 0 && !value;
			continue;
		}
		tea_model__bytes(values[i], expected, before->geometry.value_length);
		is_one |= !memcmp(expected, value, before->geometry.value_length);
	}
	if (!is_one)
		fail_msg("key %u has %s value", key, value ? "another" : "no");
}

/* Takes the table over in each state: it is complete and consistent. */
static void expect_resumed(const struct history *history, const struct tea_model *before,
			   const struct tea_model *after, uint64_t *mended_rows)
{
	uint8_t key_bytes[DART_TEA_KEY_MAX], value[DART_TEA_VALUE_MAX];
	struct dart_tea_statistics statistics;
	struct dart_tea_mended mended, again;
	struct dart_tea_table *table;
	uint32_t i, key, found;
	uint64_t *memory;

	memory = malloc(history->length);
	assert_non_null(memory);
	for (i = 0; i < history->count; i++) {
		memcpy(memory, history->states + i * history->length, history->length);
		assert_int_equal(dart_tea_table__resume(&before->geometry, TEA_MODEL_EPOCH, memory,
							NULL, &table, &mended),
				 0);
		for (key = 0, found = 0; key < KEYS; key++) {
			const bool is_there =
				(tea_model__bytes(key, key_bytes, before->geometry.key_length),
				 !dart_tea_table__lookup(table, key_bytes, value));

			expect_one(before, after, key, is_there ? value : NULL);
			found += is_there;
		}
		dart_tea_table__statistics(table, &statistics);
		assert_int_equal(statistics.entries, found);
		assert_int_equal(mended.entries, found);
		*mended_rows += mended.rows;
		dart_tea_table__free(table);

		/* Nothing is left to mend. */
		assert_int_equal(dart_tea_table__resume(&before->geometry,
							TEA_MODEL_EPOCH, memory,
							NULL, &table, &again), 0);
		assert_int_equal(again.entries, found);
		assert_int_equal(again.rows + again.torn + again.repeated + again.misplaced, 0);
		dart_tea_table__free(table);
	}
	free(memory);
}

/*
 * Copies rows in two parts, from one end or the other, between which the change goes on: a
 * lookup misses no key, and finds no value other than those before and after.
 */
static void expect_read(const struct history *history, const struct tea_model *before,
			const struct tea_model *after, struct dart_random *random,
			uint32_t *changing)
{
	const struct dart_tea_hash *hash = dart_tea_table__hash(before->table);
	const size_t length = dart_tea_geometry__row_length(&before->geometry);
	const size_t stride = dart_tea_geometry__stride(&before->geometry);
	uint8_t row[4096], key_bytes[DART_TEA_KEY_MAX], value[DART_TEA_VALUE_MAX];
	struct dart_tea_place place;
	uint32_t i;

	for (i = 0; i < COPIES; i++) {
		const uint32_t key = dart_random__below(random, KEYS);
		const bool is_descending = dart_random__below(random, 2);
		const size_t first = 4 * dart_random__below(random, length / 4 + 1);
		const uint8_t *states[2] = { history->states, history->states };
		uint32_t early = dart_random__below(random, history->count);
		uint32_t late = early + dart_random__below(random, history->count - early);

		tea_model__bytes(key, key_bytes, before->geometry.key_length);
		dart_tea_hash__place(hash, key_bytes, &place);
		states[is_descending] += early * history->length + place.home * stride;
		states[!is_descending] += late * history->length + place.home * stride;
		memcpy(row, states[0], first);
		memcpy(row + first, states[1] + first, length - first);
		switch (dart_tea_lookup__row(hash, TEA_MODEL_EPOCH, row, key_bytes, value)) {
		case DART_TEA_FOUND:
			expect_one(before, after, key, value);
			break;
		case DART_TEA_ABSENT:
			expect_one(before, after, key, NULL);
			break;
		case DART_TEA_CHANGING:
			*changing += 1;
			break;
		case DART_TEA_IN_STASH:
			break;
		}
	}
}

/*
 * A reader copies the row, then the stash, then the sequence again, while the change goes
 * on between.
 */
static void expect_stash_read(const struct history *history, const struct tea_model *before,
			      const struct tea_model *after, struct dart_random *random)
{
	const struct dart_tea_hash *hash = dart_tea_table__hash(before->table);
	const size_t stride = dart_tea_geometry__stride(&before->geometry);
	const size_t cell = dart_tea_geometry__cell_length(&before->geometry);
	uint8_t key_bytes[DART_TEA_KEY_MAX], value[DART_TEA_VALUE_MAX];
	uint32_t i, step[3], last;

	for (i = 0; i < COPIES; i++) {
		const uint32_t key = dart_random__below(random, KEYS);
		const uint8_t *states[3];
		struct dart_tea_place place;
		uint8_t window[8 * 132];
		size_t first;

		for (last = 0; last < 3; last++) {
			step[last] = last ? step[last - 1] : 0;
			step[last] += dart_random__below(random, history->count - step[last]);
			states[last] = history->states + step[last] * history->length;
		}
		tea_model__bytes(key, key_bytes, before->geometry.key_length);
		dart_tea_hash__place(hash, key_bytes, &place);
		if (dart_tea_lookup__row(hash, TEA_MODEL_EPOCH, states[0] + place.home * stride,
					 key_bytes, value) != DART_TEA_IN_STASH)
			continue;
		first = 4 * dart_random__below(random, 2 * cell + 1);
		memcpy(window, states[0] +
			       dart_tea_geometry__stash(&before->geometry) +
			       place.stash * cell, first);
		memcpy(window + first, states[1] +
			       dart_tea_geometry__stash(&before->geometry) +
			       place.stash * cell + first, 8 * cell - first);
		if (dart_tea_lookup__stash(hash, window, 8, key_bytes, value) ==
		    DART_TEA_FOUND)
			expect_one(before, after, key, value);
		else if (!memcmp(states[0] + place.home * stride,
				 states[2] + place.home * stride, 4))
			expect_one(before, after, key, NULL);
	}
}

/* Changes of all kinds: most go to rows that are full. */
static void for_geometry(const struct dart_tea_geometry *geometry, uint64_t seed)
{
	struct dart_random random = dart_random__of(seed);
	struct tea_model *before = calloc(1, sizeof(*before));
	struct tea_model *after = calloc(1, sizeof(*after));
	struct history history = { 0 };
	uint32_t i, changing = 0;
	uint64_t mended = 0;

	assert_true(before && after);
	tea_model__open(after, geometry);
	history.length = after->length;
	history.states = malloc(STATES_MAX * history.length);
	assert_non_null(history.states);
	for (i = 0; i < KEYS; i++)
		tea_model__insert(after, dart_random__below(&random, KEYS), i);
	for (i = 0; i < CHANGES; i++) {
		const struct wish wish = {
			dart_random__below(&random, KEYS),
			(int32_t)dart_random__below(&random, 400) - 100,
		};

		*before = *after;
		history__record(&history, after, &wish);
		expect_resumed(&history, before, after, &mended);
		expect_read(&history, before, after, &random, &changing);
		expect_stash_read(&history, before, after, &random);
	}
	assert_true(mended && changing);
	tea_model__check(after);
	free(history.states);
	tea_model__close(after);
	free(before);
	free(after);
}

static void for_seed(uint32_t rows_log2, uint32_t cells, uint32_t key_length,
		     uint32_t value_length, uint64_t seed)
{
	const struct dart_tea_geometry geometry = {
		.rows_log2 = rows_log2, .cells = cells,
		.key_length = key_length, .value_length = value_length,
		.packet_length = 64,
	};

	for_geometry(&geometry, seed);
}

static void test_rows(void **state)
{
	for_seed(3, 2, 13, 7, 1);
}

static void test_moves(void **state)
{
	for_seed(4, 1, 5, 6, 2);
	for_seed(1, 4, 9, 3, 3);
}

static void test_stash(void **state)
{
	for_seed(0, 2, 4, 4, 4);
	for_seed(2, 1, 2, 20, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a table is taken over and read at each instant of changes in rows",
		     test_rows),
		TEST("the same where most insertions move entries", test_moves),
		TEST("the same where most entries are in the stash, which is full", test_stash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
