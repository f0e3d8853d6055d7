// SPDX-License-Identifier: GPL-2.0-only
/* Gathered records: their counters, and the rows into which the counters are copied. */
#include "record.h"

#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kmod/extents/extent.h"
#include "kmod/extents/percpu.h"
#include "kmod/extents/record_pages.h"
#include "kmod/windows/window.h"

static_assert(sizeof(struct dart_zero_record_line) == DART_ZERO_RECORD_LINE);

/* Rows with the same counters that a record writes at a pace before it rests longer. */
#define ROWS_AT_PACE 2

/* Words of a row before its values: the time, and in some forms the number of the CPU. */
static u32 words_before(u32 form)
{
	return form == DART_ZERO_RECORD_COPIES ? 2 : 1;
}

static bool piece_is_valid(const struct dart_record *record, const struct dart_zero_piece *piece)
{
	if (piece->width != 1 && piece->width != 2 && piece->width != 4 && piece->width != 8)
		return false;
	return piece->count && !(piece->offset % piece->width) &&
	       piece->offset <= record->length &&
	       (record->length - piece->offset) / piece->width >= piece->count;
}

/* Checks @pieces, and counts the words of a row.  -EINVAL: a piece is outside of the copy. */
static int count_words(struct dart_record *record, const struct dart_zero_piece *pieces)
{
	const struct dart_zero_piece *piece = pieces;
	size_t bytes = words_before(record->form) * sizeof(u64);

	for (; piece < pieces + record->piece_count; piece++) {
		if (!piece_is_valid(record, piece))
			return -EINVAL;
		bytes = ALIGN(bytes, piece->width) + piece->width * piece->count;
		if (bytes > DART_ZERO_RECORD_WORDS_MAX * sizeof(u64))
			return -EINVAL;
		record->eights += piece->width == 8 && piece->count == 1;
		record->fours += piece->width == 4 && piece->count == 1;
	}
	record->words = DIV_ROUND_UP(bytes, sizeof(u64));
	return 0;
}

/* Notes where the elements of @pieces lie in a row.  Single ones are the first, by their width. */
static void place_pieces(struct dart_record *record, const struct dart_zero_piece *pieces)
{
	struct dart_record_piece *eight = record->pieces;
	struct dart_record_piece *four = eight + record->eights;
	struct dart_record_piece *other = four + record->fours, **next;
	size_t bytes = words_before(record->form) * sizeof(u64);
	const struct dart_zero_piece *piece = pieces;

	for (; piece < pieces + record->piece_count; piece++) {
		next = &other;
		if (piece->count == 1 && piece->width == 8)
			next = &eight;
		else if (piece->count == 1 && piece->width == 4)
			next = &four;
		bytes = ALIGN(bytes, piece->width);
		*(*next)++ = (struct dart_record_piece){
			.from = piece->offset,
			.to = bytes,
			.width = piece->width,
			.count = piece->count,
		};
		bytes += piece->width * piece->count;
	}
}

static int take_pieces(struct dart_record *record, const struct dart_zero_piece *pieces)
{
	const int ret = count_words(record, pieces);

	if (!ret)
		place_pieces(record, pieces);
	return ret;
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

static int open_sampler(struct dart_record *record, const struct dart_zero_record *selected,
			const struct file *opener)
{
	const bool is_copies = record->form == DART_ZERO_RECORD_COPIES;
	struct dart_sampler *sampler = dart_sampler_open(selected, opener);

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
static int open_counters(struct dart_record *record, const struct dart_zero_record *selected,
			 const struct file *opener)
{
	const struct dart_zero_window window = {
		.source = selected->source,
		.fd = selected->fd,
		.netns = selected->netns,
		.ifindex = selected->ifindex,
	};

	record->form = selected->form;
	if (dart_sampler_has(selected->source))
		return open_sampler(record, selected, opener);
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

int dart_record_describe(struct dart_zero_record *described, const struct file *opener)
{
	struct dart_record record = { };
	int ret = open_counters(&record, described, opener);

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
				    const struct dart_zero_piece *pieces,
				    const struct file *opener)
{
	struct dart_record *record;
	int ret;

	record = kvzalloc(struct_size(record, pieces, selected->piece_count), GFP_KERNEL_ACCOUNT);
	if (!record)
		return ERR_PTR(-ENOMEM);
	record->piece_count = selected->piece_count;
	INIT_LIST_HEAD(&record->link);
	dart_event_init(&record->gone, DART_ZERO_EVENT_RECORD_GONE);

	ret = open_counters(record, selected, opener) ?:
		      take_pieces(record, pieces)	?:
		      prepare_sum(record);
	if (ret)
		goto err_record;
	record->row_lines = DIV_ROUND_UP(record->words, DART_ZERO_RECORD_LINE_WORDS);
	record->rows = rows_of(record);
	record->pace = 1;
	if (record->percpu && record->form == DART_ZERO_RECORD_SUM)
		record->rest_max = selected->rest_max;
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

/* Of lines of a row from @line on that lie side by side: the first, and their number. */
static struct dart_zero_record_line *lines_at(const struct dart_record *record, u32 row, u32 line,
					      u32 *count)
{
	*count = record->row_lines - line;
	return dart_record_pages_lines(record->pages,
				       record->first_line + row * record->row_lines + line, count);
}

/* The next even sequence that is not that of an empty row. */
static u32 next_sequence(const struct dart_record *record)
{
	return record->sequence + 2 ?: 2;
}

static void row_set_sequence(struct dart_record *record, u32 row, u32 sequence)
{
	struct dart_zero_record_line *line, *end;
	u32 done, count;

	for (done = 0; done < record->row_lines; done += count) {
		line = lines_at(record, row, done, &count);
		for (end = line + count; line < end; line++) {
			WRITE_ONCE(line->sequence, sequence);
			WRITE_ONCE(line->last_sequence, sequence);
		}
	}
}

/*
 * A reader READs a line from either end, or at one moment.  So a value that changed comes with an
 * odd sequence, or with another one, at one end.  @values: words of whole lines.
 */
static void row_write(struct dart_record *record, u32 row, const u64 *values)
{
	struct dart_zero_record_line *line, *end;
	u32 done, count;

	row_set_sequence(record, row, record->sequence + 1);
	dma_wmb();	/* before the first word changes, for adapters, too */
	for (done = 0; done < record->row_lines; done += count) {
		line = lines_at(record, row, done, &count);
		for (end = line + count; line < end; line++, values += ARRAY_SIZE(line->words))
			memcpy(line->words, values, sizeof(line->words));
	}
	dma_wmb();	/* after the last word */
	row_set_sequence(record, row, next_sequence(record));
}

/* Are the words of the row, apart from the time, those in @values? */
static bool row_has(const struct dart_record *record, u32 row, const u64 *values)
{
	const struct dart_zero_record_line *line, *end;
	u32 done, count, first = 1;

	for (done = 0; done < record->row_lines; done += count) {
		line = lines_at(record, row, done, &count);
		for (end = line + count; line < end; line++, first = 0) {
			if (memcmp(line->words + first, values + first,
				   sizeof(line->words) - first * sizeof(*values)))
				return false;
			values += ARRAY_SIZE(line->words);
		}
	}
	return true;
}

static void row_clear(struct dart_record *record, u32 row)
{
	struct dart_zero_record_line *line, *end;
	u32 done, count;

	row_set_sequence(record, row, record->sequence + 1);
	dma_wmb();	/* before the first word changes */
	for (done = 0; done < record->row_lines; done += count) {
		line = lines_at(record, row, done, &count);
		for (end = line + count; line < end; line++)
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

#define TAKE(type, count)						\
	do {								\
		const type *element = (const type *)(copy + piece->from); \
		type *value = (type *)((char *)values + piece->to);	\
		u32 i;							\
									\
		for (i = 0; i < (count); i++)				\
			value[i] = (adds ? value[i] : 0) + READ_ONCE(element[i]); \
	} while (0)

/* The compiler makes one function of it for each value of @adds. */
static __always_inline void take_elements(const struct dart_record *record, const char *copy,
					  u64 *values, bool adds)
{
	const struct dart_record_piece *piece = record->pieces;
	const struct dart_record_piece *fours = piece + record->eights;
	const struct dart_record_piece *others = fours + record->fours;
	const struct dart_record_piece *end = record->pieces + record->piece_count;

	/* Most elements are in these two loops, which decide nothing. */
	for (; piece < fours; piece++)
		TAKE(u64, 1);
	for (; piece < others; piece++)
		TAKE(u32, 1);
	for (; piece < end; piece++) {
		if (piece->width == 8)
			TAKE(u64, piece->count);
		else if (piece->width == 4)
			TAKE(u32, piece->count);
		else if (piece->width == 2)
			TAKE(u16, piece->count);
		else
			TAKE(u8, piece->count);
	}
}

/* Adds the elements of all pieces of @copy to those of the row in @values. */
static void add_copy(const struct dart_record *record, const char *copy, u64 *values)
{
	take_elements(record, copy, values, true);
}

/* The same for the only copy of a row, where they are 0. */
static void take_copy(const struct dart_record *record, const char *copy, u64 *values)
{
	take_elements(record, copy, values, false);
}

/* Bytes without a value stay 0. */
static void begin_row(const struct dart_record *record, u64 time, u64 *values)
{
	memset(values, 0, record->row_lines * DART_ZERO_RECORD_LINE_WORDS * sizeof(*values));
	values[0] = time;
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

/* Decides how long the record may rest, before @values are written. */
static void set_pace(struct dart_record *record, const u64 *values)
{
	if (record->rest_max <= 1)
		return;
	if (!row_has(record, 0, values)) {
		record->pace = 1;
		record->same_rows = 0;
	} else if (++record->same_rows >= ROWS_AT_PACE) {
		record->pace = min(2 * record->pace, record->rest_max);
		record->same_rows = 0;
	}
}

static void gather_sum(struct dart_record *record, u64 now, struct dart_record_buffer *buffer)
{
	u64 *values = buffer->values;
	unsigned int cpu;

	begin_row(record, now, values);
	if (record->percpu->sum) {
		memset(buffer->sample, 0, record->percpu->length);
		record->percpu->sum(record->percpu, buffer->sample);
		add_copy(record, (const char *)buffer->sample, values);
	} else {
		/* A CPU that is offline now may have counted before. */
		for_each_possible_cpu(cpu)
			add_copy(record, copy_of(record, cpu, buffer), values);
	}
	set_pace(record, values);
	row_write(record, 0, values);
	record->used_rows = 1;
}

/* Gathers a record that has only one copy. */
static void gather_one(struct dart_record *record, u64 time, const void *copy, u64 *values)
{
	begin_row(record, time, values);
	take_copy(record, copy, values);
	row_write(record, 0, values);
	record->used_rows = 1;
}

/* Returns false if the object has ended. */
static bool gather_sample(struct dart_record *record, u64 time,
			  struct dart_record_buffer *buffer, struct dart_zero_gathering *cost)
{
	struct dart_sampler *sampler = record->sampler;
	int ret;

	if (sampler->kind->length)
		memset(buffer->sample, 0, sampler->kind->length);
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
	begin_row(record, time, values);
	values[1] = number;
	take_copy(record, copy, values);
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
	/* Pairs with the release in dart_percpu_end(). */
	return smp_load_acquire(&percpu->is_gone) || (percpu->has_ended && percpu->has_ended(percpu));
}

bool dart_record_rests(const struct dart_record *record, u64 pass)
{
	const struct dart_percpu *percpu = record->percpu;
	u32 passes_late;

	if (record->pace <= 1)
		return false;
	/* Records with other numbers are gathered in other passes. */
	div_u64_rem(pass + record->id, record->pace, &passes_late);
	return passes_late && !has_ended(percpu) && !(percpu->has_news && percpu->has_news(percpu));
}

bool dart_record_gather(struct dart_record *record, u64 now, struct dart_record_buffer *buffer,
			struct dart_zero_gathering *cost)
{
	/* Before the values are read, so that a row that is the last has all that was counted. */
	const bool is_last = record->percpu && has_ended(record->percpu);

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
	return !is_last;
}
