/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_RECORD_PAGES_H
#define DART_ZERO_RECORD_PAGES_H

#include <linux/types.h>

struct dart_extent;
struct dart_record_pages;
struct dart_zero_record_line;

/*
 * Pages of a region with lines of gathered records.  They live as long as the extent that shows
 * them or a record on them.
 */

/* An extent over @pages new pages, not yet placed, or ERR_PTR(). */
struct dart_extent *dart_record_pages_open(u32 pages);
/* The pages that @extent shows, or NULL if it is of another kind. */
struct dart_record_pages *dart_record_pages_of(const struct dart_extent *extent);

/*
 * Reserves the first @lines adjacent lines that are free, starting at *@first, and holds the pages.
 * Sequences of these lines continue after *@sequence.  -ENOSPC.  The caller has a lock for these
 * two functions.
 */
int dart_record_pages_take(struct dart_record_pages *pages, u32 lines, u32 *first, u32 *sequence);
/* @sequence is the last sequence of the lines. */
void dart_record_pages_give(struct dart_record_pages *pages, u32 first, u32 lines, u32 sequence);

/*
 * The memory of @line, and in *@count how many lines from it lie side by side: at most as many as
 * before.
 */
struct dart_zero_record_line *
dart_record_pages_lines(const struct dart_record_pages *pages, u32 line, u32 *count);

#endif /* DART_ZERO_RECORD_PAGES_H */
