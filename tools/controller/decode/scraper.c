// SPDX-License-Identifier: GPL-2.0-only
/* Plans the READs of one table, checks and decodes what they return. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>
#include <libdart/table/value.h>

#include "budget.h"
#include "scraper.h"

/* Adds an entry once, however many names and patterns choose it. */
static void scraper__choose(struct scraper *scraper, bool *chosen,
			    uint32_t index)
{
	if (chosen[index])
		return;
	chosen[index] = true;
	scraper->wanted[scraper->wanted_count++] = index;
}

/* By its name, or as a pattern if no entry has this name; true if any was found. */
static bool scraper__choose_by_name(struct scraper *scraper, bool *chosen,
				    const char *name)
{
	const struct dart_table *table = scraper->table;
	const struct dart_entry *entry = dart_table__find(table, name);
	bool found = entry;
	uint32_t i;

	if (entry)
		scraper__choose(scraper, chosen, entry - table->entries);
	if (entry || !strpbrk(name, "*?["))
		return found;
	for (i = 0; i < table->entry_count; i++) {
		if (fnmatch(name, table->entries[i].name, 0))
			continue;
		scraper__choose(scraper, chosen, i);
		found = true;
	}
	return found;
}

static int scraper__choose_entries(struct scraper *scraper,
				   const struct settings *settings)
{
	const uint32_t count = scraper->table->entry_count;
	bool *chosen = calloc((size_t)count + 1, sizeof(*chosen));
	size_t i;

	scraper->wanted = calloc((size_t)count + 1, sizeof(*scraper->wanted));
	if (!chosen || !scraper->wanted) {
		free(chosen);
		return -ENOMEM;
	}
	for (i = 0; !settings->entry_count && i < count; i++)
		scraper__choose(scraper, chosen, i);
	for (i = 0; i < settings->entry_count; i++) {
		if (!scraper__choose_by_name(scraper, chosen,
					     settings->entries[i]) &&
		    !scraper->absent)
			scraper->absent = settings->entries[i];
	}
	free(chosen);
	return 0;
}

static int scraper__plan_reads(struct scraper *scraper,
			       const struct dart_endpoint_accept *accept,
			       uint32_t value_bytes, struct dart_error *error)
{
	const struct dart_read *reads;
	uint32_t i, count;
	int err;

	err = dart_read_plan__new(scraper->table, scraper->wanted,
				  scraper->wanted_count, &scraper->plan);
	if (err == -ENOMEM)
		return dart_error__no_memory(error);
	err = budget__check(scraper->table, scraper->wanted,
			    scraper->wanted_count, scraper->plan, value_bytes,
			    error);
	if (err)
		return err;
	reads = dart_read_plan__reads(scraper->plan, &count);
	scraper->reads = calloc((size_t)count + 1, sizeof(*scraper->reads));
	if (!scraper->reads)
		return dart_error__no_memory(error);
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
			if (entry->entry->copies_are ==
			    DART_CONTROL_COPIES_ROW)
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
		 uint32_t value_bytes,
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
	err = scraper__choose_entries(scraper, settings);
	if (err)
		dart_error__no_memory(error);
	err = err ?: scraper__plan_reads(scraper, accept, value_bytes, error);
	if (!err && scraper__make_samples(scraper))
		err = dart_error__no_memory(error);
	if (err) {
		scraper__free(scraper);
		return err;
	}
	*scraperp = scraper;
	return 0;
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
	return dart_read_plan__landing_size(scraper->plan) +
	       sizeof(struct dart_control_header);
}

void scraper__land_at(struct scraper *scraper, size_t offset)
{
	/* The header lies behind all that the plan lands. */
	const size_t before = scraper__header_read(scraper)->landing -
			      dart_read_plan__landing_size(scraper->plan);
	uint32_t i;

	for (i = 0; i < scraper->read_count; i++)
		scraper->reads[i].landing += offset - before;
}

const struct dart_read *scraper__header_read(const struct scraper *scraper)
{
	return &scraper->reads[scraper->read_count - 1];
}

int scraper__check(const struct scraper *scraper, const void *landing)
{
	return dart_table__same(scraper->table,
				(const char *)landing +
				dart_read_plan__landing_size(scraper->plan));
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
