// SPDX-License-Identifier: GPL-2.0-only
/* Finds room for gathered records, and adds pages for more. */
#include "records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/host.h"

int records__open(struct records *records, struct region *region, struct exposure *exposure,
		  struct dart_error *error)
{
	*records = (struct records){
		.region = region,
		.exposure = exposure,
		.online = calloc(region->cpus / 64 + 1, sizeof(*records->online)),
	};
	return records->online ? 0 : dart_error__no_memory(error);
}

/* Extents are closed with the region, memory regions with the exposure. */
void records__close(struct records *records)
{
	free(records->pages);
	free(records->online);
}

uint32_t records__rows_in_use(const struct records *records, uint32_t rows)
{
	const uint32_t cpus = records->region->cpus;
	uint32_t i, count = 0;

	if (host__online_cpus(records->online, cpus))
		return rows;
	for (i = 0; i <= cpus / 64; i++)
		count += __builtin_popcountll(records->online[i]);
	return count && count < rows ? count : rows;
}

static enum dart_zero_record_form records__form(const struct source *source)
{
	return source->rows ? DART_ZERO_RECORD_COPIES : DART_ZERO_RECORD_SUM;
}

/* Describes a copy of the selected counters: @extent->length and @extent->name. */
static int records__describe(const struct records *records, const struct selector *selector,
			     struct dart_zero_extent *extent, struct dart_error *error)
{
	struct dart_zero_record record = {
		.form = records__form(selector->source),
	};
	int ret = region__add_record(records->region, selector, &record, error);

	if (ret)
		return ret;
	*extent = (struct dart_zero_extent){ .length = record.length };
	memcpy(extent->name, record.name, sizeof(extent->name));
	return 0;
}

static int records__add_pages(struct records *records, struct dart_error *error)
{
	const uint64_t page = records->region->page_size;
	struct dart_zero_extent *all, extent;
	uint64_t bytes = 0;
	uint32_t i;
	int ret;

	for (i = 0; i < records->count; i++)
		bytes += records->pages[i].pages * page;
	all = reallocarray(records->pages, records->count + 1, sizeof(*all));
	if (!all)
		return dart_error__no_memory(error);
	records->pages = all;

	ret = region__add_record_pages(records->region, records__next_bytes(bytes) / page, &extent,
				       error);
	if (ret)
		return ret;
	ret = exposure__open_slab(records->exposure, &extent, error);
	if (ret) {
		region__remove(records->region, extent.id);
		return ret;
	}
	all[records->count++] = extent;
	return 0;
}

static void records__remove_last_pages(struct records *records)
{
	const struct dart_zero_extent *last = &records->pages[--records->count];

	exposure__close_slab(records->exposure, last);
	region__remove(records->region, last->id);
}

/* Adds the record on the first pages with room for it.  @selector: NULL for memory of a process. */
static int records__place(const struct records *records, const struct selector *selector,
			  struct dart_zero_record *record, struct dart_error *error)
{
	int ret = -ENOSPC;
	uint32_t i;

	for (i = 0; i < records->count && ret == -ENOSPC; i++) {
		record->slab = records->pages[i].id;
		ret = selector ?
			      region__add_record(records->region, selector, record, error) :
			      region__add_process_record(records->region, record, error);
	}
	return ret;
}

static int records__place_or_grow(struct records *records, const struct selector *selector,
				  struct dart_zero_record *record, struct dart_error *error)
{
	int ret = records__place(records, selector, record, error);

	if (ret != -ENOSPC)
		return ret;
	ret = records__add_pages(records, error);
	if (ret)
		return ret;
	ret = records__place(records, selector, record, error);
	/* The region is full. */
	if (ret)
		records__remove_last_pages(records);
	return ret;
}

static struct dart_zero_extent extent_of(const struct dart_zero_record *record)
{
	return (struct dart_zero_extent){
		.id = record->id,
		.data = record->data,
		.length = record->length,
		.stride = record->length,
		.copies = record->rows,
	};
}

static int records__add(struct records *records, const struct selector *selector,
			const struct record_layout *layout, struct entry *entry,
			struct dart_error *error)
{
	const struct source *source = selector->source;
	struct dart_zero_record record = {
		.form = records__form(source),
		.pieces = (uintptr_t)layout->pieces,
		.piece_count = layout->piece_count,
	};
	int ret;

	ret = records__place_or_grow(records, selector, &record, error);
	if (ret)
		return ret;
	entry->schema = layout->schema;
	entry->extent = extent_of(&record);
	if (source->rows != SOURCE_ROWS_CPU)
		return 0;
	entry->cpu_rows = record.rows;
	entry->extent.copies = records__rows_in_use(records, record.rows);
	return 0;
}

int records__new_entry(struct records *records, struct source_schemas *schemas,
		       const struct selector *selector, struct entry **result,
		       struct dart_error *error)
{
	const struct source *source = selector->source;
	const struct record_layout *layout;
	struct dart_zero_extent copy;
	struct entry *entry;
	int ret;

	entry = entry__new(
		DART_CONTROL_ENTRY_SOURCE,
		source->selector ? DART_CONTROL_LIFETIME_DYNAMIC : DART_CONTROL_LIFETIME_IMMOBILE,
		source->rows ? DART_CONTROL_COPIES_ROW : DART_CONTROL_COPIES_SUM, selector->name);
	if (!entry)
		return dart_error__no_memory(error);
	entry->key = selector->key;
	entry->is_gathered = true;
	/* First, because its errors are the reasons why no record of the source is possible. */
	ret = region__take_source(records->region, source, error);
	if (!ret) {
		ret = records__describe(records, selector, &copy, error)			 ?:
			      source_schemas__get_record(schemas, source, &copy, &layout, error) ?:
			      records__add(records, selector, layout, entry, error);
		if (ret)
			region__give_source(records->region, source->id);
	}
	return entry__complete(entry, records->region, ret, result, error);
}

/* The rows of a record, as far as they are known without it. */
static void records__set_rows(const struct records *records, const struct source *source,
			      struct record_size *size)
{
	size->rows = 1;
	if (source->rows == SOURCE_ROWS_CPU)
		size->rows = records__rows_in_use(records, records->region->cpus);
	else if (source->rows == SOURCE_ROWS_NODE)
		size->rows = host__nodes();
	size->has_more_rows = source->rows == SOURCE_ROWS_PORT || source->rows == SOURCE_ROWS_DEVICE;
}

int records__measure(struct records *records, struct source_schemas *schemas,
		     const struct selector *selector, struct record_size *size,
		     struct dart_error *error)
{
	const struct source *source = selector->source;
	const struct record_layout *layout;
	struct dart_zero_extent copy;
	int ret = region__take_source(records->region, source, error);

	if (ret)
		return ret;
	ret = records__describe(records, selector, &copy, error) ?:
		      source_schemas__get_record(schemas, source, &copy, &layout, error);
	region__give_source(records->region, source->id);
	if (ret)
		return ret;
	records__set_rows(records, source, size);
	size->row_bytes = layout->schema->length;
	return 0;
}

int records__add_process(struct records *records, const struct process_memory *memory,
			 const struct record_layout *layout, uint32_t gather_ms,
			 struct entry *entry, struct dart_error *error)
{
	struct dart_zero_record record = {
		.interval_ms = gather_ms,
		.pieces = (uintptr_t)layout->pieces,
		.piece_count = layout->piece_count,
		.pid = memory->pid,
		.locations = (uintptr_t)memory->locations,
		.location_count = memory->location_count,
	};
	int ret = records__place_or_grow(records, NULL, &record, error);

	if (!ret)
		entry->extent = extent_of(&record);
	return ret;
}
