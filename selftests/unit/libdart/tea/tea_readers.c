// SPDX-License-Identifier: GPL-2.0-only
/* Lookups by other processes while a table changes. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libdart/random.h>

#include "tea_model.h"

enum {
	CONSTANT = 60,		/* keys with a permanent entry, some of them in the stash */
	KEYS = 160,		/* the others come and go */
	READERS = 2,
	LOOKUPS = 5000,	/* of each */
};

struct shared {
	atomic_uint readers;	/* readers that still run */
	atomic_ulong changes;
};

/* The value of a key is one that the table gave to it: all bytes belong together. */
static bool is_value(const struct dart_tea_geometry *geometry, const uint8_t *value)
{
	uint8_t expected[DART_TEA_VALUE_MAX];

	tea_model__bytes(value[0] | value[1] << 8, expected, geometry->value_length);
	return !memcmp(expected, value, geometry->value_length);
}

/* Copies a row in two parts, between which the table is changed. */
static bool look_at_two_parts(const struct tea_model *model, const struct shared *shared,
			      const uint8_t *key, struct dart_random *random)
{
	const struct dart_tea_hash *hash = dart_tea_table__hash(model->table);
	const size_t length = dart_tea_geometry__row_length(&model->geometry);
	const size_t first = 4 * dart_random__below(random, length / 4);
	const uint64_t changes = atomic_load(&shared->changes);
	uint8_t row[4096], value[DART_TEA_VALUE_MAX];
	struct dart_tea_place place;
	const uint8_t *from;

	dart_tea_hash__place(hash, key, &place);
	from = model->memory + place.home * dart_tea_geometry__stride(&model->geometry);
	memcpy(row, from, first);
	while (dart_random__below(random, 8) && atomic_load(&shared->changes) == changes)
		sched_yield();
	memcpy(row + first, from + first, length - first);
	switch (dart_tea_lookup__row(hash, TEA_MODEL_EPOCH, row, key, value)) {
	case DART_TEA_FOUND:
		return is_value(&model->geometry, value);
	case DART_TEA_ABSENT:
		return false;
	default:
		return true;
	}
}

/* Returns why a lookup was wrong, or NULL. */
static const char *look(const struct tea_model *model, const struct shared *shared,
			struct dart_random *random)
{
	const uint32_t key = dart_random__below(random, KEYS);
	uint8_t bytes[DART_TEA_KEY_MAX], value[DART_TEA_VALUE_MAX];
	int ret;

	tea_model__bytes(key, bytes, model->geometry.key_length);
	if (key < CONSTANT && !look_at_two_parts(model, shared, bytes, random))
		return "a row in two parts was wrong";
	ret = dart_tea_lookup__memory(dart_tea_table__hash(model->table),
				      TEA_MODEL_EPOCH, model->memory, bytes, value);
	if (!ret && !is_value(&model->geometry, value))
		return "a value was torn";
	if (ret && (ret != -ENOENT || key < CONSTANT))
		return "an entry was not found";
	return NULL;
}

static void run_reader(const struct tea_model *model, struct shared *shared, uint64_t seed)
{
	struct dart_random random = dart_random__of(seed);
	const char *wrong = NULL;
	uint32_t i;

	for (i = 0; i < LOOKUPS && !wrong; i++)
		wrong = look(model, shared, &random);
	if (wrong)
		dprintf(STDERR_FILENO, "# lookup %u: %s\n", i, wrong);
	atomic_fetch_sub(&shared->readers, 1);
	_exit(wrong ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void change(struct tea_model *model, struct dart_random *random)
{
	const uint32_t key = dart_random__below(random, KEYS);

	if (key < CONSTANT || dart_random__below(random, 2))
		tea_model__insert(model, key, dart_random__below(random, 1 << 16));
	else
		tea_model__remove(model, key);
}

static void run(const struct dart_tea_geometry *geometry)
{
	struct dart_random random = dart_random__of(7);
	struct tea_model *model = malloc(sizeof(*model));
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct dart_tea_statistics statistics;
	pid_t readers[READERS];
	uint32_t i;
	int status;

	assert_true(model && shared != MAP_FAILED);
	tea_model__open(model, geometry);
	for (i = 0; i < CONSTANT; i++)
		assert_true(tea_model__insert(model, i, i) >= 0);
	atomic_store(&shared->readers, READERS);
	for (i = 0; i < READERS; i++) {
		readers[i] = fork();
		assert_true(readers[i] >= 0);
		if (!readers[i])
			run_reader(model, shared, i);
	}
	while (atomic_load(&shared->readers)) {
		change(model, &random);
		atomic_fetch_add(&shared->changes, 1);
	}
	for (i = 0; i < READERS; i++) {
		assert_int_equal(waitpid(readers[i], &status, 0), readers[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	dart_tea_table__statistics(model->table, &statistics);
	print_message("# %lu changes, %llu moves, %llu of %llu entries in the stash\n",
		      atomic_load(&shared->changes), (unsigned long long)statistics.moves,
		      (unsigned long long)statistics.stashed,
		      (unsigned long long)statistics.entries);
	assert_true(statistics.stashed);
	tea_model__check(model);
	tea_model__close(model);
	munmap(shared, sizeof(*shared));
	free(model);
}

static void test_changes(void **state)
{
	static const struct dart_tea_geometry geometries[] = {
		{ .rows_log2 = 6, .cells = 1, .key_length = 13,
		  .value_length = 7, .packet_length = 64 },
		{ .rows_log2 = 4, .cells = 6, .key_length = 30,
		  .value_length = 64, .packet_length = 64 },
	};
	size_t i;

	for (i = 0; i < sizeof(geometries) / sizeof(geometries[0]); i++)
		run(&geometries[i]);
}

/* A server that ended during a change leaves an odd row; lookups stop retrying it. */
static void test_abandoned(void **state)
{
	const struct dart_tea_geometry geometry = {
		.cells = 2, .key_length = 4, .value_length = 4,
		.packet_length = 64,
	};
	uint8_t key_bytes[4], value[4];
	struct dart_tea_walk walk = { 0 };
	uint8_t entry[8];
	struct tea_model *model = malloc(sizeof(*model));
	bool stashed;

	assert_non_null(model);
	tea_model__open(model, &geometry);
	tea_model__insert(model, 1, 1);
	model->memory[3] ^= 1;
	tea_model__bytes(1, key_bytes, 4);
	assert_int_equal(dart_tea_lookup__memory(dart_tea_table__hash(model->table),
						 TEA_MODEL_EPOCH, model->memory,
						 key_bytes, value), 0);
	tea_model__bytes(2, key_bytes, 4);
	assert_int_equal(dart_tea_lookup__memory(dart_tea_table__hash(model->table),
						 TEA_MODEL_EPOCH, model->memory,
						 key_bytes, value), -EAGAIN);
	assert_int_equal(dart_tea_lookup__next(dart_tea_table__hash(model->table),
					       model->memory, &walk, entry,
					       &stashed), 1);
	assert_int_equal(dart_tea_lookup__next(dart_tea_table__hash(model->table),
					       model->memory, &walk, entry,
					       &stashed), 0);
	assert_int_equal(walk.torn, 1);
	model->memory[3] ^= 1;

	/* Nor do they retry a row of another table without end. */
	assert_int_equal(dart_tea_lookup__memory(dart_tea_table__hash(model->table),
						 TEA_MODEL_EPOCH + 1,
						 model->memory, key_bytes, value),
			 -EAGAIN);
	tea_model__close(model);
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("what others find during changes is the old value or the new one, and never missing",
		     test_changes),
		TEST("a row that stays as if it were changing, or is of another epoch, ends a lookup",
		     test_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
