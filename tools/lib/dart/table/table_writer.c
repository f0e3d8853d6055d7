// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes a table into memory that adapters READ at the same time. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/table_layout_internal.h>

#include "table_writer.h"

struct dart_table_writer {
	uint8_t *memory;
	size_t capacity;
	struct dart_layout layout;	/* of the table in @memory */
	struct dart_builder builder;
	uint64_t *changed;	/* the generation that last changed each block of @memory */
};

/*
 * The adapter READs @region while this writes.  Each fence keeps the stores before it, including
 * the stores of memcpy(), from becoming visible after the stores that follow it.  So a reader that
 * sees any byte of the new table, and then reads generation_begin, sees the new number; and a
 * reader that sees the new generation_end, and then reads the rest, sees all of the new table.  A
 * READ need not read in either order: then the checksum fails.
 */
static void change__begin(void *region, const struct dart_control_header *next)
{
	struct dart_control_header *header = region;

	__atomic_store_n(&header->generation_begin, next->generation_begin, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
}

static void change__end(void *region, const struct dart_control_header *next)
{
	const size_t begin = offsetof(struct dart_control_header, checksum);
	const size_t end = offsetof(struct dart_control_header, generation_end);
	struct dart_control_header *header = region;

	memcpy(region, next, offsetof(struct dart_control_header, generation_begin));
	memcpy((uint8_t *)region + begin, (const uint8_t *)next + begin, end - begin);
	atomic_thread_fence(memory_order_release);
	__atomic_store_n(&header->generation_end, next->generation_end, __ATOMIC_RELAXED);
}

static_assert(offsetof(struct dart_control_header, checksum) ==
	      offsetof(struct dart_control_header, generation_begin) +
	      sizeof(__le64) &&
	      offsetof(struct dart_control_header, generation_end) +
	      sizeof(__le64) == sizeof(struct dart_control_header),
	      "change__end() writes all members but the generations");
static_assert(sizeof(struct dart_control_header) <= DART_CONTROL_BLOCK,
	      "the header is in the first block");

/* Writes the whole table, prepared aside to shorten the change. */
static int write_all(void *region, const struct dart_layout *layout,
		     const struct dart_builder *builder, const struct dart_table *table)
{
	struct dart_control_header header = dart_layout__header(layout, builder, table);
	uint8_t *bytes = calloc(1, layout->length);
	int i;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &header, sizeof(header));
	for (i = 0; i < DART_SECTIONS; i++) {
		if (builder->sections.of[i].count)
			memcpy(bytes + layout->offsets[i], builder->sections.of[i].bytes,
			       (size_t)builder->sections.of[i].count * dart_section_element[i]);
	}
	header.checksum = htole64(dart_table__checksum(bytes, layout->length));

	change__begin(region, &header);
	memcpy((uint8_t *)region + sizeof(header), bytes + sizeof(header),
	       layout->length - sizeof(header));
	change__end(region, &header);
	free(bytes);
	return 0;
}

/* The bytes from @begin to @end change with @generation. */
static void writer__note(struct dart_table_writer *writer, uint32_t begin, uint32_t end,
			 uint64_t generation)
{
	uint32_t i;

	for (i = begin / DART_CONTROL_BLOCK; i * (uint64_t)DART_CONTROL_BLOCK < end; i++)
		writer->changed[i] = generation;
}

/* Bytes of a section, as offsets in the table; empty if they are equal. */
struct span {
	uint32_t begin;
	uint32_t end;
	int section;
};

/* The spans that change, in the order of their offsets. */
struct spans {
	struct span *all;
	uint32_t count;
};

/* @count elements of section @index from @first on. */
static void spans__add(struct spans *spans, const struct dart_table_writer *writer, int index,
		       uint32_t first, uint32_t count)
{
	const uint32_t size = dart_section_element[index];
	const uint32_t begin = writer->layout.offsets[index] + first * size;

	spans->all[spans->count++] = (struct span){ begin, begin + count * size, index };
}

static uint64_t hash_block(const struct dart_table_writer *writer,
			   const uint8_t *block, uint32_t index)
{
	uint32_t left = writer->layout.length - index * DART_CONTROL_BLOCK;

	return dart_block__hash(block, left < DART_CONTROL_BLOCK ?
				       left : DART_CONTROL_BLOCK, index);
}

/*
 * The contribution to the checksum of the first block, with @header, and of all
 * blocks with a byte of @spans.
 */
static uint64_t sum_of_changed(const struct dart_table_writer *writer, const struct spans *spans,
			       const struct dart_control_header *header)
{
	uint8_t first[DART_CONTROL_BLOCK];
	uint32_t next = 1, i;
	uint64_t sum;

	memcpy(first, writer->memory,
	       writer->layout.length < sizeof(first) ? writer->layout.length : sizeof(first));
	memcpy(first, header, sizeof(*header));
	sum = hash_block(writer, first, 0);

	for (i = 0; i < spans->count; i++) {
		const struct span *span = &spans->all[i];

		if (span->begin == span->end)
			continue;
		if (next < span->begin / DART_CONTROL_BLOCK)
			next = span->begin / DART_CONTROL_BLOCK;
		for (; next * DART_CONTROL_BLOCK < span->end; next++)
			sum += hash_block(writer, writer->memory + next * DART_CONTROL_BLOCK, next);
	}
	return sum;
}

/* Copies the changed bytes from the builder. */
static void write_spans(struct dart_table_writer *writer, const struct spans *spans,
			const struct dart_table *table)
{
	const struct dart_control_header *now = (const void *)writer->memory;
	struct dart_control_header next =
		dart_layout__header(&writer->layout, &writer->builder, table);
	uint64_t checksum = le64toh(now->checksum) - sum_of_changed(writer, spans, now);
	uint32_t i;

	change__begin(writer->memory, &next);
	writer__note(writer, 0, sizeof(next), table->generation);
	for (i = 0; i < spans->count; i++) {
		const struct span *span = &spans->all[i];

		writer__note(writer, span->begin, span->end, table->generation);
		if (span->begin < span->end)
			memcpy(writer->memory + span->begin,
			       writer->builder.sections.of[span->section].bytes +
				       (span->begin - writer->layout.offsets[span->section]),
			       span->end - span->begin);
	}
	checksum += sum_of_changed(writer, spans, &next);
	next.checksum = htole64(checksum);
	change__end(writer->memory, &next);
}

struct dart_table_writer *dart_table_writer__new(void *memory, size_t capacity)
{
	struct dart_table_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->memory = memory;
	writer->capacity = capacity;
	writer->changed = calloc(capacity / DART_CONTROL_BLOCK + 1, sizeof(*writer->changed));
	if (!writer->changed || dart_builder__init(&writer->builder)) {
		free(writer->changed);
		free(writer);
		return NULL;
	}
	return writer;
}

void dart_table_writer__free(struct dart_table_writer *writer)
{
	if (!writer)
		return;
	dart_builder__release(&writer->builder);
	free(writer->changed);
	free(writer);
}

/* Lays @builder out again, with room to grow. */
static int writer__lay_out(struct dart_table_writer *writer, const struct dart_builder *builder,
			   const struct dart_table *table)
{
	struct dart_layout layout;
	int ret;

	ret = dart_layout__make(&layout, builder, writer->capacity) ?:
	      write_all(writer->memory, &layout, builder, table);
	if (ret)
		return ret;
	writer->layout = layout;
	writer__note(writer, 0, layout.length, table->generation);
	return layout.length;
}

int dart_table_writer__rewrite(struct dart_table_writer *writer, const struct dart_table *table)
{
	struct dart_builder builder;
	int ret;

	ret = dart_builder__init(&builder) ?:
	      dart_builder__add(&builder, table) ?:
	      writer__lay_out(writer, &builder, table);
	if (ret < 0) {
		dart_builder__release(&builder);
		return ret;
	}
	dart_builder__release(&writer->builder);
	writer->builder = builder;
	return ret;
}

/* The effects of a change on the builder so far, to be undone. */
struct change {
	struct dart_builder_mark mark;
	struct dart_builder_removal *removals;
	uint32_t count;
};

static void change__undo(struct change *change, struct dart_builder *builder)
{
	const uint64_t data = change->mark.data;

	dart_builder__rollback(builder, &change->mark);
	while (change->count)
		dart_builder__undo_removal(builder, &change->removals[--change->count]);
	builder->data = data;
}

static int change__remove(struct change *change, struct dart_builder *builder,
			  const char *const *names, uint32_t count, uint64_t generation)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++) {
		ret = dart_builder__remove(builder, names[i], generation, &change->removals[i]);
		change->count += !ret;
	}
	return ret;
}

static int compare_removals(const void *a, const void *b)
{
	const struct dart_builder_removal *one = a, *other = b;

	return (one->index > other->index) - (one->index < other->index);
}

/* Writes the effects of the change; -ENOMEM. */
static int writer__write(struct dart_table_writer *writer, const struct change *change,
			 const struct dart_table *table)
{
	const uint32_t *before = change->mark.counts;
	struct spans spans = {};
	uint32_t i;
	int section;

	spans.all = calloc((size_t)DART_SECTIONS + change->count, sizeof(*spans.all));
	if (!spans.all)
		return -ENOMEM;
	qsort(change->removals, change->count, sizeof(*change->removals), compare_removals);
	for (section = 0; section < DART_SECTIONS; section++) {
		for (i = 0; section == DART_SECTION_ENTRIES && i < change->count; i++)
			spans__add(&spans, writer, section, change->removals[i].index, 1);
		spans__add(&spans, writer, section, before[section],
			   writer->builder.sections.of[section].count - before[section]);
	}
	write_spans(writer, &spans, table);
	free(spans.all);
	return writer->layout.length;
}

int dart_table_writer__change(struct dart_table_writer *writer, const char *const *names,
			      uint32_t count, const struct dart_table *more)
{
	struct dart_builder *builder = &writer->builder;
	struct change change = { .mark = dart_builder__mark(builder) };
	int ret;

	change.removals = calloc((size_t)count + 1, sizeof(*change.removals));
	if (!change.removals)
		return -ENOMEM;
	ret = change__remove(&change, builder, names, count, more->generation) ?:
		      dart_builder__add(builder, more);
	if (!ret)
		ret = dart_layout__holds(&writer->layout, builder) ?
			      writer__write(writer, &change, more) :
			      writer__lay_out(writer, builder, more);
	if (ret < 0)
		change__undo(&change, builder);
	free(change.removals);
	return ret;
}

int dart_table_writer__append(struct dart_table_writer *writer, const struct dart_table *more)
{
	return dart_table_writer__change(writer, NULL, 0, more);
}

int dart_table_writer__remove(struct dart_table_writer *writer,
			      const struct dart_table *rest, const char *name)
{
	struct dart_table none = *rest;

	/* Only its other members replace the members of the table. */
	none.memory_region_count = 0;
	none.entry_count = 0;
	return dart_table_writer__change(writer, &name, 1, &none);
}

uint32_t dart_table_writer__changed(const struct dart_table_writer *writer, uint64_t generation,
				    uint32_t offset, uint32_t end, uint32_t *begin)
{
	const uint64_t *changed = writer->changed;
	const uint32_t last = end / DART_CONTROL_BLOCK;
	uint32_t first = offset / DART_CONTROL_BLOCK, next;

	while (first < last && changed[first] <= generation)
		first++;
	for (next = first; next < last && changed[next] > generation;)
		next++;
	*begin = first * DART_CONTROL_BLOCK;
	return (next - first) * DART_CONTROL_BLOCK;
}
