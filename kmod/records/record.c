// SPDX-License-Identifier: GPL-2.0-only
/* Gathered records: their counters, and the rows into which the counters are copied. */
#include "record.h"

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kmod/extents/extent.h"
#include "kmod/extents/percpu.h"
#include "kmod/extents/record_pages.h"
#include "kmod/windows/window.h"

static_assert(sizeof(struct dart_zero_record_line) == DART_ZERO_RECORD_LINE);

/* Words of a row before its values: the time, and in some forms the number of the CPU. */
static u32 words_before(u32 form)
{
	return form == DART_ZERO_RECORD_COPIES ? 2 : 1;
}

/* Counts the words of a row.  -EINVAL: a piece is outside of the copy. */
static int count_words(struct dart_record *record)
{
	const struct dart_zero_piece *piece = record->pieces;
	size_t bytes = words_before(record->form) * sizeof(u64);
	u32 i;

	for (i = 0; i < record->piece_count; i++, piece++) {
		if (piece->width != 1 && piece->width != 2 &&
		    piece->width != 4 && piece->width != 8)
			return -EINVAL;
		if (!piece->count || piece->offset % piece->width ||
		    piece->offset > record->length ||
		    (record->length - piece->offset) / piece->width < piece->count)
			return -EINVAL;
		bytes = ALIGN(bytes, piece->width) + piece->width * piece->count;
		if (bytes > DART_ZERO_RECORD_WORDS_MAX * sizeof(u64))
			return -EINVAL;
	}
	record->words = DIV_ROUND_UP(bytes, sizeof(u64));
	return 0;
}

static int open_percpu(struct dart_record *record, const struct dart_zero_window *window)
{
	struct dart_percpu *percpu = dart_window_open_percpu(window);

	if (IS_ERR(percpu))
		return PTR_ERR(percpu);
	record->percpu = percpu;
	record->length = percpu->length;
	record->payer = percpu->payer;
	return 0;
}

static int open_sampler(struct dart_record *record, const struct dart_zero_record *selected)
{
	const bool is_copies = record->form == DART_ZERO_RECORD_COPIES;
	struct dart_sampler *sampler = dart_sampler_open(selected);

	if (IS_ERR(sampler))
		return PTR_ERR(sampler);
	if (is_copies != !!sampler->kind->sample_row) {
		dart_sampler_free(sampler);
		return -EINVAL;
	}
	record->sampler = sampler;
	record->length = dart_sampler_length(sampler);
	record->payer = sampler->payer;
	return 0;
}

/* Opens the counters that @selected selects. */
static int open_counters(struct dart_record *record, const struct dart_zero_record *selected)
{
	const struct dart_zero_window window = {
		.source = selected->source,
		.fd = selected->fd,
		.netns = selected->netns,
		.ifindex = selected->ifindex,
	};

	record->form = selected->form;
	if (dart_sampler_has(selected->source))
		return open_sampler(record, selected);
	if (selected->source != DART_ZERO_SOURCE_GATHERING)
		return open_percpu(record, &window);
	if (selected->fd != -1 || selected->netns || selected->ifindex ||
	    selected->form != DART_ZERO_RECORD_SUM)
		return -EINVAL;
	record->length = sizeof(struct dart_zero_gathering);
	return 0;
}

static void close_counters(struct dart_record *record)
{
	if (record->percpu)
		dart_percpu_put(record->percpu);
	if (record->sampler)
		dart_sampler_free(record->sampler);
}

static const char *counters_name(const struct dart_record *record)
{
	if (record->percpu)
		return record->percpu->name;
	return record->sampler ? record->sampler->kind->name : "dart_zero_gathering";
}

int dart_record_describe(struct dart_zero_record *described)
{
	struct dart_record record = { };
	int ret = open_counters(&record, described);

	if (ret)
		return ret;
	described->length = record.length;
	strscpy(described->name, counters_name(&record), sizeof(described->name));
	close_counters(&record);
	return 0;
}

static u32 rows_of(const struct dart_record *record)
{
	if (record->form != DART_ZERO_RECORD_COPIES)
		return 1;
	return record->sampler ? record->sampler->rows : num_possible_cpus();
}

static int prepare_sum(struct dart_record *record)
{
	if (!record->percpu || !record->percpu->prepare || record->form != DART_ZERO_RECORD_SUM)
		return 0;
	record->is_summed_together = true;
	return record->percpu->prepare(record->percpu);
}

struct dart_record *dart_record_new(const struct dart_zero_record *selected,
				    const struct dart_zero_piece *pieces)
{
	struct dart_record *record;
	int ret;

	record = kvzalloc(struct_size(record, pieces, selected->piece_count), GFP_KERNEL_ACCOUNT);
	if (!record)
		return ERR_PTR(-ENOMEM);
	record->piece_count = selected->piece_count;
	memcpy(record->pieces, pieces, array_size(selected->piece_count, sizeof(*pieces)));
	INIT_LIST_HEAD(&record->link);
	dart_event_init(&record->gone, DART_ZERO_EVENT_RECORD_GONE);

	ret = open_counters(record, selected) ?: count_words(record) ?: prepare_sum(record);
	if (ret)
		goto err_record;
	record->row_lines = DIV_ROUND_UP(record->words, DART_ZERO_RECORD_LINE_WORDS);
	record->rows = rows_of(record);
	return record;

err_record:
	dart_record_free(record);
	return ERR_PTR(ret);
}

void dart_record_free(struct dart_record *record)
{
	close_counters(record);
	kvfree(record);
}

int dart_record_place(struct dart_record *record, const struct dart_extent *extent, u64 *data)
{
	struct dart_record_pages *pages = dart_record_pages_of(extent);
	int ret;

	if (!pages)
		return -ENOENT;
	ret = dart_record_pages_take(pages, record->rows * record->row_lines,
				     &record->first_line, &record->sequence);
	if (ret)
		return ret;
	record->pages = pages;
	*data = (u64)record->first_line * DART_ZERO_RECORD_LINE;
	return 0;
}

static struct dart_zero_record_line *line_at(const struct dart_record *record, u32 row, u32 line)
{
	return dart_record_pages_line(record->pages,
				      record->first_line + row * record->row_lines + line);
}

/* The next even sequence that is not that of an empty row. */
static u32 next_sequence(const struct dart_record *record)
{
	return record->sequence + 2 ?: 2;
}

static void row_set_sequence(struct dart_record *record, u32 row, u32 sequence)
{
	struct dart_zero_record_line *line;
	u32 i;

	for (i = 0; i < record->row_lines; i++) {
		line = line_at(record, row, i);
		WRITE_ONCE(line->sequence, sequence);
		WRITE_ONCE(line->last_sequence, sequence);
	}
}

/*
 * A reader READs a line from either end, or at one moment.  So a value that changed comes with an
 * odd sequence, or with another one, at one end.
 */
static void row_write(struct dart_record *record, u32 row, const u64 *values)
{
	struct dart_zero_record_line *line;
	u32 done = 0, i, j;

	row_set_sequence(record, row, record->sequence + 1);
	dma_wmb();	/* before the first word changes, for adapters, too */
	for (i = 0; i < record->row_lines; i++) {
		line = line_at(record, row, i);
		for (j = 0; j < ARRAY_SIZE(line->words); j++)
			line->words[j] = done < record->words ? values[done++] : 0;
	}
	dma_wmb();	/* after the last word */
	row_set_sequence(record, row, next_sequence(record));
}

static void row_clear(struct dart_record *record, u32 row)
{
	struct dart_zero_record_line *line;
	u32 i;

	row_set_sequence(record, row, record->sequence + 1);
	dma_wmb();	/* before the first word changes */
	for (i = 0; i < record->row_lines; i++) {
		line = line_at(record, row, i);
		memset(line->words, 0, sizeof(line->words));
	}
	dma_wmb();	/* after the last word */
	row_set_sequence(record, row, 0);
}

void dart_record_displace(struct dart_record *record)
{
	u32 row;

	for (row = 0; row < record->used_rows; row++)
		row_clear(record, row);
	dart_record_pages_give(record->pages, record->first_line, record->rows * record->row_lines,
			       next_sequence(record));
	record->pages = NULL;
}

#define ADD(type)							\
	do {								\
		const type *element = (const type *)(copy + piece->offset); \
		type *sum = (type *)((char *)values + at);		\
									\
		for (i = 0; i < piece->count; i++)			\
			sum[i] += READ_ONCE(element[i]);		\
	} while (0)

/* Adds the elements of all pieces of @copy to those of the row in @values. */
static void add_copy(const struct dart_record *record, const char *copy, u64 *values)
{
	const struct dart_zero_piece *piece = record->pieces;
	size_t at = words_before(record->form) * sizeof(u64);
	u32 i;

	for (; piece < record->pieces + record->piece_count; piece++) {
		at = ALIGN(at, piece->width);
		switch (piece->width) {
		case 8:
			ADD(u64);
			break;
		case 4:
			ADD(u32);
			break;
		case 2:
			ADD(u16);
			break;
		default:
			ADD(u8);
		}
		at += piece->width * piece->count;
	}
}

/* The copy of @cpu: the kernel's own memory, or up-to-date values in @buffer. */
static const char *copy_of(const struct dart_record *record, unsigned int cpu,
			   struct dart_record_buffer *buffer)
{
	const struct dart_percpu *percpu = record->percpu;

	if (!percpu->read)
		return per_cpu_ptr((const char __percpu *)percpu->variable, cpu);
	percpu->read(cpu, buffer->sample);
	return (const char *)buffer->sample;
}

static void gather_sum(struct dart_record *record, u64 now, struct dart_record_buffer *buffer)
{
	u64 *values = buffer->values;
	unsigned int cpu;

	memset(values, 0, array_size(record->words, sizeof(*values)));
	values[0] = now;
	if (record->percpu->sum) {
		memset(buffer->sample, 0, record->percpu->length);
		record->percpu->sum(record->percpu, buffer->sample);
		add_copy(record, (const char *)buffer->sample, values);
		row_write(record, 0, values);
		record->used_rows = 1;
		return;
	}
	/* A CPU that is offline now may have counted before. */
	for_each_possible_cpu(cpu)
		add_copy(record, copy_of(record, cpu, buffer), values);
	row_write(record, 0, values);
	record->used_rows = 1;
}

/* Gathers a record that has only one copy. */
static void gather_one(struct dart_record *record, u64 time, const void *copy, u64 *values)
{
	memset(values, 0, array_size(record->words, sizeof(*values)));
	values[0] = time;
	add_copy(record, copy, values);
	row_write(record, 0, values);
	record->used_rows = 1;
}

/* Returns false if the object has ended. */
static bool gather_sample(struct dart_record *record, u64 time,
			  struct dart_record_buffer *buffer, struct dart_zero_gathering *cost)
{
	struct dart_sampler *sampler = record->sampler;
	int ret;

	memset(buffer->sample, 0, dart_sampler_length(sampler));
	ret = sampler->kind->sample(sampler, buffer->sample, &time);
	if (!ret) {
		gather_one(record, time, buffer->sample, buffer->values);
	} else if ((ret == -ENODATA || ret == -EFAULT) && record->used_rows) {
		row_clear(record, 0);
		record->used_rows = 0;
	}
	cost->stale += ret == -EAGAIN;
	cost->unreadable += ret == -EFAULT;
	return ret != -ENODEV;
}

/* Writes one row of several. */
static void write_copy(struct dart_record *record, u32 row, u64 time,
		       u64 number, const void *copy, u64 *values)
{
	memset(values, 0, array_size(record->words, sizeof(*values)));
	values[0] = time;
	values[1] = number;
	add_copy(record, copy, values);
	row_write(record, row, values);
	record->used_rows = max(record->used_rows, row + 1);
}

static void set_used_rows(struct dart_record *record, u32 rows)
{
	while (record->used_rows > rows)
		row_clear(record, --record->used_rows);
	record->used_rows = rows;
}

/* Returns false if the object has ended. */
static bool gather_sampled_rows(struct dart_record *record, u64 now,
				struct dart_record_buffer *buffer, u64 *stale)
{
	struct dart_sampler *sampler = record->sampler;
	u32 index, row = 0;
	u64 time, number;
	int ret;

	for (index = 0; index < sampler->indices && row < record->rows; index++) {
		time = now;
		memset(buffer->sample, 0, sampler->kind->length);
		ret = sampler->kind->sample_row(sampler, index, &number, buffer->sample, &time);
		if (ret == -ENODEV)
			return false;
		if (ret == -EAGAIN) {
			++*stale;
			return true;
		}
		if (!ret)
			write_copy(record, row++, time, number, buffer->sample, buffer->values);
	}
	set_used_rows(record, row);
	return true;
}

static void gather_copies(struct dart_record *record, u64 now, struct dart_record_buffer *buffer)
{
	unsigned int cpu;
	u32 row = 0;

	for_each_online_cpu(cpu) {
		/* A CPU went online between the two loops. */
		if (row == record->rows)
			break;
		write_copy(record, row++, now, cpu, copy_of(record, cpu, buffer), buffer->values);
	}
	set_used_rows(record, row);
}

static bool has_ended(const struct dart_percpu *percpu)
{
	return READ_ONCE(percpu->is_gone) || (percpu->has_ended && percpu->has_ended(percpu));
}

bool dart_record_gather(struct dart_record *record, u64 now, struct dart_record_buffer *buffer,
			struct dart_zero_gathering *cost)
{
	if (record->percpu && has_ended(record->percpu))
		return false;
	if (record->sampler) {
		if (!(record->form == DART_ZERO_RECORD_COPIES ?
			      gather_sampled_rows(record, now, buffer, &cost->stale) :
			      gather_sample(record, now, buffer, cost)))
			return false;
	} else if (!record->percpu) {
		gather_one(record, now, cost, buffer->values);
	} else if (record->form == DART_ZERO_RECORD_COPIES) {
		gather_copies(record, now, buffer);
	} else {
		gather_sum(record, now, buffer);
	}
	record->sequence = next_sequence(record);
	return true;
}
