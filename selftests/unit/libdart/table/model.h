/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A random table, entry by entry: the model that unit tests compare a growing
 * and shrinking table with.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdio.h>

#include "sample.h"

#define ENTRIES_MAX 64
#define COPIES_MAX 5
#define MEMORY_REGIONS_MAX 2048

struct model {
	uint64_t random;
	struct dart_table table;
	struct dart_memory_region memory_regions[MEMORY_REGIONS_MAX];
	struct dart_entry entries[ENTRIES_MAX];
	unsigned int added;
};

static inline uint32_t model__below(struct model *model, uint32_t limit)
{
	return random__below(&model->random, limit);
}

static inline void model__init(struct model *model)
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

/* One of 40 schemas, which differ in names, units, signs or lengths. */
static inline struct dart_schema *model__schema(struct model *model)
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

/* Each copy gets its own memory region, or all copies share one. */
static inline void model__add(struct model *model)
{
	uint32_t first = model->table.memory_region_count, i;
	uint32_t copies = 1 + model__below(model, COPIES_MAX);
	uint32_t groups = model__below(model, 2) ? copies : 1;
	bool is_shared = first && model__below(model, 2);
	struct dart_range *ranges = calloc(groups, sizeof(*ranges));
	char *name;

	assert_non_null(ranges);
	assert_true(asprintf(&name, "%u-%0*u", model->added++,
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
			.rkey = model->added * 16 + i,
		};
		model->table.memory_region_count++;
	}
}

/* Keeps the memory regions. */
static inline void model__remove(struct model *model, uint32_t index)
{
	struct dart_entry *entry = &model->entries[index];

	free((char *)entry->name);
	free(entry->ranges);
	dart_schema__free((struct dart_schema *)entry->schema);
	memmove(entry, entry + 1, (--model->table.entry_count - index) * sizeof(*entry));
}

/* Removes the memory regions, except the first, that no range refers to. */
static inline void model__compact(struct model *model)
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
			model->memory_regions[count] = before[range->memory_region];
			range->memory_region = count++;
		}
	}
	model->table.memory_region_count = count;
	free((void *)before);
}

static inline void model__clear(struct model *model)
{
	while (model->table.entry_count)
		model__remove(model, model->table.entry_count - 1);
}

/* All but the first @entries and @memory_regions. */
static inline struct dart_table model__since(const struct model *model,
				      uint32_t entries, uint32_t memory_regions)
{
	struct dart_table more = model->table;

	more.entries += entries;
	more.entry_count -= entries;
	more.memory_regions += memory_regions;
	more.memory_region_count -= memory_regions;
	return more;
}

#endif /* MODEL_H */
