// SPDX-License-Identifier: GPL-2.0-only
/* Lookup tables that are taken over: from a process that was killed, or with hostile bytes. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libdart/random.h>

#include "tea_model.h"

enum { ROUNDS = 100, KEYS = 300, HOSTILE_ROUNDS = 300 };

static const struct dart_tea_geometry geometry = {
	.rows_log2 = 5, .cells = 4, .key_length = 13, .value_length = 7,
	.packet_length = 64,
};

/* The same changes each time. */
static void change_next(struct tea_model *model, struct dart_random *random)
{
	const uint32_t key = dart_random__below(random, KEYS);
	const uint32_t value = dart_random__below(random, 1 << 16);

	if (dart_random__below(random, 3))
		tea_model__insert(model, key, value);
	else
		tea_model__remove(model, key);
}

/* Changes the table until the test kills it; counts completed changes. */
static void run_child(struct tea_model *model, uint64_t seed, atomic_ulong *completed)
{
	struct dart_random random = dart_random__of(seed);

	for (;;) {
		change_next(model, &random);
		atomic_fetch_add(completed, 1);
	}
}

static void kill_during_a_change(pid_t child, atomic_ulong *completed, struct dart_random *random)
{
	const uint64_t enough = 1 + dart_random__below(random, 3000);
	volatile uint64_t spin = dart_random__below(random, 5000);
	int status;

	while (atomic_load(completed) < enough)
		sched_yield();
	while (spin)
		spin--;
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

/* A model of the child's table before, to repeat its changes. */
static struct tea_model *repeat(const struct tea_model *before, const uint8_t *memory,
				uint64_t seed, uint64_t changes)
{
	struct dart_random random = dart_random__of(seed);
	struct tea_model *model = malloc(sizeof(*model));
	struct dart_tea_mended mended;

	assert_non_null(model);
	tea_model__open(model, &before->geometry);
	memcpy(model->memory, memory, model->length);
	mended = tea_model__resume(model);
	assert_int_equal(mended.rows + mended.torn + mended.repeated, 0);
	memcpy(model->values, before->values, sizeof(model->values));
	model->entries = before->entries;
	while (changes--)
		change_next(model, &random);
	return model;
}

/* The table equals one of the two models. */
static void adopt(struct tea_model *model, const struct tea_model *completed,
		  const struct tea_model *next)
{
	uint8_t key_bytes[DART_TEA_KEY_MAX], expected[DART_TEA_VALUE_MAX];
	uint8_t value[DART_TEA_VALUE_MAX];
	uint32_t key;

	model->entries = 0;
	for (key = 0; key < KEYS; key++) {
		const int32_t values[] = { completed->values[key], next->values[key] };
		bool is_there, is_one = false;
		uint32_t i;

		tea_model__bytes(key, key_bytes, geometry.key_length);
		is_there = !dart_tea_table__lookup(model->table, key_bytes, value);
		for (i = 0; i < 2; i++) {
			if (values[i] >= 0)
				tea_model__bytes(values[i], expected, geometry.value_length);
			if (is_there ? values[i] >= 0 &&
					       !memcmp(expected, value, geometry.value_length) :
				       values[i] < 0) {
				model->values[key] = values[i];
				is_one = true;
				break;
			}
		}
		if (!is_one)
			fail_msg("key %u %s", key, is_there ? "has another value" : "was lost");
		model->entries += is_there;
	}
}

static void test_killed(void **state)
{
	struct dart_random random = dart_random__of(time(NULL));
	atomic_ulong *completed = mmap(NULL, sizeof(*completed), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tea_model *model = malloc(sizeof(*model));
	struct tea_model *whole, *next;
	uint32_t round, mended = 0;
	uint8_t *memory;
	pid_t child;

	assert_true(completed != MAP_FAILED && model);
	print_message("# seed %llu\n", (unsigned long long)random.state);
	tea_model__open(model, &geometry);
	memory = malloc(model->length);
	assert_non_null(memory);
	for (round = 0; round < ROUNDS; round++) {
		const uint64_t seed = dart_random__next(&random);

		memcpy(memory, model->memory, model->length);
		atomic_store(completed, 0);
		child = fork();
		assert_true(child >= 0);
		if (!child)
			run_child(model, seed, completed);
		kill_during_a_change(child, completed, &random);
		whole = repeat(model, memory, seed, atomic_load(completed));
		next = repeat(model, memory, seed, atomic_load(completed) + 1);
		mended += tea_model__resume(model).rows > 0;
		adopt(model, whole, next);
		tea_model__check(model);
		tea_model__close(whole);
		tea_model__close(next);
		free(whole);
		free(next);
	}
	print_message("# %u of %u rounds ended within a change\n", mended, ROUNDS);
	free(memory);
	tea_model__close(model);
	free(model);
	munmap(completed, sizeof(*completed));
}

/* A walk finds each entry once, and the numbers fit; then the table is emptied. */
static void expect_consistent(struct tea_model *model, const struct dart_tea_mended *mended)
{
	uint8_t entry[DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX];
	const uint32_t key_length = model->geometry.key_length;
	uint8_t value[DART_TEA_VALUE_MAX];
	struct dart_tea_statistics statistics;
	struct dart_tea_mended again;
	struct dart_tea_walk walk = { 0 };
	uint64_t count = 0;
	bool stashed;

	again = tea_model__resume(model);
	assert_int_equal(again.rows + again.torn + again.repeated + again.misplaced, 0);
	assert_int_equal(again.entries, mended->entries);
	while (dart_tea_lookup__next(dart_tea_table__hash(model->table),
				     model->memory, &walk, entry, &stashed)) {
		count++;
		assert_int_equal(dart_tea_lookup__memory(dart_tea_table__hash(model->table),
							 TEA_MODEL_EPOCH, model->memory, entry,
							 value),
				 0);
		assert_memory_equal(value, entry + key_length, model->geometry.value_length);
		assert_int_equal(dart_tea_table__remove(model->table, entry), 0);
		assert_int_equal(dart_tea_table__lookup(model->table, entry, value), -ENOENT);
	}
	assert_int_equal(walk.torn, 0);
	assert_int_equal(count, mended->entries);
	dart_tea_table__statistics(model->table, &statistics);
	assert_int_equal(statistics.entries + statistics.stashed, 0);
}

static struct dart_tea_geometry any_geometry(struct dart_random *random)
{
	return (struct dart_tea_geometry){
		.rows_log2 = dart_random__below(random, 5),
		.cells = 1 + dart_random__below(random, 8),
		.key_length = 2 + dart_random__below(random, 8),
		.value_length = 2 + dart_random__below(random, 8),
		.packet_length = 64,
	};
}

/* Bytes without any meaning, and pieces of tables at places where they do not belong. */
static void test_hostile(void **state)
{
	struct dart_random random = dart_random__of(5);
	struct tea_model *model = malloc(sizeof(*model));
	struct dart_tea_mended mended;
	uint64_t kept = 0, dropped = 0;
	uint32_t round, i;

	assert_non_null(model);
	for (round = 0; round < HOSTILE_ROUNDS; round++) {
		const struct dart_tea_geometry any = any_geometry(&random);
		const size_t cell = dart_tea_geometry__cell_length(&any);

		tea_model__open(model, &any);
		for (i = 0; i < KEYS; i++)
			tea_model__insert(model, i, i);
		if (round % 3 == 0)
			for (i = 0; i < model->length; i++)
				model->memory[i] = dart_random__next(&random);
		/* Whole cells, and rows, are copied elsewhere. */
		for (i = 0; i < 20; i++) {
			const size_t length = dart_random__below(&random, 2) ?
				cell : dart_tea_geometry__stride(&any);
			const size_t room = (model->length - length) / 4;

			if (length > model->length)
				continue;
			memmove(model->memory + 4 * dart_random__below(&random, room + 1),
				model->memory + 4 * dart_random__below(&random, room + 1), length);
		}
		mended = tea_model__resume(model);
		kept += mended.entries;
		dropped += mended.torn + mended.misplaced + mended.repeated;
		expect_consistent(model, &mended);
		tea_model__close(model);
	}
	assert_true(kept && dropped);
	free(model);
}

/* One bit, anywhere: only an entry in the stash, which has no second copy, can be lost. */
static void test_flipped_bits(void **state)
{
	struct dart_random random = dart_random__of(6);
	struct tea_model *model = malloc(sizeof(*model));
	struct dart_tea_mended mended;
	uint8_t *memory;
	uint32_t round, i;

	assert_non_null(model);
	tea_model__open(model, &geometry);
	for (i = 0; i < KEYS; i++)
		tea_model__insert(model, i, i);
	memory = malloc(model->length);
	assert_non_null(memory);
	memcpy(memory, model->memory, model->length);
	for (round = 0; round < 3000; round++) {
		const uint64_t bit = dart_random__below(&random, 8 * model->length);

		memcpy(model->memory, memory, model->length);
		model->memory[bit / 8] ^= 1 << bit % 8;
		mended = tea_model__resume(model);
		if (bit / 8 >= dart_tea_geometry__stash(&geometry)) {
			assert_true(mended.entries + 1 >= model->entries);
			continue;
		}
		assert_int_equal(mended.entries, model->entries);
		for (i = 0; i < KEYS; i++)
			tea_model__look(model, i);
	}
	free(memory);
	tea_model__close(model);
	free(model);
}

/* ---- progress */

static void count_steps(void *context)
{
	++*(int *)context;
}

/* a call for each 2^12 rows, in several passes. */
static void test_progress(void **state)
{
	const struct dart_tea_geometry large = {
		.rows_log2 = 14, .cells = 1, .key_length = 2, .value_length = 2,
		.packet_length = 64,
	};
	int steps = 0;
	const struct dart_tea_progress progress = { count_steps, &steps };
	struct dart_tea_mended mended;
	struct tea_model model;
	void *view;

	tea_model__open(&model, &large);
	dart_tea_table__free(model.table);
	assert_int_equal(dart_tea_table__resume(&large, TEA_MODEL_EPOCH,
						model.memory, &progress,
						&model.table, &mended), 0);
	assert_in_range(steps, 12, 20);
	steps = 0;
	view = calloc(1, dart_tea_geometry__view_length(&large));
	assert_non_null(view);
	assert_int_equal(dart_tea_table__attach(model.table, view, &progress), 0);
	assert_int_equal(steps, 4);
	tea_model__close(&model);
	free(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("after a process was killed at any instant, 100 times, each completed change is there",
		     test_killed),
		TEST("hostile bytes are taken over as a table that is consistent", test_hostile),
		TEST("who takes a table of 2^14 rows over, or copies it, is told of the progress",
		     test_progress),
		TEST("a bit that is flipped in a row loses no entry", test_flipped_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
