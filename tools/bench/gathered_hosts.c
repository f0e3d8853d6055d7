// SPDX-License-Identifier: GPL-2.0-only
/* Hosts whose values follow from a rule: see gathered_hosts.h. */
#include "gathered_hosts.h"

#include <err.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/table_writer.h>
#include <linux/dart_zero.h>

#define LINES (GATHERED_RECORD_LENGTH / DART_ZERO_RECORD_LINE)
#define WORDS DART_ZERO_RECORD_LINE_WORDS
/* Records with a number above have a row in each line. */
#define LAST_SUM 11
#define TABLE_ROOM (128 << 10) /* bytes */

/* Words of a row with a meaning of their own; all others are counters. */
#define TIME 0
#define NUMBER 1 /* of the row, if the record has several */

struct gathered_host {
	struct simulated_host host; /* first */
	uint32_t index;
	uint64_t writes;
	struct dart_zero_record_line *lines;
};

struct gathered_hosts {
	uint32_t count;
	struct simulated_host **all;
};

static bool has_rows(uint32_t record)
{
	return record > LAST_SUM;
}

static uint32_t rows_of(uint32_t record)
{
	return has_rows(record) ? LINES : 1;
}

/* ---- the rule */

/* How often @record has been written when @writes records were, each once before. */
static uint32_t version_of(uint32_t record, uint64_t writes)
{
	return 1 + (writes + GATHERED_RECORDS - 1 - record) / GATHERED_RECORDS;
}

static uint64_t word_of(uint32_t host, uint32_t record, uint32_t line,
			uint32_t word, uint32_t version)
{
	const uint32_t of_row = has_rows(record) ? word : line * WORDS + word;

	if (of_row == TIME)
		return version * 1000000ULL;
	if (of_row == NUMBER && has_rows(record))
		return line;
	return host * 1000000ULL + record * 10000 + (line * WORDS + word) * 100 +
	       (uint64_t)version * (1 + of_row);
}

static void make_line(struct dart_zero_record_line *to, uint32_t host,
		      uint32_t record, uint32_t line, uint32_t version)
{
	uint32_t i;

	to->sequence = to->last_sequence = 2 * version;
	for (i = 0; i < WORDS; i++)
		to->words[i] = word_of(host, record, line, i, version);
}

static void gathered_host__write_record(struct gathered_host *host,
					uint32_t record)
{
	uint32_t i;

	for (i = 0; i < LINES; i++)
		make_line(&host->lines[record * LINES + i], host->index, record,
			  i, version_of(record, host->writes));
}

static void write_next(struct simulated_host *of)
{
	struct gathered_host *host = (struct gathered_host *)of;
	const uint32_t record = host->writes++ % GATHERED_RECORDS;

	gathered_host__write_record(host, record);
}

/* ---- tables */

static void add_field(struct dart_schema *schema, const char *name,
		      uint32_t offset, uint32_t width,
		      enum dart_control_field_kind kind)
{
	const struct dart_field field = {
		.name = (char *)name,
		.unit = "",
		.offset = offset,
		.width = width,
		.count = 1,
		.kind = kind,
	};

	if (dart_schema__add(schema, &field))
		errx(EXIT_FAILURE, "a schema refuses '%s'", name);
}

static enum dart_control_field_kind kind_of(uint32_t record, uint32_t word)
{
	if (word == TIME)
		return DART_CONTROL_FIELD_TIME;
	if (word == NUMBER && has_rows(record))
		return DART_CONTROL_FIELD_GAUGE;
	return DART_CONTROL_FIELD_COUNTER;
}

static void add_line(struct dart_schema *schema, uint32_t record, uint32_t line)
{
	const uint32_t start = line * DART_ZERO_RECORD_LINE;
	const size_t words = offsetof(struct dart_zero_record_line, words);
	char name[32];
	uint32_t i;

	snprintf(name, sizeof(name), "sequence.%u.begin", line);
	add_field(schema, name, start, sizeof(uint32_t),
		  DART_CONTROL_FIELD_SEQUENCE);
	for (i = 0; i < WORDS; i++) {
		snprintf(name, sizeof(name), "word_%u_%u", line, i);
		add_field(schema, name, start + words + i * sizeof(uint64_t),
			  sizeof(uint64_t), kind_of(record, line * WORDS + i));
	}
	snprintf(name, sizeof(name), "sequence.%u.end", line);
	add_field(schema, name,
		  start + offsetof(struct dart_zero_record_line, last_sequence),
		  sizeof(uint32_t), DART_CONTROL_FIELD_SEQUENCE);
}

static struct dart_schema *make_schema(uint32_t record)
{
	const uint32_t lines = LINES / rows_of(record);
	struct dart_schema *schema;
	char name[32];
	uint32_t i;

	snprintf(name, sizeof(name), "record_%u", record);
	schema = dart_schema__new(name, lines * DART_ZERO_RECORD_LINE);
	if (!schema)
		err(EXIT_FAILURE, "a schema");
	for (i = 0; i < lines; i++)
		add_line(schema, record, i);
	return schema;
}

static void write_table(struct gathered_host *host, struct dart_table *table)
{
	struct dart_table_writer *writer;
	uint8_t *bytes = simulated__allocate(TABLE_ROOM);
	int length;

	snprintf(table->node_name, sizeof(table->node_name), "host%u",
		 host->index);
	table->instance = host->index + 1;
	writer = dart_table_writer__new(bytes, TABLE_ROOM);
	if (!writer)
		err(EXIT_FAILURE, "a table");
	length = dart_table_writer__rewrite(writer, table);
	if (length < 0)
		errx(EXIT_FAILURE, "a table cannot be written: %d", length);
	dart_table_writer__free(writer);
	host->host.table =
		(struct simulated_memory){ bytes, length, 2 * host->index + 2 };
}

static void describe(struct gathered_host *host,
		     struct dart_schema *const schemas[GATHERED_RECORDS])
{
	struct dart_memory_region region = {
		.address = (uintptr_t)host->lines,
		.length = GATHERED_VALUES,
		.rkey = 2 * host->index + 1,
	};
	struct dart_range ranges[GATHERED_RECORDS];
	struct dart_entry entries[GATHERED_RECORDS];
	struct dart_table table = {
		.generation = 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = LINES,
		.page_size = 4096,
		.lease_ms = 60000,
		.entries = entries,
		.entry_count = GATHERED_RECORDS,
		.memory_regions = &region,
		.memory_region_count = 1,
	};
	uint32_t i;

	for (i = 0; i < GATHERED_RECORDS; i++) {
		ranges[i] = (struct dart_range){
			.address = region.address + i * GATHERED_RECORD_LENGTH,
			.stride = schemas[i]->length,
			.copies = rows_of(i),
			.length = schemas[i]->length,
		};
		entries[i] = (struct dart_entry){
			.name = schemas[i]->name,
			.schema = schemas[i],
			.kind = DART_CONTROL_ENTRY_SOURCE,
			.lifetime = DART_CONTROL_LIFETIME_IMMOBILE,
			.copies_are = has_rows(i) ? DART_CONTROL_COPIES_ROW :
						    DART_CONTROL_COPIES_SUM,
			.copies = rows_of(i),
			.ranges = &ranges[i],
			.range_count = 1,
		};
	}
	host->host.values = (struct simulated_memory){
		host->lines, GATHERED_VALUES, region.rkey
	};
	write_table(host, &table);
}

/* ---- hosts */

static struct simulated_host *
gathered_host__new(uint32_t index,
		   struct dart_schema *const schemas[GATHERED_RECORDS])
{
	struct gathered_host *host = simulated__allocate(sizeof(*host));
	uint32_t i;

	host->index = index;
	host->host.write = write_next;
	host->lines = aligned_alloc(4096, GATHERED_VALUES);
	if (!host->lines)
		err(EXIT_FAILURE, "memory");
	for (i = 0; i < GATHERED_RECORDS; i++)
		gathered_host__write_record(host, i);
	describe(host, schemas);
	return &host->host;
}

struct gathered_hosts *gathered_hosts__new(uint32_t count)
{
	struct gathered_hosts *hosts = simulated__allocate(sizeof(*hosts));
	struct dart_schema *schemas[GATHERED_RECORDS];
	uint32_t i;

	hosts->count = count;
	hosts->all = simulated__allocate(count * sizeof(*hosts->all));
	for (i = 0; i < GATHERED_RECORDS; i++)
		schemas[i] = make_schema(i);
	for (i = 0; i < count; i++)
		hosts->all[i] = gathered_host__new(i, schemas);
	for (i = 0; i < GATHERED_RECORDS; i++)
		dart_schema__free(schemas[i]);
	return hosts;
}

void gathered_hosts__free(struct gathered_hosts *hosts)
{
	struct gathered_host *host;
	uint32_t i;

	for (i = 0; i < hosts->count; i++) {
		host = (struct gathered_host *)hosts->all[i];
		free((void *)host->host.table.bytes);
		free(host->lines);
		free(host);
	}
	free(hosts->all);
	free(hosts);
}

struct simulated_host **gathered_hosts__all(const struct gathered_hosts *hosts)
{
	return hosts->all;
}

/* ---- checks */

static bool are_lines_of(uint32_t host, uint32_t record, uint32_t version,
			 const void *copies)
{
	struct dart_zero_record_line line;
	uint32_t i;

	for (i = 0; i < LINES; i++) {
		make_line(&line, host, record, i, version);
		if (memcmp(&line, (const char *)copies + i * sizeof(line),
			   sizeof(line)))
			return false;
	}
	return true;
}

/* Sums are those of one row: its counters, each field with a place. */
static bool are_sums_of(uint32_t host, uint32_t record, uint32_t version,
			const struct sample_entry *entry)
{
	const struct dart_field *fields = entry->entry->schema->fields;
	uint32_t word = 0, i;

	for (i = 0; i < entry->entry->schema->field_count; i++) {
		if (fields[i].kind == DART_CONTROL_FIELD_SEQUENCE)
			continue;
		if (fields[i].kind == DART_CONTROL_FIELD_COUNTER &&
		    entry->sums[i] != word_of(host, record, word / WORDS,
					      word % WORDS, version))
			return false;
		word++;
	}
	return true;
}

static bool are_entries_of(uint32_t host, const struct sample *sample)
{
	const struct sample_entry *entry = sample->entries;
	uint32_t version, i;

	for (i = 0; i < GATHERED_RECORDS; i++, entry++) {
		version = version_of(i, sample->head.sequence);
		if (!are_lines_of(host, i, version, entry->copies) ||
		    (entry->sums && !are_sums_of(host, i, version, entry)))
			return false;
	}
	return true;
}

bool gathered_hosts__are_values_of(uint32_t host, const struct sample *sample)
{
	char node[32];

	snprintf(node, sizeof(node), "host%u", host);
	return !strcmp(sample->table->node_name, node) &&
	       sample->table->instance == host + 1 &&
	       sample->entry_count == GATHERED_RECORDS &&
	       are_entries_of(host, sample) &&
	       (!sample->previous || are_entries_of(host, sample->previous));
}
