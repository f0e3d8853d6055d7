/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lookup table and a model of it: an array with the value of each key.  Keys and values are
 * numbers, which fill the bytes of the table's lengths.
 */
#ifndef TEA_MODEL_H
#define TEA_MODEL_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <libdart/tea/tea_lookup.h>
#include <libdart/tea/tea_table.h>

#include "selftests/unit/unit.h"

#define TEA_MODEL_KEYS	65536
#define TEA_MODEL_EPOCH	0x123456

struct tea_model {
	struct dart_tea_geometry geometry;
	struct dart_tea_table *table;
	uint8_t *memory;	/* which children share */
	size_t length;
	int32_t values[TEA_MODEL_KEYS];	/* -1: no entry */
	uint32_t entries;
	uint64_t full;
	uint64_t stashed;	/* insertions */
};

/* The first two bytes are the number, the others are made from it. */
static inline void tea_model__bytes(uint32_t number, uint8_t *bytes, size_t length)
{
	uint32_t mixed = number * 2654435761U;
	size_t i;

	for (i = 0; i < length; i++) {
		bytes[i] = i < 2 ? number >> (8 * i) : mixed >> 24;
		mixed = mixed * 1664525 + 1013904223;
	}
}

static inline void tea_model__open(struct tea_model *model,
				   const struct dart_tea_geometry *geometry)
{
	memset(model, 0, sizeof(*model));
	memset(model->values, -1, sizeof(model->values));
	model->geometry = *geometry;
	assert_true(geometry->key_length >= 2 && geometry->value_length >= 2);
	model->length = dart_tea_geometry__length(geometry);
	model->memory = mmap(NULL, model->length, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(model->memory != MAP_FAILED);
	assert_int_equal(dart_tea_table__new(geometry, TEA_MODEL_EPOCH,
					     model->memory, &model->table), 0);
}

static inline void tea_model__close(struct tea_model *model)
{
	dart_tea_table__free(model->table);
	munmap(model->memory, model->length);
}

static inline int tea_model__insert(struct tea_model *model, uint32_t number, uint16_t value)
{
	uint8_t key_bytes[DART_TEA_KEY_MAX], value_bytes[DART_TEA_VALUE_MAX];
	int ret;

	tea_model__bytes(number, key_bytes, model->geometry.key_length);
	tea_model__bytes(value, value_bytes, model->geometry.value_length);
	ret = dart_tea_table__insert(model->table, key_bytes, value_bytes);
	if (ret == -ENOSPC) {
		model->full++;
		return ret;
	}
	assert_true(ret >= 0);
	assert_int_equal(ret == DART_TEA_CHANGED, model->values[number] >= 0);
	model->entries += ret != DART_TEA_CHANGED;
	model->stashed += ret == DART_TEA_STASHED;
	model->values[number] = value;
	return ret;
}

static inline void tea_model__remove(struct tea_model *model, uint32_t number)
{
	uint8_t key_bytes[DART_TEA_KEY_MAX];

	tea_model__bytes(number, key_bytes, model->geometry.key_length);
	assert_int_equal(dart_tea_table__remove(model->table, key_bytes),
			 model->values[number] < 0 ? -ENOENT : 0);
	model->entries -= model->values[number] >= 0;
	model->values[number] = -1;
}

/* Looks a key up as the server, and as another process would. */
static inline void tea_model__look(const struct tea_model *model, uint32_t number)
{
	uint8_t key_bytes[DART_TEA_KEY_MAX], expected[DART_TEA_VALUE_MAX];
	uint8_t found[2][DART_TEA_VALUE_MAX];
	const int32_t value = model->values[number];
	int i, ret[2];

	tea_model__bytes(number, key_bytes, model->geometry.key_length);
	ret[0] = dart_tea_table__lookup(model->table, key_bytes, found[0]);
	ret[1] = dart_tea_lookup__memory(dart_tea_table__hash(model->table), TEA_MODEL_EPOCH,
					 model->memory, key_bytes, found[1]);
	for (i = 0; i < 2; i++) {
		assert_int_equal(ret[i], value < 0 ? -ENOENT : 0);
		if (value < 0)
			continue;
		tea_model__bytes(value, expected, model->geometry.value_length);
		assert_memory_equal(found[i], expected, model->geometry.value_length);
	}
}

/* Takes the table over, like a process after the end of another. */
static inline struct dart_tea_mended tea_model__resume(struct tea_model *model)
{
	struct dart_tea_mended mended;

	dart_tea_table__free(model->table);
	assert_int_equal(dart_tea_table__resume(&model->geometry,
						TEA_MODEL_EPOCH, model->memory,
						NULL, &model->table, &mended), 0);
	model->full = 0;
	return mended;
}

/* The walk finds each entry once; the table counts them. */
static inline void tea_model__check(const struct tea_model *model)
{
	uint8_t entry[DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX];
	const struct dart_tea_hash *hash = dart_tea_table__hash(model->table);
	struct dart_tea_statistics statistics;
	struct dart_tea_walk walk = { 0 };
	uint32_t entries = 0, stash = 0, number;
	bool stashed;

	for (number = 0; number < TEA_MODEL_KEYS; number++)
		if (model->values[number] >= 0)
			tea_model__look(model, number);
	while (dart_tea_lookup__next(hash, model->memory, &walk, entry, &stashed)) {
		number = entry[0] | entry[1] << 8;
		assert_true(model->values[number] >= 0);
		entries++;
		stash += stashed;
	}
	assert_int_equal(walk.torn, 0);
	assert_int_equal(entries, model->entries);
	dart_tea_table__statistics(model->table, &statistics);
	assert_int_equal(statistics.entries, model->entries);
	assert_int_equal(statistics.stashed, stash);
	assert_true(statistics.full == model->full);
	assert_int_equal(statistics.cells, model->geometry.cells << model->geometry.rows_log2);
}

#endif /* TEA_MODEL_H */
