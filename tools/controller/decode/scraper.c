// SPDX-License-Identifier: GPL-2.0-only
/* Plans the READs of one table, checks and decodes the returned bytes. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>
#include <libdart/prefetch.h>
#include <libdart/table/schema.h>
#include <libdart/table/value.h>

#include "budget.h"
#include "scraper.h"

/* Bytes of a piece of memory: a processor that reads on from there finds the next ones itself. */
#define AHEAD_BYTES (4 * DART_CACHE_LINE)

/* The entries to scrape, while they are chosen. */
struct choice {
	const struct dart_table *table;
	bool *chosen; /* indexed like table->entries */
	uint32_t *wanted; /* indices of the chosen entries */
	uint32_t wanted_count;
};

/* Adds an entry once, even if several names and patterns choose it. */
static void choice__add(struct choice *choice, uint32_t index)
{
	if (choice->chosen[index])
		return;
	choice->chosen[index] = true;
	choice->wanted[choice->wanted_count++] = index;
}

/* Finds the entry with the shortest interval among "NAME+INTERVAL". */
static const struct dart_entry *find_gathered(const struct dart_table *table, const char *name)
{
	const size_t wanted = strlen(name);
	const struct dart_entry *found = NULL;
	uint32_t i, ms, least = UINT32_MAX;
	size_t length;

	for (i = 0; i < table->entry_count; i++) {
		/* Most entries have other names, so compare the beginning first. */
		if (strncmp(table->entries[i].name, name, wanted))
			continue;
		ms = dart_gathered_name__ms(table->entries[i].name, &length);
		if (!ms || length != wanted || ms >= least)
			continue;
		least = ms;
		found = &table->entries[i];
	}
	return found;
}

/* Matches @pattern with the name of the entry, or with the name without its interval. */
static bool matches(const char *pattern, const char *name, bool is_gathered)
{
	bool is_match;
	size_t length;
	char *before;

	if (!is_gathered)
		return !fnmatch(pattern, name, 0);
	if (!dart_gathered_name__ms(name, &length))
		return false;
	before = strndup(name, length);
	is_match = before && !fnmatch(pattern, before, 0);
	free(before);
	return is_match;
}

static bool choice__add_by_pattern(struct choice *choice, const char *pattern, bool is_gathered)
{
	const struct dart_table *table = choice->table;
	bool found = false;
	uint32_t i;

	for (i = 0; i < table->entry_count; i++) {
		if (!matches(pattern, table->entries[i].name, is_gathered))
			continue;
		choice__add(choice, i);
		found = true;
	}
	return found;
}

/*
 * Finds entries by name, or as a pattern if no entry has this name; then by names without
 * intervals.  True if any was found.
 */
static bool choice__add_by_name(struct choice *choice, const char *name)
{
	const struct dart_table *table = choice->table;
	const struct dart_entry *entry = dart_table__find(table, name) ?:
									 find_gathered(table, name);

	if (entry)
		choice__add(choice, entry - table->entries);
	if (entry || !strpbrk(name, "*?["))
		return entry;
	return choice__add_by_pattern(choice, name, false) ||
	       choice__add_by_pattern(choice, name, true);
}

/* The caller frees @choice->wanted. */
static int choice__make(struct choice *choice, const struct settings *settings, const char **absent)
{
	const uint32_t count = choice->table->entry_count;
	size_t i;

	choice->chosen = calloc((size_t)count + 1, sizeof(*choice->chosen));
	choice->wanted = calloc((size_t)count + 1, sizeof(*choice->wanted));
	if (!choice->chosen || !choice->wanted) {
		free(choice->chosen);
		free(choice->wanted);
		return -ENOMEM;
	}
	for (i = 0; !settings->entry_count && i < count; i++)
		choice__add(choice, i);
	for (i = 0; i < settings->entry_count; i++) {
		if (!choice__add_by_name(choice, settings->entries[i]) && !*absent)
			*absent = settings->entries[i];
	}
	free(choice->chosen);
	return 0;
}

/*
 * Creates the catalog of @table for this host; other hosts do not share it yet, so its addresses
 * are this host's.
 */
static int scraper__make_catalog(struct scraper *scraper, struct dart_table *table,
				 const struct settings *settings, const struct scraper_use *use,
				 struct dart_error *error)
{
	struct choice choice = { .table = table };
	int err;

	if (choice__make(&choice, settings, &scraper->absent)) {
		dart_table__free(table);
		return dart_error__no_memory(error);
	}
	err = catalog__new(use->catalogs, table, choice.wanted, choice.wanted_count,
			   &scraper->catalog);
	if (err == -ENOMEM)
		return dart_error__no_memory(error);
	return budget__check(table, choice.wanted, choice.wanted_count, scraper->catalog->plan,
			     use->value_bytes, error);
}

/* Copies the parts that differ between hosts with the same catalog. */
static int scraper__copy_header(struct scraper *scraper)
{
	const struct dart_table *table = scraper->catalog->table;
	const uint32_t words = dart_table__cpu_words(table);

	scraper->table = *table;
	scraper->table.memory_regions = NULL;
	scraper->table.memory_region_count = 0;
	scraper->cpu_sets = malloc(2 * words * sizeof(*scraper->cpu_sets));
	if (!scraper->cpu_sets)
		return -ENOMEM;
	memcpy(scraper->cpu_sets, table->online, words * sizeof(*table->online));
	memcpy(scraper->cpu_sets + words, table->nohz_full, words * sizeof(*table->nohz_full));
	scraper->table.online = scraper->cpu_sets;
	scraper->table.nohz_full = scraper->cpu_sets + words;
	return 0;
}

static int scraper__copy_reads(struct scraper *scraper, const struct dart_endpoint_accept *accept)
{
	const struct dart_read_plan *plan = scraper->catalog->plan;
	const struct dart_read *reads;
	uint32_t i, count;

	reads = dart_read_plan__reads(plan, &count);
	scraper->reads = calloc((size_t)count + 1, sizeof(*scraper->reads));
	if (!scraper->reads)
		return -ENOMEM;
	if (count)
		memcpy(scraper->reads, reads, count * sizeof(*reads));

	scraper->reads[count] = (struct dart_read){
		.address = accept->address,
		.rkey = accept->rkey,
		.length = sizeof(struct dart_control_header),
		.landing = dart_read_plan__landing_size(plan),
	};
	scraper->read_count = count + 1;
	for (i = 0; i <= count; i++)
		scraper->bytes += scraper->reads[i].length;
	return 0;
}

/* Exchanges the catalog for the shared one, and takes its entries. */
static int scraper__share_catalog(struct scraper *scraper, struct catalogs *catalogs)
{
	scraper->catalog = catalog__share(catalogs, scraper->catalog);
	if (!scraper->catalog)
		return -ENOMEM;
	scraper->table.entries = scraper->catalog->table->entries;
	scraper->table.by_name = scraper->catalog->table->by_name;
	return 0;
}

/* Sums of the copies are kept only of samples that are compared. */
static size_t scraper__sums_size(const struct scraper *scraper, const struct dart_entry *entry)
{
	if (!scraper->is_compared || entry->copies == 1 ||
	    entry->copies_are == DART_CONTROL_COPIES_ROW)
		return 0;
	return (sample__elements(entry->schema) + 1) * sizeof(uint64_t);
}

static size_t scraper__copies_size(const struct dart_entry *entry)
{
	const size_t to = sizeof(uint64_t);

	return (dart_entry__size(entry) + to - 1) / to * to;
}

static const struct dart_entry *scraper__entry(const struct scraper *scraper, uint32_t i)
{
	return &scraper->catalog->table->entries[scraper->catalog->wanted[i]];
}

/* Bounded by the budget of a scrape, which was checked. */
static size_t scraper__sample_size(const struct scraper *scraper)
{
	const uint32_t count = scraper->catalog->wanted_count;
	size_t size = (count + 1) * sizeof(struct sample_entry);
	uint32_t i;

	for (i = 0; i < count; i++)
		size += scraper__copies_size(scraper__entry(scraper, i)) +
			scraper__sums_size(scraper, scraper__entry(scraper, i));
	return size;
}

/* In one piece, because a worker reads it from its beginning to its end. */
static int scraper__make_sample(struct scraper *scraper, struct sample *sample)
{
	const uint32_t count = scraper->catalog->wanted_count;
	struct sample_entry *entry;
	size_t sums;
	char *next;

	sample->table = &scraper->table;
	sample->entries = calloc(1, scraper__sample_size(scraper));
	if (!sample->entries)
		return -ENOMEM;
	sample->entry_count = count;
	next = (char *)(sample->entries + count + 1);
	for (entry = sample->entries; entry < sample->entries + count; entry++) {
		entry->entry = scraper__entry(scraper, entry - sample->entries);
		entry->copies = next;
		next += scraper__copies_size(entry->entry);
		sums = scraper__sums_size(scraper, entry->entry);
		entry->sums = sums ? (uint64_t *)next : NULL;
		next += sums;
	}
	return 0;
}

/* Accepts only rows of a gatherer: other writers may use any clock. */
static bool is_clock_source(const struct dart_entry *entry, uint64_t *interval_ns)
{
	const struct dart_schema *schema = entry->schema;
	size_t length;
	uint32_t i;

	if (entry->kind != DART_CONTROL_ENTRY_SOURCE ||
	    entry->copies_are == DART_CONTROL_COPIES_CPU)
		return false;
	*interval_ns = dart_gathered_name__ms(entry->name, &length) * 1000000ULL;
	for (i = 0; *interval_ns && i < schema->field_count; i++)
		if (schema->fields[i].kind == DART_CONTROL_FIELD_TIME)
			return true;
	return false;
}

/*
 * Prefers the entry that tells both clocks of its host, then the entry with the shortest interval.
 */
static void scraper__choose_clock_source(struct scraper *scraper)
{
	static const char load[] = "load+";
	struct clock_source *source = &scraper->clock_source;
	const struct sample *sample = &scraper->samples[0];
	const struct dart_entry *entry;
	uint64_t interval_ns;
	bool is_load;
	uint32_t i;

	for (i = 0; i < sample->entry_count; i++) {
		entry = sample->entries[i].entry;
		if (!is_clock_source(entry, &interval_ns))
			continue;
		is_load = !strncmp(entry->name, load, strlen(load));
		if (source->is_there &&
		    (is_load == !!source->boot_time ? interval_ns >= source->interval_ns :
						      !is_load))
			continue;
		*source = (struct clock_source){
			.is_there = true,
			.entry = i,
			.interval_ns = interval_ns,
		};
		if (is_load)
			source->boot_time = dart_schema__find(entry->schema, "boot_time");
	}
}

static int scraper__make_samples(struct scraper *scraper)
{
	int err = scraper__make_sample(scraper, &scraper->samples[0]);

	if (!err && scraper->is_compared)
		err = scraper__make_sample(scraper, &scraper->samples[1]);
	return err;
}

int scraper__new(struct dart_table *table, const struct settings *settings,
		 const struct scraper_use *use, const struct dart_endpoint_accept *accept,
		 struct scraper **scraperp, struct dart_error *error)
{
	struct scraper *scraper = calloc(1, sizeof(*scraper));
	int err;

	if (!scraper) {
		dart_table__free(table);
		return dart_error__no_memory(error);
	}
	scraper->is_compared = use->is_compared;
	err = scraper__make_catalog(scraper, table, settings, use, error);
	if (!err &&
	    (scraper__copy_header(scraper) || scraper__copy_reads(scraper, accept) ||
	     scraper__share_catalog(scraper, use->catalogs) || scraper__make_samples(scraper)))
		err = dart_error__no_memory(error);
	if (err) {
		scraper__free(scraper);
		return err;
	}
	scraper__choose_clock_source(scraper);
	*scraperp = scraper;
	return 0;
}

void scraper__free(struct scraper *scraper)
{
	if (!scraper)
		return;
	free(scraper->samples[0].entries);
	free(scraper->samples[1].entries);
	free(scraper->reads);
	free(scraper->cpu_sets);
	if (scraper->catalog)
		content__release(&scraper->catalog->content);
	free(scraper);
}

size_t scraper__landing_size(const struct scraper *scraper)
{
	return dart_read_plan__landing_size(scraper->catalog->plan) +
	       sizeof(struct dart_control_header);
}

void scraper__land_at(struct scraper *scraper, size_t offset)
{
	/* The header lands directly after all data of the plan. */
	const size_t before = scraper__header_read(scraper)->landing -
			      dart_read_plan__landing_size(scraper->catalog->plan);
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
	return dart_table__same(&scraper->table,
				(const char *)landing +
					dart_read_plan__landing_size(scraper->catalog->plan));
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
				sum[i] = dart_entry__sum(entry->entry, field, entry->copies, i);
		}
		sum += field->count;
	}
}

void scraper__ahead(const struct scraper *scraper, const void *landing)
{
	const struct sample *sample = scraper->samples;

	dart_prefetch(landing, AHEAD_BYTES);
	for (; sample < scraper->samples + 1 + scraper->is_compared; sample++)
		dart_prefetch(sample->entries, AHEAD_BYTES);
}

struct sample *scraper__decode(struct scraper *scraper, const void *landing)
{
	const struct catalog *catalog = scraper->catalog;
	struct sample *sample = &scraper->samples[scraper->turn];
	uint32_t i;

	if (scraper->is_compared) {
		scraper->turn = !scraper->turn;
		sample->previous = scraper->has_previous ? &scraper->samples[scraper->turn] : NULL;
		scraper->has_previous = true;
	}
	for (i = 0; i < sample->entry_count; i++) {
		dart_read_plan__gather(catalog->plan, catalog->wanted[i], landing,
				       sample->entries[i].copies);
		if (sample->entries[i].sums)
			add_up(&sample->entries[i]);
	}
	return sample;
}
