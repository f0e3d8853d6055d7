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

#define LINES (GATHERED_ENTRY_LENGTH / DART_ZERO_RECORD_LINE)
#define WORDS DART_ZERO_RECORD_LINE_WORDS
/* Counters of a CPU, without sequences. */
#define CPU_WORDS (DART_ZERO_RECORD_LINE / sizeof(uint64_t))
#define TABLE_ROOM (128 << 10) /* bytes */

/* Words of a record's row with special meanings; all others are counters. */
#define TIME 0
#define NUMBER 1 /* of the row, if the record consists of several */

/* The first entry with copies; earlier entries are sums. */
#define FIRST_ROWS 10
#define FIRST_CPUS 14

union line {
	struct dart_zero_record_line of_record;
	uint64_t of_cpu[CPU_WORDS];
};

struct gathered_host {
	struct simulated_host host; /* first */
	uint32_t index;
	uint64_t writes;
	union line *lines;
};

struct gathered_hosts {
	uint32_t count;
	struct simulated_host **all;
};

static enum dart_control_copies copies_of(uint32_t entry)
{
	if (entry >= FIRST_CPUS)
		return DART_CONTROL_COPIES_CPU;
	return entry >= FIRST_ROWS ? DART_CONTROL_COPIES_ROW : DART_CONTROL_COPIES_SUM;
}

static bool is_record(uint32_t entry)
{
	return copies_of(entry) != DART_CONTROL_COPIES_CPU;
}

static uint32_t copy_count(uint32_t entry)
{
	return copies_of(entry) == DART_CONTROL_COPIES_SUM ? 1 : LINES;
}

/* ---- the rule */

/* How often @entry was written after @writes writes, and once before for each entry. */
static uint32_t version_of(uint32_t entry, uint64_t writes)
{
	return 1 + (writes + GATHERED_ENTRIES - 1 - entry) / GATHERED_ENTRIES;
}

/* The kind of word @number of a copy. */
static enum dart_control_field_kind kind_of(uint32_t entry, uint32_t number)
{
	if (number == TIME && is_record(entry))
		return DART_CONTROL_FIELD_TIME;
	if (number == NUMBER && copies_of(entry) == DART_CONTROL_COPIES_ROW)
		return DART_CONTROL_FIELD_GAUGE;
	return DART_CONTROL_FIELD_COUNTER;
}

/* Word @number of copy @copy. */
static uint64_t word_of(uint32_t host, uint32_t entry, uint32_t copy,
			uint32_t number, uint32_t version)
{
	switch (kind_of(entry, number)) {
	case DART_CONTROL_FIELD_TIME:
		return version * 1000000ULL;
	case DART_CONTROL_FIELD_GAUGE:
		return copy;
	default:
		return host * 1000000ULL + entry * 10000 + copy * 1000 +
		       number * 10 + version * (1ULL + number);
	}
}

/* Line @line of @entry. */
static void make_line(union line *to, uint32_t host, uint32_t entry,
		      uint32_t line, uint32_t version)
{
	const bool has_many = copies_of(entry) != DART_CONTROL_COPIES_SUM;
	const uint32_t copy = has_many ? line : 0;
	const uint32_t first = has_many ? 0 : line * WORDS;
	uint32_t i;

	if (!is_record(entry)) {
		for (i = 0; i < CPU_WORDS; i++)
			to->of_cpu[i] = word_of(host, entry, copy, i, version);
		return;
	}
	to->of_record.sequence = to->of_record.last_sequence = 2 * version;
	for (i = 0; i < WORDS; i++)
		to->of_record.words[i] = word_of(host, entry, copy, first + i, version);
}

static void gathered_host__write_entry(struct gathered_host *host, uint32_t entry)
{
	uint32_t i;

	for (i = 0; i < LINES; i++)
		make_line(&host->lines[entry * LINES + i], host->index, entry,
			  i, version_of(entry, host->writes));
}

static void write_next(struct simulated_host *of)
{
	struct gathered_host *host = (struct gathered_host *)of;
	const uint32_t entry = host->writes++ % GATHERED_ENTRIES;

	gathered_host__write_entry(host, entry);
}

/* ---- tables */

static void add_field(struct dart_schema *schema, const char *name, uint32_t offset, uint32_t width,
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

static void add_words(struct dart_schema *schema, uint32_t entry,
		      uint32_t first, uint32_t count, uint32_t offset)
{
	char name[32];
	uint32_t i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "word_%u", first + i);
		add_field(schema, name, offset + i * sizeof(uint64_t),
			  sizeof(uint64_t), kind_of(entry, first + i));
	}
}

static void add_line(struct dart_schema *schema, uint32_t entry, uint32_t line)
{
	const uint32_t start = line * DART_ZERO_RECORD_LINE;
	char name[32];

	snprintf(name, sizeof(name), "sequence.%u.begin", line);
	add_field(schema, name, start, sizeof(uint32_t), DART_CONTROL_FIELD_SEQUENCE);
	add_words(schema, entry, line * WORDS, WORDS,
		  start + offsetof(struct dart_zero_record_line, words));
	snprintf(name, sizeof(name), "sequence.%u.end", line);
	add_field(schema, name, start + offsetof(struct dart_zero_record_line, last_sequence),
		  sizeof(uint32_t), DART_CONTROL_FIELD_SEQUENCE);
}

static struct dart_schema *make_schema(uint32_t entry)
{
	const uint32_t lines = LINES / copy_count(entry);
	struct dart_schema *schema;
	char name[32];
	uint32_t i;

	snprintf(name, sizeof(name), "schema_%u", entry);
	schema = dart_schema__new(name, lines * DART_ZERO_RECORD_LINE);
	if (!schema)
		err(EXIT_FAILURE, "a schema");
	if (!is_record(entry))
		add_words(schema, entry, 0, CPU_WORDS, 0);
	for (i = 0; is_record(entry) && i < lines; i++)
		add_line(schema, entry, i);
	return schema;
}

static void write_table(struct gathered_host *host, struct dart_table *table)
{
	struct dart_table_writer *writer;
	uint8_t *bytes = simulated__allocate(TABLE_ROOM);
	int length;

	snprintf(table->node_name, sizeof(table->node_name), "host%u", host->index);
	table->instance = host->index + 1;
	writer = dart_table_writer__new(bytes, TABLE_ROOM);
	if (!writer)
		err(EXIT_FAILURE, "a table");
	length = dart_table_writer__rewrite(writer, table);
	if (length < 0)
		errx(EXIT_FAILURE, "a table cannot be written: %d", length);
	dart_table_writer__free(writer);
	host->host.table = (struct simulated_memory){ bytes, length, 2 * host->index + 2 };
}

static void describe(struct gathered_host *host,
		     struct dart_schema *const schemas[GATHERED_ENTRIES])
{
	struct dart_memory_region region = {
		.address = (uintptr_t)host->lines,
		.length = GATHERED_VALUES,
		.rkey = 2 * host->index + 1,
	};
	struct dart_range ranges[GATHERED_ENTRIES];
	struct dart_entry entries[GATHERED_ENTRIES];
	struct dart_table table = {
		.generation = 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = LINES,
		.page_size = 4096,
		.lease_ms = 60000,
		.entries = entries,
		.entry_count = GATHERED_ENTRIES,
		.memory_regions = &region,
		.memory_region_count = 1,
	};
	uint32_t i;

	for (i = 0; i < GATHERED_ENTRIES; i++) {
		ranges[i] = (struct dart_range){
			.address = region.address + i * GATHERED_ENTRY_LENGTH,
			.stride = schemas[i]->length,
			.copies = copy_count(i),
			.length = schemas[i]->length,
		};
		entries[i] = (struct dart_entry){
			.name = schemas[i]->name,
			.schema = schemas[i],
			.kind = DART_CONTROL_ENTRY_SOURCE,
			.lifetime = DART_CONTROL_LIFETIME_IMMOBILE,
			.copies_are = copies_of(i),
			.copies = copy_count(i),
			.ranges = &ranges[i],
			.range_count = 1,
		};
	}
	host->host.values = (struct simulated_memory){ host->lines, GATHERED_VALUES, region.rkey };
	write_table(host, &table);
}

/* ---- hosts */

static struct simulated_host *
gathered_host__new(uint32_t index, struct dart_schema *const schemas[GATHERED_ENTRIES])
{
	struct gathered_host *host = simulated__allocate(sizeof(*host));
	uint32_t i;

	host->index = index;
	host->host.write = write_next;
	host->lines = aligned_alloc(4096, GATHERED_VALUES);
	if (!host->lines)
		err(EXIT_FAILURE, "memory");
	for (i = 0; i < GATHERED_ENTRIES; i++)
		gathered_host__write_entry(host, i);
	describe(host, schemas);
	return &host->host;
}

struct gathered_hosts *gathered_hosts__new(uint32_t count)
{
	struct gathered_hosts *hosts = simulated__allocate(sizeof(*hosts));
	struct dart_schema *schemas[GATHERED_ENTRIES];
	uint32_t i;

	hosts->count = count;
	hosts->all = simulated__allocate(count * sizeof(*hosts->all));
	for (i = 0; i < GATHERED_ENTRIES; i++)
		schemas[i] = make_schema(i);
	for (i = 0; i < count; i++)
		hosts->all[i] = gathered_host__new(i, schemas);
	for (i = 0; i < GATHERED_ENTRIES; i++)
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

static bool are_lines_of(uint32_t host, uint32_t entry, uint32_t version, const void *copies)
{
	union line line;
	uint32_t i;

	for (i = 0; i < LINES; i++) {
		make_line(&line, host, entry, i, version);
		if (memcmp(&line, (const char *)copies + i * sizeof(line), sizeof(line)))
			return false;
	}
	return true;
}

/* The sums over all CPUs. */
static bool are_sums_of(uint32_t host, uint32_t entry, uint32_t version, const uint64_t *sums)
{
	uint32_t word, cpu;
	uint64_t sum;

	for (word = 0; word < CPU_WORDS; word++) {
		sum = 0;
		for (cpu = 0; cpu < LINES; cpu++)
			sum += word_of(host, entry, cpu, word, version);
		if (sums[word] != sum)
			return false;
	}
	return true;
}

static bool are_entries_of(uint32_t host, const struct sample *sample)
{
	const struct sample_entry *entry = sample->entries;
	uint32_t version, i;

	for (i = 0; i < GATHERED_ENTRIES; i++, entry++) {
		version = version_of(i, sample->head.sequence);
		if (!are_lines_of(host, i, version, entry->copies) ||
		    is_record(i) != !entry->sums ||
		    (entry->sums && !are_sums_of(host, i, version, entry->sums)))
			return false;
	}
	return true;
}

bool gathered_hosts__are_values_of(uint32_t host, const struct sample *sample)
{
	char node[32];

	snprintf(node, sizeof(node), "host%u", host);
	return !strcmp(sample->table->node_name, node) && sample->table->instance == host + 1 &&
	       sample->entry_count == GATHERED_ENTRIES && are_entries_of(host, sample) &&
	       (!sample->previous || are_entries_of(host, sample->previous));
}
