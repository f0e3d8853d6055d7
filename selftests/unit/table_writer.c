// SPDX-License-Identifier: GPL-2.0-only
/* Tables that grow in place: what a controller sees of them, and when. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "dart/table_builder.h"
#include "dart/table_writer.h"

#include "sample.h"

/* A table that is made at random, entry by entry. */
#define ENTRIES_MAX 64
#define COPIES_MAX 5
#define MEMORY_REGIONS_MAX 2048

struct model {
	uint64_t random;
	struct dart_table table;
	struct dart_memory_region memory_regions[MEMORY_REGIONS_MAX];
	struct dart_entry entries[ENTRIES_MAX];
	unsigned int made;
};

static uint32_t model__below(struct model *model, uint32_t limit)
{
	model->random = model->random * 6364136223846793005 +
			1442695040888963407;
	return (model->random >> 33) % limit;
}

static void model__init(struct model *model)
{
	*model = (struct model) {
		.random = 20261121,
		.table = {
			.generation = 1,
			.instance = 0x0123456789abcdef,
			.exposure = DART_CONTROL_EXPOSURE_EXACT,
			.cpus = 4,
			.page_size = 4096,
			.lease_ms = 2000,
		},
	};
	model->table.memory_regions = model->memory_regions;
	model->table.entries = model->entries;
}

/* One of 40: names, lengths and units differ, or just one of them. */
static struct dart_schema *model__schema(struct model *model)
{
	uint32_t kind = model__below(model, 40), i;
	struct dart_schema *schema;
	char name[16];

	schema = dart_schema__new(kind % 2 ? "odd" : "even", 32);
	assert_non_null(schema);
	for (i = 0; i <= kind / 10; i++) {
		snprintf(name, sizeof(name), "field_%u", i);
		sample__add(schema, name, kind % 5 ? "bytes" : "", 8 * i, 8, 1,
			    DART_CONTROL_FIELD_COUNTER, kind % 3 == 0);
	}
	return schema;
}

/* Each copy has a memory region of its own, or all are in one. */
static void model__add(struct model *model)
{
	uint32_t first = model->table.memory_region_count, i;
	uint32_t copies = 1 + model__below(model, COPIES_MAX);
	uint32_t groups = model__below(model, 2) ? copies : 1;
	bool is_shared = first && model__below(model, 2);
	struct dart_range *ranges = calloc(groups, sizeof(*ranges));
	char *name;

	assert_non_null(ranges);
	assert_true(asprintf(&name, "%u-%0*u", model->made++,
			     1 + model__below(model, 240), 7) > 0);
	model->entries[model->table.entry_count++] = (struct dart_entry) {
		.name = name,
		.schema = model__schema(model),
		.kind = DART_CONTROL_ENTRY_MAP,
		.lifetime = DART_CONTROL_LIFETIME_SERVERLESS,
		.copies_are = DART_CONTROL_COPIES_ROW,
		.copies = copies,
		.ranges = ranges,
		.range_count = groups,
	};
	for (i = 0; i < groups; i++) {
		ranges[i] = (struct dart_range) {
			.address = 0x10000 + i * 32,
			.stride = 32,
			.memory_region = is_shared ? 0 : first + i,
			.first_copy = i,
			.copies = groups == 1 ? copies : 1,
			.length = 32,
		};
		if (is_shared)
			continue;
		assert_in_range(first + i, 0, MEMORY_REGIONS_MAX - 1);
		model->memory_regions[first + i] = (struct dart_memory_region) {
			.address = 0x10000,
			.length = 0x1000,
			.rkey = model->made * 16 + i,
		};
		model->table.memory_region_count++;
	}
}

/* Its memory regions stay. */
static void model__remove(struct model *model, uint32_t index)
{
	struct dart_entry *entry = &model->entries[index];

	free((char *)entry->name);
	free(entry->ranges);
	dart_schema__free((struct dart_schema *)entry->schema);
	memmove(entry, entry + 1,
		(--model->table.entry_count - index) * sizeof(*entry));
}

/* Takes out the memory regions, but for the first, that nobody refers to. */
static void model__compact(struct model *model)
{
	const struct dart_memory_region *before;
	uint32_t count = 1, i, k;
	struct dart_range *range;

	before = memcpy(malloc(sizeof(model->memory_regions)),
			model->memory_regions, sizeof(model->memory_regions));
	for (i = 0; i < model->table.entry_count; i++) {
		for (k = 0; k < model->entries[i].range_count; k++) {
			range = &model->entries[i].ranges[k];
			if (!range->memory_region)
				continue;
			model->memory_regions[count] =
				before[range->memory_region];
			range->memory_region = count++;
		}
	}
	model->table.memory_region_count = count;
	free((void *)before);
}

static void model__clear(struct model *model)
{
	while (model->table.entry_count)
		model__remove(model, model->table.entry_count - 1);
}

/* What has come behind the first @entries and @memory_regions. */
static struct dart_table model__since(const struct model *model,
				      uint32_t entries, uint32_t memory_regions)
{
	struct dart_table more = model->table;

	more.entries += entries;
	more.entry_count -= entries;
	more.memory_regions += memory_regions;
	more.memory_region_count -= memory_regions;
	return more;
}

static uint8_t *new_memory(size_t capacity)
{
	uint8_t *memory = malloc(capacity);

	assert_non_null(memory);
	memset(memory, 0xa5, capacity);
	return memory;
}

static void expect_table(const void *memory, int length,
			 const struct dart_table *expected)
{
	const struct dart_control_header *header = memory;
	struct dart_table *decoded;
	char why[DART_WHY_MAX];

	assert_true(length > 0);
	assert_int_equal(header->table_length, length);
	if (dart_table__decode(memory, length, &decoded, NULL, why))
		fail_msg("%s", why);
	sample__assert_same(expected, decoded);
	dart_table__free(decoded);
}

/* What happens to a table at random, and how often. */
struct history {
	struct model *model;
	struct dart_table_writer *writer;
	unsigned int in_place;
	unsigned int anew;
	unsigned int removed;
	unsigned int rewritten;
};

static int history__rewrite(struct history *history)
{
	history->rewritten++;
	model__compact(history->model);
	return dart_table_writer__rewrite(history->writer,
					  &history->model->table);
}

static int history__remove(struct history *history, uint32_t index)
{
	struct model *model = history->model;
	char name[DART_CONTROL_NAME_MAX];
	int length;

	strcpy(name, model->entries[index].name);
	model__remove(model, index);
	length = dart_table_writer__remove(history->writer, &model->table,
					   name);
	if (length == -EAGAIN)
		return history__rewrite(history);
	history->removed++;
	assert_int_equal(dart_table_writer__remove(history->writer,
						   &model->table, name),
			 -ENOENT);
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
	while (model->table.entry_count < ENTRIES_MAX &&
	       !model__below(model, 4));
	more = model__since(model, entries, regions);
	length = dart_table_writer__append(history->writer, &more);
	*(length == before ? &history->in_place : &history->anew) += 1;
	return length;
}

static void what_is_added_and_taken_out_is_what_is_there(void **state)
{
	enum { CAPACITY = 1 << 18, ROUNDS = 3000 };
	struct model *model = malloc(sizeof(*model));
	uint8_t *memory = new_memory(CAPACITY);
	struct history history = {
		.model = model,
		.writer = dart_table_writer__new(memory, CAPACITY),
	};
	unsigned int round;
	uint32_t entries;
	int length;

	(void)state;
	assert_true(model && history.writer);
	model__init(model);
	length = history__append(&history, 0);

	for (round = 0; round < ROUNDS; round++) {
		expect_table(memory, length, &model->table);
		entries = model->table.entry_count;
		model->table.generation++;
		model->table.clock_offset_ns -= round;
		/* There are ever more, then ever less. */
		if (entries == ENTRIES_MAX ||
		    (entries && model__below(model, 100) <
				(round % 500 < 250 ? 40 : 70)))
			length = history__remove(&history,
						 model__below(model, entries));
		else if (!model__below(model, 50))
			length = history__rewrite(&history);
		else
			length = history__append(&history, length);
	}
	printf("# in place: %u appends, %u removals; %u laid out anew, %u rewritten\n",
	       history.in_place, history.removed, history.anew,
	       history.rewritten);
	assert_in_range(history.in_place, ROUNDS / 4, ROUNDS);
	assert_in_range(history.removed, ROUNDS / 4, ROUNDS);
	assert_in_range(history.anew, 1, ROUNDS / 5);
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
	char why[DART_WHY_MAX];

	assert_int_equal(dart_table__decode(states->mixed, states->length,
					    &table, NULL, why), -EAGAIN);
}

/* A READ of 8 aligned bytes is never torn; of more it may be, in any way. */
static void states__mix(struct states *states, struct model *model)
{
	uint64_t *mixed = states->mixed;
	uint32_t i, k;

	/* From the first word on, from the last, and all but one. */
	for (i = 0; i < 3; i++) {
		for (k = 0; k < states->changed_count - (i < 2); k++) {
			uint32_t at = states->changed[i == 1 ?
				states->changed_count - 1 - k : k];

			if (!k || i == 2)
				memcpy(mixed, i == 2 ? states->after :
				       states->before, states->length);
			mixed[at] = i == 2 ? states->before[at] :
					     states->after[at];
			states__expect_refused(states);
		}
	}
	for (i = 0; i < 2000; i++) {
		uint32_t likely = 1 + model__below(model, 15), taken = 0;

		memcpy(mixed, states->before, states->length);
		for (k = 0; k < states->changed_count; k++) {
			if (model__below(model, 16) >= likely)
				continue;
			mixed[states->changed[k]] =
				states->after[states->changed[k]];
			taken++;
		}
		if (taken && taken < states->changed_count)
			states__expect_refused(states);
	}
}

static void a_change_is_seen_whole_or_not_at_all(void **state)
{
	enum { CAPACITY = 1 << 16, STEPS = 24 };
	struct model *model = malloc(sizeof(*model));
	uint8_t *memory = new_memory(CAPACITY);
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

	(void)state;
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
	printf("# %u changes in place, of %u words the last\n", in_place,
	       states.changed_count);
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

/* The table that a test appends to, and an entry that it does not have. */
struct appended {
	struct sample sample;
	uint8_t memory[8192] __attribute__((aligned(8)));
	struct dart_table_writer *writer;
	struct dart_table more;
	struct dart_range range;
	struct dart_entry entry;
	int length;
};

static struct appended *appended__new(size_t capacity)
{
	struct appended *appended = calloc(1, sizeof(*appended));

	assert_non_null(appended);
	sample__init(&appended->sample);
	appended->writer = dart_table_writer__new(appended->memory, capacity);
	assert_non_null(appended->writer);
	appended->length = dart_table_writer__rewrite(appended->writer,
						      &appended->sample.table);
	assert_true(appended->length > 0);

	appended->range = appended->sample.ranges[5];
	appended->entry = appended->sample.entries[SAMPLE_ROWS];
	appended->entry.name = "more";
	appended->entry.ranges = &appended->range;
	appended->more = appended->sample.table;
	appended->more.generation++;
	appended->more.memory_region_count = 0;
	appended->more.entries = &appended->entry;
	appended->more.entry_count = 1;
	return appended;
}

static void appended__free(struct appended *appended)
{
	dart_table_writer__free(appended->writer);
	sample__release(&appended->sample);
	free(appended);
}

static void expect_refused(struct appended *appended, int err)
{
	uint8_t before[sizeof(appended->memory)];

	memcpy(before, appended->memory, sizeof(before));
	assert_int_equal(dart_table_writer__append(appended->writer,
						   &appended->more), err);
	assert_memory_equal(appended->memory, before, sizeof(before));
	assert_int_equal(dart_table_writer__rewrite(appended->writer,
						    &appended->more), err);
	assert_memory_equal(appended->memory, before, sizeof(before));
}

/* And has no effect on what is appended then. */
static void what_would_be_refused_is_not_written(void **state)
{
	const size_t capacity = sizeof(((struct appended *)NULL)->memory);
	struct appended *appended = appended__new(capacity);
	struct dart_memory_region empty = { .address = 1 };
	struct dart_schema *schema = sample__stat();
	struct dart_table whole = appended->sample.table;
	struct dart_entry entries[SAMPLE_ENTRIES + 1];

	(void)state;
	appended->range.memory_region = 3;
	expect_refused(appended, -EINVAL);
	appended->range.memory_region = 0;
	appended->entry.name = "\x1b[2J";
	expect_refused(appended, -EINVAL);
	appended->entry.name = "more";
	appended->more.memory_regions = &empty;
	appended->more.memory_region_count = 1;
	expect_refused(appended, -EINVAL);
	appended->more.memory_region_count = 0;
	appended->more.generation = 0;
	expect_refused(appended, -EINVAL);
	appended->more.generation = 8;

	/* A schema nobody has, and a range that does not hold its fields. */
	appended->entry.schema = schema;
	sample__add(schema, "last", "", 60, 4, 1, DART_CONTROL_FIELD_GAUGE,
		    false);
	appended->range.length = 60;
	expect_refused(appended, -EINVAL);
	appended->range.length = 64;

	/* A name that is taken: only together with the others. */
	appended->entry.name = "pair";
	assert_int_equal(dart_table_writer__append(appended->writer,
						   &appended->more), -EINVAL);
	appended->entry.name = "more";

	appended->length = dart_table_writer__append(appended->writer,
						     &appended->more);
	memcpy(entries, whole.entries, sizeof(*entries) * SAMPLE_ENTRIES);
	entries[SAMPLE_ENTRIES] = appended->entry;
	whole.entries = entries;
	whole.entry_count++;
	whole.generation++;
	expect_table(appended->memory, appended->length, &whole);
	appended__free(appended);
	dart_schema__free(schema);
}

/* Whoever tries again and again must not fill the agent's memory. */
static void what_is_refused_leaves_no_trace(void **state)
{
	struct dart_memory_region regions[2] = {
		{ .address = 1, .length = 1 }, { .address = 1 },
	};
	struct dart_builder before, builder;
	struct dart_entry entries[2];
	struct dart_table more;
	struct sample sample;
	int i;

	(void)state;
	sample__init(&sample);
	assert_int_equal(dart_builder__init(&builder), 0);
	assert_int_equal(dart_builder__add(&builder, &sample.table), 0);
	before = builder;

	/* The second of the entries has the name of the first. */
	entries[0] = entries[1] = sample.entries[SAMPLE_ROWS];
	entries[0].name = entries[1].name = "again";
	sample__add(sample.stat, "last", "", 60, 4, 1,
		    DART_CONTROL_FIELD_GAUGE, false);
	more = sample.table;
	more.memory_regions = regions;
	more.memory_region_count = 1;
	more.entries = entries;
	more.entry_count = 2;
	for (i = 0; i < 1000; i++) {
		more.memory_region_count = 1 + i % 2;
		assert_int_equal(dart_builder__add(&builder, &more), -EINVAL);
	}
	assert_int_equal(builder.names.used, before.names.used);
	assert_int_equal(builder.names.size, before.names.size);
	assert_int_equal(builder.schemas.used, before.schemas.used);
	assert_int_equal(builder.schemas.size, before.schemas.size);
	assert_int_equal(builder.data, before.data);
	for (i = 0; i < DART_SECTIONS; i++)
		assert_int_equal(builder.sections.of[i].count,
				 before.sections.of[i].count);
	dart_builder__release(&builder);
	sample__release(&sample);
}

static void a_table_fills_its_memory(void **state)
{
	struct appended *appended = appended__new(4096);
	const struct dart_control_header *header = (void *)appended->memory;
	uint32_t entries = SAMPLE_ENTRIES;
	char name[32], why[DART_WHY_MAX];
	struct dart_table *decoded;
	uint32_t used;
	int length;

	(void)state;
	memset(appended->memory + 4096, 0xa5, 4096);
	appended->entry.name = name;
	for (;; entries++) {
		snprintf(name, sizeof(name), "entry-%08u", entries);
		length = dart_table_writer__append(appended->writer,
						   &appended->more);
		if (length < 0)
			break;
		assert_in_range(length, 1, 4096);
		appended->length = length;
		appended->more.generation++;
	}
	assert_int_equal(length, -ENOSPC);
	assert_int_equal(dart_table__decode(appended->memory, appended->length,
					    &decoded, NULL, why), 0);
	assert_int_equal(decoded->entry_count, entries);
	snprintf(name, sizeof(name), "entry-%08u", entries - 1);
	assert_string_equal(decoded->entries[entries - 1].name, name);
	dart_table__free(decoded);

	used = sizeof(*header) +
	       header->memory_regions.count *
	       sizeof(struct dart_control_memory_region) +
	       header->entries.count * sizeof(struct dart_control_entry) +
	       header->ranges.count * sizeof(struct dart_control_range) +
	       header->schemas.count * sizeof(struct dart_control_schema) +
	       header->fields.count * sizeof(struct dart_control_field) +
	       header->strings.count;
	printf("# %u entries in %u of 4096 bytes\n", entries, used);
	/* Nor was there room for another; sections are aligned. */
	assert_in_range(used, 4096 - sizeof(struct dart_control_entry) -
			sizeof(struct dart_control_range) - sizeof("entry-") -
			8 - 6 * 7, 4096);
	for (used = 4096; used < sizeof(appended->memory); used++)
		assert_int_equal(appended->memory[used], 0xa5);
	appended__free(appended);
}

static uint64_t processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* As many as there may be slices on a host, each with a schema of its own. */
static void the_last_of_many_is_as_cheap_as_the_first(void **state)
{
	enum { CAPACITY = 4 << 20, MANY = 10000, PART = 2500 };
	struct appended *appended = appended__new(8192);
	uint8_t *memory = new_memory(CAPACITY);
	struct dart_table_writer *writer =
		dart_table_writer__new(memory, CAPACITY);
	const struct dart_control_header *header = (void *)memory;
	uint64_t parts[MANY / PART] = { }, removals = 0;
	struct dart_table *decoded;
	char name[64], why[DART_WHY_MAX];
	int i, length;

	(void)state;
	assert_non_null(writer);
	appended->entry.name = name;
	assert_true(dart_table_writer__rewrite(writer,
					       &appended->sample.table) > 0);
	for (i = 0; i < MANY; i++) {
		struct dart_schema *schema = sample__stat();
		uint64_t start;

		appended->entry.schema = schema;
		appended->more.generation++;
		snprintf(name, sizeof(name), "slice/some-function-%u", i);
		start = processor_ns();
		length = dart_table_writer__append(writer, &appended->more);
		parts[i / PART] += processor_ns() - start;
		assert_in_range(length, 1, CAPACITY);
		dart_schema__free(schema);
	}
	for (i = 0; i < MANY / 2; i++) {
		uint64_t start = processor_ns();

		appended->more.generation++;
		snprintf(name, sizeof(name), "slice/some-function-%u", 2 * i);
		length = dart_table_writer__remove(writer, &appended->more,
						   name);
		removals += processor_ns() - start;
		assert_in_range(length, 1, CAPACITY);
	}
	printf("# ns for each of %u, in turn: %u %u %u %u (with sanitizers)\n",
	       PART, (unsigned int)(parts[0] / PART),
	       (unsigned int)(parts[1] / PART), (unsigned int)(parts[2] / PART),
	       (unsigned int)(parts[3] / PART));
	printf("# ns for each that is taken out: %u\n",
	       (unsigned int)(removals / (MANY / 2)));
	assert_true(parts[3] < 4 * parts[0]);
	assert_true(removals < 4 * (parts[0] + parts[1]));
	assert_int_equal(header->schemas.count, 2);
	assert_int_equal(dart_table__decode(memory, length, &decoded, NULL,
					    why), 0);
	assert_int_equal(decoded->entry_count,
			 SAMPLE_ENTRIES + MANY / 2);
	dart_table__free(decoded);
	dart_table_writer__free(writer);
	free(memory);
	appended__free(appended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_added_and_taken_out_is_what_is_there),
		cmocka_unit_test(a_change_is_seen_whole_or_not_at_all),
		cmocka_unit_test(what_would_be_refused_is_not_written),
		cmocka_unit_test(what_is_refused_leaves_no_trace),
		cmocka_unit_test(a_table_fills_its_memory),
		cmocka_unit_test(the_last_of_many_is_as_cheap_as_the_first),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("table_writer", tests, NULL, NULL);
}
