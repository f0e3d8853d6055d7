/* SPDX-License-Identifier: GPL-2.0-only */
/* A host of the farm in memory, and a controller's output about it. */
#ifndef FARM_TEST_MODEL_H
#define FARM_TEST_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/value.h>

#include "selftests/lib/farm_table.h"
#include "selftests/unit/unit.h"

#define PORT 5000
#define MEMORY_MAX 65536
#define RKEY 0x1234

/* A host of the farm that no controller READs. */
struct model {
	struct farm_shape shape;
	struct dart_schema *schema;
	uint32_t host, epoch;
	struct farm_table table;
	_Alignas(64) uint8_t control[MEMORY_MAX];
	_Alignas(64) uint8_t values[MEMORY_MAX];
	_Alignas(64) uint8_t extra[MEMORY_MAX];
};

/* One line of a controller. */
struct line {
	char *text;
	size_t length;
};

static inline void model__open(struct model *model, enum farm_form form,
			       uint32_t host, uint32_t epoch)
{
	const struct dart_memory_region values = {
		.address = (uintptr_t)model->values,
		.length = form == FARM_ROWS ? 4096 : 8192,
		.rkey = RKEY,
	};
	struct dart_error error;

	model->host = host;
	model->epoch = epoch;
	assert_int_equal(farm_shape__init(&model->shape, form, values.length), 0);
	assert_int_equal(farm_shape__size(&model->shape), values.length);
	model->schema = farm_shape__schema(&model->shape);
	assert_non_null(model->schema);
	assert_int_equal(farm_table__open(&model->table, model->control, &model->shape,
					  model->schema, host, epoch, &values, &error),
			 0);
}

static inline void model__close(struct model *model)
{
	farm_table__close(&model->table);
	dart_schema__free(model->schema);
}

static inline void model__write(struct model *model, uint64_t update)
{
	const struct farm_shape *shape = &model->shape;
	uint32_t i;

	for (i = 0; i < shape->entries; i++)
		farm_values__write(model->values + i * farm_shape__entry(shape),
				   shape, model->host, model->epoch, i, update);
	farm_values__write(model->extra, shape, model->host, model->epoch,
			   farm_shape__extra(shape), update);
}

static inline struct dart_table *model__decode(struct model *model)
{
	struct dart_table *table;
	struct dart_error error;

	assert_int_equal(
		dart_table__decode(model->control, model->table.used, &table, NULL, &error), 0);
	return table;
}

static inline void print_id(const char *name, const uint8_t id[16], FILE *out)
{
	int i;

	fprintf(out, "\"%s\":\"", name);
	for (i = 0; i < 16; i++)
		fprintf(out, "%02x", id[i]);
	fputs("\",", out);
}

/* A scrape, as the controller prints it: the copies of an entry lie side by side. */
static inline struct line model__scrape(struct model *model, uint64_t sequence, uint64_t start_ns)
{
	struct dart_table *table = model__decode(model);
	struct line line = {};
	FILE *out = open_memstream(&line.text, &line.length);
	uint32_t i;

	assert_non_null(out);
	fprintf(out,
		"{\"agent\":\"host:%u\",\"sequence\":%" PRIu64
		",\"start_ns\":%" PRIu64 ",\"landed_ns\":%" PRIu64 ",",
		PORT + model->host, sequence, start_ns, start_ns + 1000);
	print_id("host_id", table->host_id, out);
	print_id("boot_id", table->boot_id, out);
	fprintf(out, "\"instance\":\"%016" PRIx64 "\",\"entries\":{", table->instance);
	for (i = 0; i < table->entry_count; i++) {
		const struct dart_entry *entry = &table->entries[i];

		assert_int_equal(entry->range_count, 1);
		assert_int_equal(entry->ranges->stride, entry->schema->length);
		fprintf(out, "%s\"%s\":", i ? "," : "", entry->name);
		dart_entry__print_json(entry, (const void *)(uintptr_t)entry->ranges->address, out);
	}
	fputs("}}\n", out);
	assert_int_equal(fclose(out), 0);
	dart_table__free(table);
	return line;
}

#endif /* FARM_TEST_MODEL_H */
