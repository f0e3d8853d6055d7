/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes of a lookup table's rows, in the server's own copy and in the copies for switches: see
 * "Changes" in <dart/tea.h>.
 *
 * A process may be killed at any instant.  Each entry is in a bucket and in the shadow bucket of
 * the row before; the bucket is written first, and the shadow only when the bucket is whole.  So
 * one of the two is whole at each instant.
 */
#ifndef DART_TEA_ROWS_H
#define DART_TEA_ROWS_H

#include <libdart/tea/tea_layout_internal.h>
#include <libdart/tea/tea_progress.h>

/* A copy of all rows. */
struct tea_copy {
	uint8_t *rows;
	size_t stride;		/* bytes from one to the next */
};

struct tea_rows {
	struct tea_layout layout;
	uint32_t view_stride;
	struct tea_copy own;
	struct tea_copy *views;	/* of switches */
	size_t view_count;
};

/* A cell of a bucket. */
struct tea_spot {
	uint32_t bucket;	/* number of its row */
	uint32_t cell;
};

static inline uint32_t tea_rows__next(const struct tea_rows *rows, uint32_t row)
{
	return (row + 1) & rows->layout.mask;
}

static inline uint32_t tea_rows__previous(const struct tea_rows *rows, uint32_t row)
{
	return (row - 1) & rows->layout.mask;
}

static inline uint8_t *tea_copy__row(const struct tea_copy *copy, uint32_t row)
{
	return copy->rows + row * copy->stride;
}

/* A row of the own copy. */
static inline uint8_t *tea_rows__row(const struct tea_rows *rows, uint32_t row)
{
	return tea_copy__row(&rows->own, row);
}

static inline uint8_t *tea_rows__cell(const struct tea_rows *rows, const struct tea_spot *spot)
{
	return tea_row__cell(&rows->layout, tea_rows__row(rows, spot->bucket), spot->cell);
}

static inline uint32_t tea_rows__stashed(const struct tea_rows *rows, uint32_t row)
{
	return tea_rows__row(rows, row)[sizeof(uint32_t)];
}

/* Fills the cell with @cell, whole words; NULL frees it. */
void dart_tea_rows__write(struct tea_rows *rows, const struct tea_spot *spot, const void *cell);
/* Moves an entry to a free cell. */
void dart_tea_rows__move(struct tea_rows *rows, const struct tea_spot *from,
			 const struct tea_spot *to);

/*
 * Changes of the stash are changes of the row that is the home of their entry: it has odd
 * sequences, in the own copy, from _begin() to _end(), which also changes its count, and
 * repeats that for switches.
 */
void dart_tea_rows__begin_stash(struct tea_rows *rows, uint32_t home);
void dart_tea_rows__end_stash(struct tea_rows *rows, uint32_t home, uint32_t stashed);

/* Copies all rows to a view, but not its scratchpads.  Returns 0 or -ENOMEM. */
int dart_tea_rows__attach(struct tea_rows *rows, void *view,
			  const struct dart_tea_progress *progress);
void dart_tea_rows__detach(struct tea_rows *rows, const void *view);

#define TEA_PROGRESS_ROWS	4096

/* Row or cell @done is done, counted from 0; @progress may be NULL. */
static inline void tea_progress__made(const struct dart_tea_progress *progress, uint64_t done)
{
	if (progress && done % TEA_PROGRESS_ROWS == TEA_PROGRESS_ROWS - 1)
		progress->made(progress->context);
}

#endif /* DART_TEA_ROWS_H */
