/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples of a host with any entries, for the tests of metrics. */
#ifndef METRIC_SAMPLES_H
#define METRIC_SAMPLES_H

#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/metrics/names/names.h"
#include "tools/controller/metrics/plan/plan_make.h"
#include "tools/controller/metrics/plan/points.h"

#define SECOND 1000000000LL
/* Lines of a record: a sequence at both ends, 4 bytes each. */
#define WORDS_OF_LINE 7
#define HOST_ENTRIES_MAX 2100

struct host {
	struct dart_table table;
	struct dart_entry *entries;
	struct sample_entry *values;
	struct sample sample;
	struct dart_schema *schemas[32];
	uint32_t schema_count;
	uint64_t online;
};

/* A host that was booted 1000 s ago, at 5000 s after 1970. */
static inline void host__init(struct host *host)
{
	*host = (struct host){ .online = 0xf };
	host->entries = calloc(HOST_ENTRIES_MAX, sizeof(*host->entries));
	host->values = calloc(HOST_ENTRIES_MAX, sizeof(*host->values));
	assert_true(host->entries && host->values);
	host->table = (struct dart_table){
		.generation = 1,
		.instance = 7,
		.clock_offset_ns = 5000 * SECOND,
		.boot_id = "a boot id, 16 b",
		.node_name = "node-1",
		.cpus = 4,
		.online = &host->online,
	};
	host->sample = (struct sample){
		.head = {
			.sequence = 1,
			.start_ns = 100 * SECOND,
			.landed_ns = 100 * SECOND + SECOND / 1000,
			.time_ns = 6000 * SECOND,
			.reads = 3,
			.bytes = 4096,
			.missed = 2,
		},
		.clock.boot_ns = 1000 * SECOND,
		.table = &host->table,
		.entries = host->values,
	};
}

static inline void host__free(struct host *host)
{
	uint32_t i;

	for (i = 0; i < host->sample.entry_count; i++)
		free(host->values[i].copies);
	for (i = 0; i < host->schema_count; i++)
		dart_schema__free(host->schemas[i]);
	free(host->entries);
	free(host->values);
}

static inline struct dart_schema *host__schema(struct host *host, uint32_t length)
{
	struct dart_schema *schema = dart_schema__new("test", length);

	assert_non_null(schema);
	assert_true(host->schema_count < 32);
	host->schemas[host->schema_count++] = schema;
	return schema;
}

static inline void add_field(struct dart_schema *schema, const char *name,
			     const char *unit, uint32_t offset, uint32_t width,
			     uint32_t count, enum dart_control_field_kind kind)
{
	const struct dart_field field = {
		.name = (char *)name,
		.unit = (char *)unit,
		.offset = offset,
		.width = width,
		.count = count,
		.kind = kind,
	};

	assert_int_equal(dart_schema__add(schema, &field), 0);
}

/* Where value @number of a record is, the time being 0. */
static inline uint32_t record_offset(uint32_t number)
{
	return number / WORDS_OF_LINE * DART_CONTROL_LINE + 4 + number % WORDS_OF_LINE * 8;
}

struct wanted_field {
	const char *name;	/* NULL ends the list */
	const char *unit;
	enum dart_control_field_kind kind;
};

/* Rows in the agent's layout: time, the number of the row if any, values. */
static inline struct dart_schema *host__record(struct host *host, const struct wanted_field *wanted)
{
	struct dart_schema *schema;
	uint32_t count = 1, lines, at, line;
	char name[16];

	while (wanted[count - 1].name)
		count++;
	lines = (count + WORDS_OF_LINE - 1) / WORDS_OF_LINE;
	schema = host__schema(host, lines * DART_CONTROL_LINE);
	for (line = 0, at = 0; line < lines; line++) {
		sprintf(name, "begin%u", line);
		add_field(schema, name, "", line * DART_CONTROL_LINE, 4, 1,
			  DART_CONTROL_FIELD_SEQUENCE);
		for (; at < count && at / WORDS_OF_LINE == line; at++)
			add_field(schema, at ? wanted[at - 1].name : "time",
				  at ? wanted[at - 1].unit : "ns", record_offset(at), 8, 1,
				  at ? wanted[at - 1].kind : DART_CONTROL_FIELD_TIME);
		sprintf(name, "end%u", line);
		add_field(schema, name, "", line * DART_CONTROL_LINE + DART_CONTROL_LINE - 4, 4, 1,
			  DART_CONTROL_FIELD_SEQUENCE);
	}
	return schema;
}

/* Returns the index of the entry; its bytes are 0. */
static inline uint32_t host__add(struct host *host, const char *name,
				 const struct dart_schema *schema,
				 enum dart_control_copies copies_are, uint32_t copies)
{
	const uint32_t index = host->sample.entry_count++;

	assert_true(index < HOST_ENTRIES_MAX);
	host->entries[index] = (struct dart_entry){
		.name = name,
		.schema = schema,
		.kind = DART_CONTROL_ENTRY_SOURCE,
		.copies_are = copies_are,
		.copies = copies,
	};
	host->values[index].entry = &host->entries[index];
	host->values[index].copies = calloc(copies, schema->length);
	assert_non_null(host->values[index].copies);
	host->table.entries = host->entries;
	host->table.entry_count = host->sample.entry_count;
	return index;
}

static inline void *host__copy(struct host *host, uint32_t entry, uint32_t copy)
{
	return (char *)host->values[entry].copies +
	       (size_t)copy * host->entries[entry].schema->length;
}

static inline void host__set(struct host *host, uint32_t entry, uint32_t copy,
			     const char *name, uint32_t element, uint64_t value)
{
	const struct dart_field *field = dart_schema__find(host->entries[entry].schema, name);

	assert_non_null(field);
	memcpy((char *)host__copy(host, entry, copy) + field->offset + element * field->width,
	       &value, field->width);
}

/* All sequences of a row: 0 marks an empty row, an odd number a torn one. */
static inline void host__mark(struct host *host, uint32_t entry, uint32_t copy, uint32_t sequence)
{
	const struct dart_schema *schema = host->entries[entry].schema;
	uint32_t i;

	for (i = 0; i < schema->field_count; i++)
		if (schema->fields[i].kind == DART_CONTROL_FIELD_SEQUENCE)
			host__set(host, entry, copy, schema->fields[i].name, 0, sequence);
}

static inline struct names *names_of(const char *yaml)
{
	struct dart_error error;
	struct names *names;

	if (names__parse(yaml, strlen(yaml), "test.yaml", &names, &error))
		fail_msg("%s", error.text);
	return names;
}

static inline struct metric_plan *plan_of(struct host *host, struct names *names)
{
	struct metric_plan *plan;

	assert_int_equal(metric_plan__new(names, &host->sample, &plan), 0);
	return plan;
}

/* The index of the series NAME{LABELS}, or -1. */
static inline int find_series(const struct metric_plan *plan, const char *text)
{
	const size_t length = strcspn(text, "{");
	const char *labels = text[length] ? text + length + 1 : "";
	uint32_t i;

	for (i = 0; i < plan->series_count; i++) {
		const struct metric_series *series = &plan->series[i];
		const size_t size = strlen(series->text);

		if (strlen(series->name) == length && !memcmp(series->name, text, length) &&
		    !strncmp(labels, series->text, size) &&
		    (!*labels || !strcmp(labels + size, "}")))
			return i;
	}
	return -1;
}

static inline const struct metric_point *point_of(const struct points *points,
						  const struct metric_plan *plan, const char *text)
{
	const int series = find_series(plan, text);
	uint32_t i;

	for (i = 0; series < 0 && i < plan->series_count; i++)
		print_message("# %s{%s}\n", plan->series[i].name, plan->series[i].text);
	if (series < 0)
		fail_msg("there is no series %s", text);
	return &points->points[series];
}

/* Evaluates the present sample by a fitting plan. */
static inline void evaluate(struct points *points,
			    const struct metric_plan *plan, struct host *host)
{
	assert_true(metric_plan__fits(plan, &host->sample));
	points__evaluate(points, plan, &host->sample);
}

static inline void assert_point(const struct points *points, const struct metric_plan *plan,
				const char *text, double expected)
{
	const double value = point_of(points, plan, text)->value;

	if (value != expected)
		fail_msg("%s is %.17g, not %.17g", text, value, expected);
}

#endif /* METRIC_SAMPLES_H */
