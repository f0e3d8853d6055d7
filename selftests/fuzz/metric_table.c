// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of a host with an invented table and invented rows. */
#include <endian.h>

#include <libdart/table/table_format_internal.h>

#include "fuzz.h"
#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/plan/plan_make.h"
#include "tools/controller/metrics/plan/points.h"
#include "tools/controller/metrics/text/text.h"

#define COPIES_MAX (1 << 16)

static const char yaml[] =
	"- family: node_cpu_seconds_total\n"
	"  help: C.\n"
	"  type: counter\n"
	"  series:\n"
	"    - {entry: cpustat, rows: cpu, scale: 1e-9, fields: {user: {}, idle: {mode: idle}}}\n"
	"    - {entry: stat, labels: {a: $command, b: $selector}, fields: {user: {}}}\n"
	"- family: sizes\n"
	"  help: S.\n"
	"  type: histogram\n"
	"  series:\n"
	"    - {entry: rows, when: small, fields: {sizes: {}}}\n";

/* Outputs trust this order, and that no two series are equal. */
static void check_order(const struct metric_plan *plan)
{
	uint32_t i;

	for (i = 1; i < plan->family_count; i++)
		require(strcmp(plan->families[i - 1].name, plan->families[i].name) < 0);
	for (i = 1; i < plan->series_count; i++)
		require(plan->series[i - 1].family < plan->series[i].family ||
			strcmp(plan->series[i - 1].text, plan->series[i].text) < 0);
	for (i = 0; i < plan->series_count; i++)
		require(plan->listing[i] < plan->series_count);
}

static void print(const struct metric_plan *plan, const struct points *points,
		  enum metric_text_format format)
{
	const struct metric_text_target target = {
		.labels = "instance=\"host\"",
		.plan = plan,
		.points = points->points,
	};
	size_t length;
	char *text;

	require(!metric_text__print(&target, 1, format, true, &text, &length));
	require(strlen(text) == length && text[length - 1] == '\n');
	free(text);
}

static void measure(struct names *names, const struct sample *sample)
{
	struct points points = {};
	struct metric_plan *plan;

	require(!metric_plan__new(names, sample, &plan));
	check_order(plan);
	require(!points__prepare(&points, plan, sample));
	points__evaluate(&points, plan, sample);
	print(plan, &points, METRIC_TEXT_PROMETHEUS);
	print(plan, &points, METRIC_TEXT_OPENMETRICS);
	points__free(&points);
	metric_plan__put(plan);
}

/* Rows repeat bytes of the input, except an even sequence in each other copy. */
static void fill(const struct dart_entry *entry, uint8_t *copies, const uint8_t *data, size_t size)
{
	const size_t length = dart_entry__size(entry);
	size_t i;

	for (i = 0; i < length; i++)
		copies[i] = i / entry->schema->length % 2 ? 2 : data[i % size];
}

static void decode(struct names *names, const uint8_t *data, size_t size)
{
	struct sample sample = { .head = { .time_ns = 1, .landed_ns = 1 } };
	struct dart_error error = {};
	struct sample_entry *entry;
	struct dart_table *table;
	size_t needed, total = 0;
	uint32_t i;

	if (dart_table__decode(data, size, &table, &needed, &error))
		return;
	sample.table = table;
	sample.entries = calloc(table->entry_count + 1, sizeof(*entry));
	require(sample.entries);
	for (i = 0; i < table->entry_count; i++) {
		total += dart_entry__size(&table->entries[i]);
		if (total > COPIES_MAX)
			break;
		entry = &sample.entries[sample.entry_count++];
		entry->entry = &table->entries[i];
		entry->copies = malloc(dart_entry__size(entry->entry));
		require(entry->copies);
		fill(entry->entry, entry->copies, data, size);
	}
	measure(names, &sample);
	for (i = 0; i < sample.entry_count; i++)
		free(sample.entries[i].copies);
	free(sample.entries);
	dart_table__free(table);
}

/* Only one input in 2^64 contains a valid checksum by chance. */
static void seal(uint8_t *bytes, size_t size)
{
	struct dart_control_header *header = (void *)bytes;

	header->magic = htole64(DART_CONTROL_MAGIC);
	header->abi_version = htole32(DART_CONTROL_ABI_VERSION);
	header->header_size = htole32(sizeof(*header));
	header->table_length = htole32(size);
	header->generation_end = header->generation_begin;
	header->checksum = 0;
	header->checksum = htole64(dart_table__checksum(bytes, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_error error = {};
	struct names *names;
	uint8_t *bytes;

	if (size < sizeof(struct dart_control_header))
		return 0;
	require(!names__parse(yaml, strlen(yaml), "names", &names, &error));
	bytes = exact_copy(data, size);
	seal(bytes, size);
	decode(names, bytes, size);
	free(bytes);
	names__put(names);
	return 0;
}
