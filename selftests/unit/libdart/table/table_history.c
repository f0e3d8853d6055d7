// SPDX-License-Identifier: GPL-2.0-only
/* A table that changes in place, as a controller sees it at any time. */
#include <errno.h>
#include <stdio.h>

#include <libdart/error.h>
#include <libdart/table/table_writer.h>

#include "model.h"

/* Random changes of a table, counted by kind. */
struct history {
	struct model *model;
	struct dart_table_writer *writer;
	unsigned int in_place;
	unsigned int relaid;
	unsigned int removed;
	unsigned int replaced;
	unsigned int rewritten;
};

static int history__rewrite(struct history *history)
{
	history->rewritten++;
	model__compact(history->model);
	return dart_table_writer__rewrite(history->writer, &history->model->table);
}

static int history__remove(struct history *history, uint32_t index)
{
	struct model *model = history->model;
	char name[DART_CONTROL_NAME_MAX];
	int length;

	strcpy(name, model->entries[index].name);
	model__remove(model, index);
	length = dart_table_writer__remove(history->writer, &model->table, name);
	if (length == -EAGAIN)
		return history__rewrite(history);
	history->removed++;
	assert_int_equal(dart_table_writer__remove(history->writer, &model->table, name), -ENOENT);
	return length;
}

static int history__append(struct history *history, int before)
{
	struct model *model = history->model;
	uint32_t entries = model->table.entry_count;
	uint32_t regions = model->table.memory_region_count;
	struct dart_table more;
	int length;

	do
		model__add(model);
	while (model->table.entry_count < ENTRIES_MAX && !model__below(model, 4));
	more = model__since(model, entries, regions);
	length = dart_table_writer__append(history->writer, &more);
	*(length == before ? &history->in_place : &history->relaid) += 1;
	return length;
}

/* Some entries go and others come in one generation. */
static int history__replace(struct history *history)
{
	enum { MOST = 5 };
	struct model *model = history->model;
	uint32_t count = 1 + model__below(model, MOST), i, entries, regions;
	char *names[MOST + 1] = {};
	struct dart_table more;
	int length;

	if (count > model->table.entry_count)
		count = model->table.entry_count;
	for (i = 0; i < count; i++) {
		uint32_t index = model__below(model, model->table.entry_count);

		names[i] = strdup(model->entries[index].name);
		assert_non_null(names[i]);
		model__remove(model, index);
	}
	entries = model->table.entry_count;
	regions = model->table.memory_region_count;
	model__add(model);
	more = model__since(model, entries, regions);
	/* A change that fails at its last step leaves the table as it was. */
	names[count] = (char *)"absent";
	length = dart_table_writer__change(history->writer, (const char *const *)names, count + 1,
					   &more);
	assert_true(length == -ENOENT || length == -EAGAIN);
	length = dart_table_writer__change(history->writer, (const char *const *)names, count,
					   &more);
	for (i = 0; i < count; i++)
		free(names[i]);
	if (length == -EAGAIN)
		return history__rewrite(history);
	history->replaced++;
	return length;
}

static void test_history(void **state)
{
	enum { CAPACITY = 1 << 18, ROUNDS = 3000 };
	struct model *model = malloc(sizeof(*model));
	uint8_t *memory = sample__memory(CAPACITY);
	struct history history = {
		.model = model,
		.writer = dart_table_writer__new(memory, CAPACITY),
	};
	unsigned int round;
	uint32_t entries;
	int length;

	assert_true(model && history.writer);
	model__init(model);
	length = history__append(&history, 0);

	for (round = 0; round < ROUNDS; round++) {
		sample__assert_decodes(memory, length, &model->table);
		entries = model->table.entry_count;
		model->table.generation++;
		model->table.clock_offset_ns -= round;
		/* The number of entries grows, then shrinks. */
		if (entries == ENTRIES_MAX ||
		    (entries && model__below(model, 100) < (round % 500 < 250 ? 40 : 70)))
			length = history__remove(&history, model__below(model, entries));
		else if (!model__below(model, 50))
			length = history__rewrite(&history);
		else if (!model__below(model, 8))
			length = history__replace(&history);
		else
			length = history__append(&history, length);
	}
	printf("# in place: %u appends, %u removals; %u appends with a new layout, %u rewrites\n",
	       history.in_place, history.removed, history.relaid, history.rewritten);
	assert_in_range(history.in_place, ROUNDS / 5, ROUNDS);
	assert_in_range(history.removed, ROUNDS / 4, ROUNDS);
	assert_in_range(history.replaced, ROUNDS / 100, ROUNDS);
	assert_in_range(history.relaid, 1, ROUNDS / 5);
	assert_in_range(history.rewritten, 1, ROUNDS / 5);
	dart_table_writer__free(history.writer);
	model__clear(model);
	free(memory);
	free(model);
}

/* Two states of memory, and the words in which they differ. */
struct states {
	uint64_t *before;
	uint64_t *after;
	uint64_t *mixed;
	size_t length;		/* bytes */
	uint32_t *changed;
	uint32_t changed_count;
};

static void states__expect_refused(const struct states *states)
{
	struct dart_table *table = NULL;
	struct dart_error error;

	assert_int_equal(dart_table__decode(states->mixed, states->length, &table, NULL, &error),
			 -EAGAIN);
}

/* A READ never tears 8 aligned bytes; it may tear more, in any way. */
static void states__mix(struct states *states, struct model *model)
{
	uint64_t *mixed = states->mixed;
	uint32_t i, k;

	/* New words: the first, the last, all but one. */
	for (i = 0; i < 3; i++) {
		for (k = 0; k < states->changed_count - (i < 2); k++) {
			uint32_t at = states->changed[i == 1 ? states->changed_count - 1 - k : k];

			if (!k || i == 2)
				memcpy(mixed, i == 2 ? states->after : states->before,
				       states->length);
			mixed[at] = i == 2 ? states->before[at] : states->after[at];
			states__expect_refused(states);
		}
	}
	for (i = 0; i < 2000; i++) {
		uint32_t likely = 1 + model__below(model, 15), taken = 0;

		memcpy(mixed, states->before, states->length);
		for (k = 0; k < states->changed_count; k++) {
			if (model__below(model, 16) >= likely)
				continue;
			mixed[states->changed[k]] = states->after[states->changed[k]];
			taken++;
		}
		if (taken && taken < states->changed_count)
			states__expect_refused(states);
	}
}

static void test_torn_reads(void **state)
{
	enum { CAPACITY = 1 << 16, STEPS = 24 };
	struct model *model = malloc(sizeof(*model));
	uint8_t *memory = sample__memory(CAPACITY);
	struct history history = {
		.model = model,
		.writer = dart_table_writer__new(memory, CAPACITY),
	};
	struct states states = {
		.before = malloc(CAPACITY),
		.after = malloc(CAPACITY),
		.mixed = malloc(CAPACITY),
		.changed = calloc(CAPACITY / 8, sizeof(*states.changed)),
	};
	unsigned int step, in_place = 0;
	int length;
	size_t i;

	assert_true(model && history.writer && states.before && states.after &&
		    states.mixed && states.changed);
	model__init(model);
	while (model->table.entry_count < 20)
		model__add(model);
	length = history__rewrite(&history);

	for (step = 0; step < STEPS; step++) {
		assert_true(length > 0);
		memcpy(states.before, memory, length);
		states.length = length;
		model->table.generation++;
		if (step % 2)
			length = history__remove(&history, step % 7);
		else
			length = history__append(&history, length);
		if ((size_t)length != states.length)
			continue;
		in_place++;
		memcpy(states.after, memory, length);
		states.changed_count = 0;
		for (i = 0; i < (size_t)length / 8; i++) {
			if (states.before[i] != states.after[i])
				states.changed[states.changed_count++] = i;
		}
		states__mix(&states, model);
	}
	printf("# %u changes in place, the last one of %u words\n", in_place, states.changed_count);
	assert_in_range(in_place, STEPS / 2, STEPS);
	dart_table_writer__free(history.writer);
	model__clear(model);
	free(states.before);
	free(states.after);
	free(states.mixed);
	free(states.changed);
	free(memory);
	free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("after each of 3000 random appends, removals, replacements and rewrites a table holds the model's entries",
		     test_history),
		TEST("a mixture of the words before and after a change in place is refused with EAGAIN",
		     test_torn_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
