// SPDX-License-Identifier: GPL-2.0-only
/* Describes the values of a host of the farm in its control region. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "farm_table.h"

#define PAGE 4096

/* Bytes of an entry with its range and its name, and room to grow. */
#define ENTRY_BYTES 256

void farm_entry__name(const struct farm_shape *shape, uint32_t entry, char name[FARM_NAME_MAX])
{
	if (entry == farm_shape__extra(shape))
		snprintf(name, FARM_NAME_MAX, FARM_EXTRA_NAME);
	else if (shape->form == FARM_ROWS)
		snprintf(name, FARM_NAME_MAX, "farm:rows");
	else
		snprintf(name, FARM_NAME_MAX, "farm:record/%u", entry);
}

size_t farm_table__capacity(const struct farm_shape *shape)
{
	const size_t bytes = PAGE + (shape->entries + 1) * ENTRY_BYTES;

	return (bytes + PAGE - 1) / PAGE * PAGE;
}

static int64_t clock_offset_ns(void)
{
	struct timespec real, boot;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (real.tv_sec - boot.tv_sec) * 1000000000LL + real.tv_nsec - boot.tv_nsec;
}

/* An empty table of the next generation. */
static struct dart_table next_table(const struct farm_table *table)
{
	struct dart_table next = {
		.generation = table->generation + 1,
		.instance = farm_rule__instance(table->host, table->epoch),
		.clock_offset_ns = clock_offset_ns(),
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 1,
		.page_size = PAGE,
		.lease_ms = 2 * DART_CONTROL_RETRIES_MS,
	};

	farm_rule__id(table->host, 0, next.host_id);
	farm_rule__id(table->host, table->epoch, next.boot_id);
	snprintf(next.node_name, sizeof(next.node_name), "farm-%u", table->host);
	return next;
}

/* Describes entry @entry, whose first byte is at @address of memory region @region. */
static struct dart_entry describe(const struct farm_table *table, uint32_t entry,
				  char name[FARM_NAME_MAX], struct dart_range *range,
				  uint64_t address, uint32_t region)
{
	const struct farm_shape *shape = table->shape;
	const bool has_rows = shape->form == FARM_ROWS;

	*range = (struct dart_range){
		.address = address,
		.stride = farm_shape__row(shape),
		.memory_region = region,
		.copies = shape->copies,
		.length = farm_shape__row(shape),
	};
	farm_entry__name(shape, entry, name);
	return (struct dart_entry){
		.name = name,
		.schema = table->schema,
		.kind = has_rows ? DART_CONTROL_ENTRY_MAP : DART_CONTROL_ENTRY_SOURCE,
		.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
		.copies_are = has_rows ? DART_CONTROL_COPIES_ROW : DART_CONTROL_COPIES_SUM,
		.copies = shape->copies,
		.ranges = range,
		.range_count = 1,
	};
}

/* Notes the result @ret of publishing @next. */
static int farm_table__take(struct farm_table *table, const struct dart_table *next,
			    uint32_t memory_regions, int ret, struct dart_error *error)
{
	if (ret < 0)
		return dart_error__system(error, -ret, "cannot publish the table of host %u",
					  table->host);
	table->generation = next->generation;
	table->memory_regions = memory_regions;
	table->used = ret;
	return 0;
}

/* The objects of a table with all entries. */
struct content {
	struct dart_memory_region regions[2];
	struct dart_entry *entries;
	struct dart_range *ranges;
	char (*names)[FARM_NAME_MAX];
};

static int content__open(struct content *content, uint32_t entries)
{
	content->entries = calloc(entries, sizeof(*content->entries));
	content->ranges = calloc(entries, sizeof(*content->ranges));
	content->names = calloc(entries, sizeof(*content->names));
	return content->entries && content->ranges && content->names ? 0 : -ENOMEM;
}

static void content__close(struct content *content)
{
	free(content->entries);
	free(content->ranges);
	free(content->names);
}

/* @extra: NULL, or where the extra entry is. */
static int farm_table__rewrite(struct farm_table *table, const struct dart_memory_region *extra,
			       struct dart_error *error)
{
	const struct farm_shape *shape = table->shape;
	struct dart_table next = next_table(table);
	struct content content = { .regions = { table->values } };
	uint32_t i;
	int ret;

	ret = content__open(&content, shape->entries + 1);
	if (ret)
		goto close;
	next.memory_regions = content.regions;
	next.memory_region_count = 1;
	next.entries = content.entries;
	for (i = 0; i < shape->entries; i++) {
		next.entries[i] = describe(table, i, content.names[i], &content.ranges[i],
					   table->values.address + i * farm_shape__entry(shape), 0);
		next.entries[i].since = 1;
	}
	next.entry_count = i;
	if (extra) {
		content.regions[next.memory_region_count++] = *extra;
		next.entries[next.entry_count++] =
			describe(table, i, content.names[i], &content.ranges[i], extra->address, 1);
	}
	ret = dart_table_writer__rewrite(table->writer, &next);
close:
	ret = farm_table__take(table, &next, next.memory_region_count, ret, error);
	content__close(&content);
	return ret;
}

int farm_table__open(struct farm_table *table, void *memory, const struct farm_shape *shape,
		     const struct dart_schema *schema, uint32_t host, uint32_t epoch,
		     const struct dart_memory_region *values, struct dart_error *error)
{
	int ret;

	*table = (struct farm_table){
		.shape = shape,
		.schema = schema,
		.host = host,
		.epoch = epoch,
		.values = *values,
	};
	table->writer = dart_table_writer__new(memory, farm_table__capacity(shape));
	if (!table->writer)
		return dart_error__no_memory(error);
	ret = farm_table__rewrite(table, NULL, error);
	if (ret)
		farm_table__close(table);
	return ret;
}

void farm_table__close(struct farm_table *table)
{
	dart_table_writer__free(table->writer);
	table->writer = NULL;
}

/* Like an agent: it appends while there is room, then it writes all again. */
int farm_table__add(struct farm_table *table, const struct dart_memory_region *extra,
		    struct dart_error *error)
{
	struct dart_memory_region region = *extra;
	struct dart_table more = next_table(table);
	char name[FARM_NAME_MAX];
	struct dart_range range;
	struct dart_entry entry;
	int ret;

	if (table->has_extra)
		return dart_error__set(error, EEXIST, "host %u has its extra entry", table->host);
	entry = describe(table, farm_shape__extra(table->shape), name, &range, extra->address,
			 table->memory_regions);
	more.memory_regions = &region;
	more.memory_region_count = 1;
	more.entries = &entry;
	more.entry_count = 1;
	ret = dart_table_writer__append(table->writer, &more);
	if (ret == -ENOSPC || ret == -EAGAIN)
		ret = farm_table__rewrite(table, extra, error);
	else
		ret = farm_table__take(table, &more, table->memory_regions + 1, ret, error);
	table->has_extra = !ret;
	return ret;
}

int farm_table__remove(struct farm_table *table, struct dart_error *error)
{
	struct dart_table rest = next_table(table);
	int ret;

	if (!table->has_extra)
		return dart_error__set(error, ENOENT, "host %u has no extra entry", table->host);
	ret = dart_table_writer__remove(table->writer, &rest, FARM_EXTRA_NAME);
	if (ret == -EAGAIN)
		ret = farm_table__rewrite(table, NULL, error);
	else
		ret = farm_table__take(table, &rest, table->memory_regions, ret, error);
	table->has_extra = ret != 0;
	return ret;
}
