// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes a table into memory that adapters READ at the same time. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/private/table_layout.h>

#include "table_writer.h"

struct dart_table_writer {
	uint8_t *memory;
	size_t capacity;
	struct dart_layout layout;	/* of the table in @memory */
	struct dart_builder builder;
};

/*
 * The adapter READs @region while this writes.  Each fence keeps the stores
 * before it, including those of memcpy(), from becoming visible after the
 * stores that follow it.  So a reader that sees any byte of the new table, and
 * then reads generation_begin, sees the new number; and a reader that sees the
 * new generation_end, and then reads the rest, sees all of the new table.  A
 * READ need not read in either order: then the checksum fails.
 */
static void change__begin(void *region,
			  const struct dart_control_header *next)
{
	struct dart_control_header *header = region;

	__atomic_store_n(&header->generation_begin, next->generation_begin,
			 __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
}

static void change__end(void *region, const struct dart_control_header *next)
{
	const size_t begin = offsetof(struct dart_control_header, checksum);
	const size_t end = offsetof(struct dart_control_header, generation_end);
	struct dart_control_header *header = region;

	memcpy(region, next, offsetof(struct dart_control_header,
				      generation_begin));
	memcpy((uint8_t *)region + begin, (const uint8_t *)next + begin,
	       end - begin);
	atomic_thread_fence(memory_order_release);
	__atomic_store_n(&header->generation_end, next->generation_end,
			 __ATOMIC_RELAXED);
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
		     const struct dart_builder *builder,
		     const struct dart_table *table)
{
	struct dart_control_header header =
		dart_layout__header(layout, builder, table);
	uint8_t *bytes = calloc(1, layout->length);
	int i;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &header, sizeof(header));
	for (i = 0; i < DART_SECTIONS; i++) {
		if (builder->sections.of[i].count)
			memcpy(bytes + layout->offsets[i],
			       builder->sections.of[i].bytes,
			       (size_t)builder->sections.of[i].count *
			       dart_section_element[i]);
	}
	header.checksum = htole64(dart_table__checksum(bytes, layout->length));

	change__begin(region, &header);
	memcpy((uint8_t *)region + sizeof(header), bytes + sizeof(header),
	       layout->length - sizeof(header));
	change__end(region, &header);
	free(bytes);
	return 0;
}

/* Bytes of a section, as offsets in the table; empty if they are equal. */
struct span {
	uint32_t begin;
	uint32_t end;
};

/* @count elements of section @index from @first on. */
static struct span span_of(const struct dart_table_writer *writer, int index,
			   uint32_t first, uint32_t count)
{
	const uint32_t size = dart_section_element[index];
	const uint32_t begin = writer->layout.offsets[index] + first * size;

	return (struct span) { begin, begin + count * size };
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
static uint64_t sum_of_changed(const struct dart_table_writer *writer,
			       const struct span spans[DART_SECTIONS],
			       const struct dart_control_header *header)
{
	uint8_t first[DART_CONTROL_BLOCK];
	uint32_t next = 1;
	uint64_t sum;
	int i;

	memcpy(first, writer->memory,
	       writer->layout.length < sizeof(first) ?
	       writer->layout.length : sizeof(first));
	memcpy(first, header, sizeof(*header));
	sum = hash_block(writer, first, 0);

	for (i = 0; i < DART_SECTIONS; i++) {
		if (spans[i].begin == spans[i].end)
			continue;
		if (next < spans[i].begin / DART_CONTROL_BLOCK)
			next = spans[i].begin / DART_CONTROL_BLOCK;
		for (; next * DART_CONTROL_BLOCK < spans[i].end; next++)
			sum += hash_block(writer, writer->memory +
					  next * DART_CONTROL_BLOCK, next);
	}
	return sum;
}

/* Copies the changed bytes, one span for each section, from the builder. */
static void write_spans(struct dart_table_writer *writer,
			const struct span spans[DART_SECTIONS],
			const struct dart_table *table)
{
	const struct dart_control_header *now = (const void *)writer->memory;
	struct dart_control_header next =
		dart_layout__header(&writer->layout, &writer->builder, table);
	uint64_t checksum = le64toh(now->checksum) -
			    sum_of_changed(writer, spans, now);
	int i;

	change__begin(writer->memory, &next);
	for (i = 0; i < DART_SECTIONS; i++) {
		if (spans[i].begin < spans[i].end)
			memcpy(writer->memory + spans[i].begin,
			       writer->builder.sections.of[i].bytes +
			       (spans[i].begin - writer->layout.offsets[i]),
			       spans[i].end - spans[i].begin);
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
	if (dart_builder__init(&writer->builder)) {
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
	free(writer);
}

/* Lays @builder out again, with room to grow. */
static int writer__lay_out(struct dart_table_writer *writer,
			   const struct dart_builder *builder,
			   const struct dart_table *table)
{
	struct dart_layout layout;
	int ret;

	ret = dart_layout__make(&layout, builder, writer->capacity) ?:
	      write_all(writer->memory, &layout, builder, table);
	if (ret)
		return ret;
	writer->layout = layout;
	return layout.length;
}

int dart_table_writer__rewrite(struct dart_table_writer *writer,
			       const struct dart_table *table)
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

int dart_table_writer__append(struct dart_table_writer *writer,
			      const struct dart_table *more)
{
	const struct dart_builder_mark old =
		dart_builder__mark(&writer->builder);
	struct span spans[DART_SECTIONS];
	int i, ret;

	ret = dart_builder__add(&writer->builder, more);
	if (ret)
		return ret;
	if (!dart_layout__holds(&writer->layout, &writer->builder)) {
		ret = writer__lay_out(writer, &writer->builder, more);
		if (ret < 0)
			dart_builder__rollback(&writer->builder, &old);
		return ret;
	}

	for (i = 0; i < DART_SECTIONS; i++)
		spans[i] = span_of(writer, i, old.counts[i],
				   writer->builder.sections.of[i].count -
				   old.counts[i]);
	write_spans(writer, spans, more);
	return writer->layout.length;
}

int dart_table_writer__remove(struct dart_table_writer *writer,
			      const struct dart_table *rest, const char *name)
{
	struct span spans[DART_SECTIONS] = { };
	struct dart_error error;
	uint32_t index;
	int ret;

	if (dart_check__header(rest, &error))
		return -EINVAL;
	if (!dart_builder__has_cpu_sets(&writer->builder, rest))
		return -EAGAIN;
	ret = dart_builder__remove(&writer->builder, name, rest->generation,
				   &index);
	if (ret)
		return ret;
	spans[DART_SECTION_ENTRIES] =
		span_of(writer, DART_SECTION_ENTRIES, index, 1);
	write_spans(writer, spans, rest);
	return writer->layout.length;
}
