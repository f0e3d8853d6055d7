// SPDX-License-Identifier: GPL-2.0-only
/* Plans the READs of one table, checks and decodes what they return. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>
#include <libdart/table/value.h>

#include "scraper.h"

/* Of copies and values in sum: as text or JSON each takes 100 bytes or more. */
#define VALUES_MAX (4 << 20)

uint32_t sample__elements(const struct dart_schema *schema)
{
	uint32_t i, elements = 0;

	for (i = 0; i < schema->field_count; i++)
		elements += schema->fields[i].count;
	return elements;
}

static int scraper__choose_entries(struct scraper *scraper,
				   const struct settings *settings)
{
	const struct dart_table *table = scraper->table;
	size_t i, count = settings->entry_count ?: table->entry_count;
	const struct dart_entry *entry;

	scraper->wanted = calloc(count + 1, sizeof(*scraper->wanted));
	if (!scraper->wanted)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		entry = settings->entry_count ?
			dart_table__find(table, settings->entries[i]) :
			&table->entries[i];
		if (entry)
			scraper->wanted[scraper->wanted_count++] =
				entry - table->entries;
		else if (!scraper->absent)
			scraper->absent = settings->entries[i];
	}
	return 0;
}

/* 256 MiB of one-byte values must not exhaust memory when printed. */
static int scraper__count_values(const struct scraper *scraper)
{
	const struct dart_entry *entry;
	uint64_t values = 0;
	uint32_t i;

	for (i = 0; i < scraper->wanted_count; i++) {
		entry = &scraper->table->entries[scraper->wanted[i]];
		values += entry->copies *
			  (1ULL + sample__elements(entry->schema));
	}
	return values > VALUES_MAX ? -EFBIG : 0;
}

static int scraper__plan_reads(struct scraper *scraper,
			       const struct dart_endpoint_accept *accept)
{
	const struct dart_read *reads;
	uint32_t i, count;
	int err;

	err = dart_read_plan__new(scraper->table, scraper->wanted,
				  scraper->wanted_count, &scraper->plan);
	if (err)
		return err;
	reads = dart_read_plan__reads(scraper->plan, &count);
	if (count >= DART_ENDPOINT_READS_MAX)
		return -EFBIG;
	scraper->reads = calloc(count + 1, sizeof(*scraper->reads));
	if (!scraper->reads)
		return -ENOMEM;
	if (count)
		memcpy(scraper->reads, reads, count * sizeof(*reads));

	scraper->reads[count] = (struct dart_read){
		.address = accept->address,
		.rkey = accept->rkey,
		.length = sizeof(struct dart_control_header),
		.landing = dart_read_plan__landing_size(scraper->plan),
	};
	scraper->read_count = count + 1;
	for (i = 0; i <= count; i++)
		scraper->bytes += scraper->reads[i].length;
	return 0;
}

static int scraper__make_samples(struct scraper *scraper)
{
	struct sample_entry *entry;
	struct sample *sample;
	uint32_t i;

	for (sample = scraper->samples; sample < scraper->samples + 2; sample++) {
		sample->table = scraper->table;
		sample->reads = scraper->read_count;
		sample->bytes = scraper->bytes;
		sample->entries = calloc(scraper->wanted_count + 1,
					 sizeof(*sample->entries));
		if (!sample->entries)
			return -ENOMEM;
		sample->entry_count = scraper->wanted_count;
		for (i = 0; i < sample->entry_count; i++) {
			entry = &sample->entries[i];
			entry->entry =
				&scraper->table->entries[scraper->wanted[i]];
			entry->copies = malloc(dart_entry__size(entry->entry));
			if (!entry->copies)
				return -ENOMEM;
			if (entry->entry->copies_are !=
			    DART_CONTROL_COPIES_CPU)
				continue;
			entry->sums = calloc(
				sample__elements(entry->entry->schema) + 1,
				sizeof(*entry->sums));
			if (!entry->sums)
				return -ENOMEM;
		}
	}
	return 0;
}

int scraper__new(struct dart_table *table, const struct settings *settings,
		 const struct dart_endpoint_accept *accept,
		 struct scraper **scraperp, struct dart_error *error)
{
	struct scraper *scraper = calloc(1, sizeof(*scraper));
	int err;

	if (!scraper) {
		dart_table__free(table);
		return dart_error__no_memory(error);
	}
	scraper->table = table;
	err = scraper__choose_entries(scraper, settings) ?:
	      scraper__count_values(scraper) ?:
	      scraper__plan_reads(scraper, accept) ?:
	      scraper__make_samples(scraper);
	if (!err) {
		*scraperp = scraper;
		return 0;
	}
	scraper__free(scraper);
	if (err == -ENOMEM)
		return dart_error__no_memory(error);
	return dart_error__set(
		error, -err,
		"too many values to READ (choose entries with --entries)");
}

void scraper__free(struct scraper *scraper)
{
	struct sample *sample;
	uint32_t i;

	if (!scraper)
		return;
	for (sample = scraper->samples; sample < scraper->samples + 2; sample++) {
		for (i = 0; i < sample->entry_count; i++) {
			free(sample->entries[i].copies);
			free(sample->entries[i].sums);
		}
		free(sample->entries);
	}
	free(scraper->reads);
	dart_read_plan__free(scraper->plan);
	free(scraper->wanted);
	dart_table__free(scraper->table);
	free(scraper);
}

size_t scraper__landing_size(const struct scraper *scraper)
{
	const struct dart_read *header = scraper__header_read(scraper);

	return header->landing + header->length;
}

const struct dart_read *scraper__header_read(const struct scraper *scraper)
{
	return &scraper->reads[scraper->read_count - 1];
}

int scraper__check(const struct scraper *scraper, const void *landing)
{
	return dart_table__same(scraper->table,
				(const char *)landing +
				scraper__header_read(scraper)->landing);
}

static void add_up(struct sample_entry *entry)
{
	const struct dart_schema *schema = entry->entry->schema;
	const struct dart_field *field = schema->fields;
	uint64_t *sum = entry->sums;
	uint32_t i;

	for (; field < schema->fields + schema->field_count; field++) {
		if (field->kind == DART_CONTROL_FIELD_COUNTER ||
		    field->kind == DART_CONTROL_FIELD_HISTOGRAM) {
			for (i = 0; i < field->count; i++)
				sum[i] = dart_entry__sum(entry->entry, field,
							 entry->copies, i);
		}
		sum += field->count;
	}
}

struct sample *scraper__decode(struct scraper *scraper, const void *landing)
{
	struct sample *sample = &scraper->samples[scraper->turn];
	uint32_t i;

	scraper->turn = !scraper->turn;
	sample->previous =
		scraper->has_previous ? &scraper->samples[scraper->turn] : NULL;
	scraper->has_previous = true;
	for (i = 0; i < sample->entry_count; i++) {
		dart_read_plan__gather(scraper->plan, scraper->wanted[i],
				       landing, sample->entries[i].copies);
		if (sample->entries[i].sums)
			add_up(&sample->entries[i]);
	}
	return sample;
}
