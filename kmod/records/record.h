/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_RECORD_H
#define DART_ZERO_RECORD_H

#include <linux/list.h>
#include <linux/math.h>
#include <linux/types.h>

#include <linux/dart_zero.h>

#include "kmod/base/event.h"
#include "kmod/samplers/sampler.h"

struct dart_events;
struct dart_extent;
struct dart_gatherer;
struct dart_percpu;
struct dart_record_pages;

/* Room for a row, as whole lines, and a sample. */
struct dart_record_buffer {
	u64 values[DIV_ROUND_UP(DART_ZERO_RECORD_WORDS_MAX, DART_ZERO_RECORD_LINE_WORDS) *
		   DART_ZERO_RECORD_LINE_WORDS];
	u64 sample[DART_SAMPLE_MAX / sizeof(u64)];
};

/* @count elements of @width bytes, side by side in a copy and in the words of a row. */
struct dart_record_piece {
	u32 from;			/* bytes, in the copy */
	u32 to;				/* bytes, in the words of the row */
	u16 width;
	u16 count;
};

/*
 * Copies of counters, in lines of the pages that an extent of a region shows.  The lock of the
 * region's gathering guards the members after @piece_count, and the rows.
 */
struct dart_record {
	/* At most one of these is set.  Without both, the record shows the cost of its gatherer. */
	struct dart_percpu *percpu;
	struct dart_sampler *sampler;
	u64 payer;			/* as in struct dart_percpu */
	size_t length;			/* bytes of a copy */
	u32 form;			/* enum dart_zero_record_form */
	u32 words;			/* of a row, without sequences */
	u32 row_lines;
	u32 rows;
	u32 id;				/* in the region, as @slab_id */
	u32 slab_id;			/* of the extent of @pages */
	u32 piece_count;
	u32 eights, fours;		/* numbers of single elements of 8 and 4 bytes */
	u32 rest_max;			/* passes between rows; 0 and 1: no rest */
	bool is_summed_together;	/* dart_percpu.join */

	struct dart_record_pages *pages;
	u32 first_line;
	u32 used_rows;			/* that are not empty */
	u32 sequence;			/* of the last row that was written */
	u32 pace;			/* passes from one row to the next at present */
	u32 same_rows;			/* equal ones that were written at this pace */
	struct dart_gatherer *gatherer;
	struct list_head link;		/* in the list of its gatherer */
	bool is_gone;			/* the region was told */
	struct dart_event gone;

	struct dart_record_piece pieces[];
};

/*
 * Sets @record->length and @record->name for a copy of the counters that it selects.  @opener: as
 * in dart_sampler_open().
 */
int dart_record_describe(struct dart_zero_record *record, const struct file *opener);

/*
 * A record of the counters that @record selects, not yet placed, or ERR_PTR(): -EINVAL or an error
 * of dart_window_open().  Copies @pieces.  The caller has checked capabilities.
 */
struct dart_record *dart_record_new(const struct dart_zero_record *record,
				    const struct dart_zero_piece *pieces,
				    const struct file *opener);
void dart_record_free(struct dart_record *record);

/*
 * Reserves lines of the pages that @extent shows, and sets *@data to the first of them, in bytes
 * from the start of the extent.  -ENOENT (no pages for records), -ENOSPC.  This and all functions
 * below: called with the lock of the gathering held.
 */
int dart_record_place(struct dart_record *record, const struct dart_extent *extent, u64 *data);
/* Makes the rows empty and gives the lines back. */
void dart_record_displace(struct dart_record *record);

/*
 * Does the record rest in pass number @pass, because its counters have not changed for some passes
 * and are not known to have changed since?
 */
bool dart_record_rests(const struct dart_record *record, u64 pass);
/*
 * Copies the counters, as of @now (CLOCK_BOOTTIME, ns).  Increments @cost->stale, a figure of the
 * gatherer, if there are no new values.  Returns false if the object of the counters has ended.
 */
bool dart_record_gather(struct dart_record *record, u64 now, struct dart_record_buffer *buffer,
			struct dart_zero_gathering *cost);

#endif /* DART_ZERO_RECORD_H */
