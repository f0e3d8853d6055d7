// SPDX-License-Identifier: GPL-2.0-only
/* The scrapes of one table: see scrape.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>
#include <libdart/table/value.h>

#include "scraper.h"

/* Copies and values together: as text or JSON each takes 100 bytes and more. */
#define VALUES_MAX (4 << 20)

struct scrape {
	struct dart_table *table;
	const char *absent;
	uint32_t *wanted;		/* indices of entries */
	uint32_t wanted_count;
	struct dart_read_plan *plan;
	struct dart_read *reads;	/* those of the plan and the header */
	uint32_t read_count;
	uint64_t bytes;
	struct sample samples[2];	/* filled in turn */
	unsigned int turn;
	bool has_previous;
};

uint32_t sample__elements(const struct dart_schema *schema)
{
	uint32_t i, elements = 0;

	for (i = 0; i < schema->field_count; i++)
		elements += schema->fields[i].count;
	return elements;
}

static int choose_entries(struct scrape *scrape,
			  const struct settings *settings)
{
	const struct dart_table *table = scrape->table;
	const struct dart_entry *entry;
	size_t i, room;

	room = settings->entry_count ? settings->entry_count :
				       table->entry_count;
	scrape->wanted = calloc(room + 1, sizeof(*scrape->wanted));
	if (!scrape->wanted)
		return -ENOMEM;
	if (!settings->entry_count) {
		for (i = 0; i < room; i++)
			scrape->wanted[scrape->wanted_count++] = i;
		return 0;
	}
	for (i = 0; i < room; i++) {
		entry = dart_table__find(table, settings->entries[i]);
		if (entry)
			scrape->wanted[scrape->wanted_count++] =
				entry - table->entries;
		else if (!scrape->absent)
			scrape->absent = settings->entries[i];
	}
	return 0;
}

/* What a table calls 256 MiB of bytes must not take all memory once printed. */
static int count_values(const struct scrape *scrape)
{
	const struct dart_entry *entry;
	uint64_t values = 0;
	uint32_t i;

	for (i = 0; i < scrape->wanted_count; i++) {
		entry = &scrape->table->entries[scrape->wanted[i]];
		values += entry->copies *
			  (1ULL + sample__elements(entry->schema));
	}
	return values > VALUES_MAX ? -EFBIG : 0;
}

static int plan_reads(struct scrape *scrape,
		      const struct dart_endpoint_accept *accept)
{
	const struct dart_read *reads;
	struct dart_read *header;
	uint32_t i, count;
	int err;

	err = dart_read_plan__new(scrape->table, scrape->wanted,
				  scrape->wanted_count, &scrape->plan);
	if (err)
		return err;
	reads = dart_read_plan__reads(scrape->plan, &count);
	if (count >= DART_ENDPOINT_READS_MAX)
		return -EFBIG;
	scrape->reads = calloc(count + 1, sizeof(*scrape->reads));
	if (!scrape->reads)
		return -ENOMEM;
	if (count)
		memcpy(scrape->reads, reads, count * sizeof(*reads));

	header = &scrape->reads[count];
	header->address = accept->address;
	header->rkey = accept->rkey;
	header->length = sizeof(struct dart_control_header);
	header->landing = dart_read_plan__landing_size(scrape->plan);
	scrape->read_count = count + 1;
	for (i = 0; i <= count; i++)
		scrape->bytes += scrape->reads[i].length;
	return 0;
}

static int make_samples(struct scrape *scrape)
{
	struct sample_entry *entry;
	struct sample *sample;
	uint32_t i;

	for (sample = scrape->samples; sample < scrape->samples + 2; sample++) {
		sample->table = scrape->table;
		sample->reads = scrape->read_count;
		sample->bytes = scrape->bytes;
		sample->entries = calloc(scrape->wanted_count + 1,
					 sizeof(*sample->entries));
		if (!sample->entries)
			return -ENOMEM;
		sample->entry_count = scrape->wanted_count;
		for (i = 0; i < sample->entry_count; i++) {
			entry = &sample->entries[i];
			entry->entry =
				&scrape->table->entries[scrape->wanted[i]];
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

int scrape__new(struct dart_table *table, const struct settings *settings,
		const struct dart_endpoint_accept *accept,
		struct scrape **scrapep, struct dart_error *error)
{
	struct scrape *scrape = calloc(1, sizeof(*scrape));
	int err;

	if (!scrape) {
		dart_table__free(table);
		err = -ENOMEM;
		goto err_say;
	}
	scrape->table = table;
	err = choose_entries(scrape, settings);
	if (!err)
		err = count_values(scrape);
	if (!err)
		err = plan_reads(scrape, accept);
	if (!err)
		err = make_samples(scrape);
	if (err)
		goto err_free;
	*scrapep = scrape;
	return 0;

err_free:
	scrape__free(scrape);
err_say:
	dart_error__set(
		error, 0, "%s",
		err == -ENOMEM ?
			"out of memory" :
			"there is more to READ than a controller puts up with (choose with --entries)");
	return err;
}

void scrape__free(struct scrape *scrape)
{
	struct sample *sample;
	uint32_t i;

	if (!scrape)
		return;
	for (sample = scrape->samples; sample < scrape->samples + 2; sample++) {
		for (i = 0; i < sample->entry_count; i++) {
			free(sample->entries[i].copies);
			free(sample->entries[i].sums);
		}
		free(sample->entries);
	}
	free(scrape->reads);
	dart_read_plan__free(scrape->plan);
	free(scrape->wanted);
	dart_table__free(scrape->table);
	free(scrape);
}

const struct dart_table *scrape__table(const struct scrape *scrape)
{
	return scrape->table;
}

const char *scrape__absent(const struct scrape *scrape)
{
	return scrape->absent;
}

size_t scrape__landing_size(const struct scrape *scrape)
{
	const struct dart_read *header = scrape__header_read(scrape);

	return header->landing + header->length;
}

const struct dart_read *scrape__reads(const struct scrape *scrape,
				      uint32_t *count)
{
	*count = scrape->read_count;
	return scrape->reads;
}

const struct dart_read *scrape__header_read(const struct scrape *scrape)
{
	return &scrape->reads[scrape->read_count - 1];
}

int scrape__check(const struct scrape *scrape, const void *landing)
{
	return dart_table__same(scrape->table, (const char *)landing +
				scrape__header_read(scrape)->landing);
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

struct sample *scrape__decode(struct scrape *scrape, const void *landing)
{
	struct sample *sample = &scrape->samples[scrape->turn];
	uint32_t i;

	scrape->turn = !scrape->turn;
	sample->previous = scrape->has_previous ?
			   &scrape->samples[scrape->turn] : NULL;
	scrape->has_previous = true;
	for (i = 0; i < sample->entry_count; i++) {
		dart_read_plan__gather(scrape->plan, scrape->wanted[i],
				       landing, sample->entries[i].copies);
		if (sample->entries[i].sums)
			add_up(&sample->entries[i]);
	}
	return sample;
}
