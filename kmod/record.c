// SPDX-License-Identifier: GPL-2.0-only
/* Gathered records: their rows, and what is copied there. */
#include "record.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "extent.h"
#include "percpu.h"
#include "record_pages.h"
#include "window.h"

#define LINE_WORDS	(DART_ZERO_RECORD_LINE / sizeof(u64))

/* Words of a row that come before the values: the time, and perhaps the CPU. */
static u32 words_before(u32 form)
{
	return form == DART_ZERO_RECORD_COPIES ? 2 : 1;
}

/* Counts the words of a row.  -EINVAL: a piece is not in the copy. */
static int count_words(struct dart_record *record)
{
	const struct dart_zero_piece *piece = record->pieces;
	u32 i;

	record->words = words_before(record->form);
	for (i = 0; i < record->piece_count; i++, piece++) {
		if (piece->width != 1 && piece->width != 2 &&
		    piece->width != 4 && piece->width != 8)
			return -EINVAL;
		if (!piece->count || piece->offset % piece->width ||
		    piece->offset > record->length ||
		    (record->length - piece->offset) / piece->width <
			    piece->count)
			return -EINVAL;
		record->words += piece->count;
		if (record->words > DART_ZERO_RECORD_WORDS_MAX)
			return -EINVAL;
	}
	return 0;
}

/* A row of several lines ends with a sequence, too. */
static u32 lines_of(u32 words)
{
	const u32 in_line = LINE_WORDS - 1;

	return words <= in_line ? 1 : DIV_ROUND_UP(words + 1, in_line);
}

static struct dart_percpu *open_counters(const struct dart_zero_record *record)
{
	const struct dart_zero_window window = {
		.source = record->source,
		.fd = record->fd,
		.netns = record->netns,
		.ifindex = record->ifindex,
	};

	if (record->source != DART_ZERO_SOURCE_GATHERING)
		return dart_window_open_percpu(&window);
	if (record->fd != -1 || record->netns || record->ifindex ||
	    record->form != DART_ZERO_RECORD_SUM)
		return ERR_PTR(-EINVAL);
	return NULL;
}

static size_t copy_length(const struct dart_percpu *percpu)
{
	return percpu ? percpu->length : sizeof(struct dart_zero_gathering);
}

int dart_record_describe(struct dart_zero_record *record)
{
	struct dart_percpu *percpu = open_counters(record);

	if (IS_ERR(percpu))
		return PTR_ERR(percpu);
	record->length = copy_length(percpu);
	strscpy(record->name, percpu ? percpu->name : "dart_zero_gathering",
		sizeof(record->name));
	if (percpu)
		dart_percpu_put(percpu);
	return 0;
}

struct dart_record *dart_record_new(const struct dart_zero_record *selected,
				    const struct dart_zero_piece *pieces)
{
	struct dart_record *record;
	int ret;

	record = kvzalloc(struct_size(record, pieces, selected->piece_count),
			  GFP_KERNEL_ACCOUNT);
	if (!record)
		return ERR_PTR(-ENOMEM);
	record->form = selected->form;
	record->piece_count = selected->piece_count;
	memcpy(record->pieces, pieces,
	       array_size(selected->piece_count, sizeof(*pieces)));
	INIT_LIST_HEAD(&record->link);
	dart_event_init(&record->gone, DART_ZERO_EVENT_RECORD_GONE);

	record->percpu = open_counters(selected);
	if (IS_ERR(record->percpu)) {
		ret = PTR_ERR(record->percpu);
		record->percpu = NULL;
		goto err_record;
	}
	record->length = copy_length(record->percpu);
	ret = count_words(record);
	if (ret)
		goto err_record;
	record->row_lines = lines_of(record->words);
	record->rows = record->form == DART_ZERO_RECORD_COPIES ?
			       num_possible_cpus() :
			       1;
	return record;

err_record:
	dart_record_free(record);
	return ERR_PTR(ret);
}

void dart_record_free(struct dart_record *record)
{
	if (record->percpu)
		dart_percpu_put(record->percpu);
	kvfree(record);
}

int dart_record_place(struct dart_record *record,
		      const struct dart_extent *extent, u64 *data)
{
	struct dart_record_pages *pages = dart_record_pages_of(extent);
	int ret;

	if (!pages)
		return -ENOENT;
	ret = dart_record_pages_take(pages, record->rows * record->row_lines,
				     &record->first_line);
	if (ret)
		return ret;
	record->pages = pages;
	/* No later record here has this number again: it grows more slowly. */
	record->sequence = ktime_get_boottime_ns() & ~1ULL;
	*data = (u64)record->first_line * DART_ZERO_RECORD_LINE;
	return 0;
}

static u64 *line_at(const struct dart_record *record, u32 row, u32 line)
{
	return dart_record_pages_line(record->pages,
				      record->first_line +
					      row * record->row_lines + line);
}

static void row_set_sequence(struct dart_record *record, u32 row, u64 sequence)
{
	u64 *line = NULL;
	u32 i;

	for (i = 0; i < record->row_lines; i++) {
		line = line_at(record, row, i);
		WRITE_ONCE(line[0], sequence);
	}
	if (record->row_lines > 1)
		WRITE_ONCE(line[LINE_WORDS - 1], sequence);
}

/*
 * An adapter READs a line at one moment: it sees the odd sequence with the first
 * value that has changed.
 */
static void row_write(struct dart_record *record, u32 row, const u64 *values)
{
	u32 done = 0, line, i;
	u64 *words;

	row_set_sequence(record, row, record->sequence + 1);
	smp_wmb();
	for (line = 0; line < record->row_lines; line++) {
		words = line_at(record, row, line);
		for (i = 1; i < LINE_WORDS && done < record->words; i++)
			WRITE_ONCE(words[i], values[done++]);
	}
	smp_wmb();
	row_set_sequence(record, row, record->sequence + 2);
}

static void row_clear(struct dart_record *record, u32 row)
{
	u32 line;

	row_set_sequence(record, row, record->sequence + 1);
	smp_wmb();
	for (line = 0; line < record->row_lines; line++)
		memset(line_at(record, row, line) + 1, 0,
		       (LINE_WORDS - 2) * sizeof(u64));
	if (record->row_lines == 1)
		line_at(record, row, 0)[LINE_WORDS - 1] = 0;
	smp_wmb();
	row_set_sequence(record, row, 0);
}

void dart_record_displace(struct dart_record *record)
{
	u32 row;

	for (row = 0; row < record->used_rows; row++)
		row_clear(record, row);
	dart_record_pages_give(record->pages, record->first_line,
			       record->rows * record->row_lines);
	record->pages = NULL;
}

#define ADD(type)							\
	do {								\
		const type *element = (const type *)(copy + piece->offset); \
									\
		for (i = 0; i < piece->count; i++)			\
			*values++ += READ_ONCE(element[i]);		\
	} while (0)

/* Adds the elements of all pieces of @copy to @values. */
static void add_copy(const struct dart_record *record, const char *copy,
		     u64 *values)
{
	const struct dart_zero_piece *piece = record->pieces;
	u32 i;

	for (; piece < record->pieces + record->piece_count; piece++) {
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
	}
}

static void gather_sum(struct dart_record *record, u64 now, u64 *values,
		       const struct dart_zero_gathering *cost)
{
	unsigned int cpu;

	memset(values, 0, array_size(record->words, sizeof(*values)));
	values[0] = now;
	if (!record->percpu) {
		add_copy(record, (const char *)cost, values + 1);
	} else {
		/* A CPU that went offline has counted, too. */
		for_each_possible_cpu(cpu)
			add_copy(record,
				 per_cpu_ptr((const char __percpu *)
						     record->percpu->variable,
					     cpu),
				 values + 1);
	}
	row_write(record, 0, values);
	record->used_rows = 1;
}

static void gather_copies(struct dart_record *record, u64 now, u64 *values)
{
	unsigned int cpu;
	u32 row = 0;

	for_each_online_cpu(cpu) {
		/* Between the two, a CPU came. */
		if (row == record->rows)
			break;
		memset(values, 0, array_size(record->words, sizeof(*values)));
		values[0] = now;
		values[1] = cpu;
		add_copy(record,
			 per_cpu_ptr((const char __percpu *)
					     record->percpu->variable,
				     cpu),
			 values + 2);
		row_write(record, row++, values);
	}
	while (record->used_rows > row)
		row_clear(record, --record->used_rows);
	record->used_rows = row;
}

bool dart_record_gather(struct dart_record *record, u64 now, u64 *values,
			const struct dart_zero_gathering *cost)
{
	if (record->percpu && READ_ONCE(record->percpu->is_gone))
		return false;
	if (record->form == DART_ZERO_RECORD_COPIES)
		gather_copies(record, now, values);
	else
		gather_sum(record, now, values, cost);
	record->sequence += 2;
	return true;
}
