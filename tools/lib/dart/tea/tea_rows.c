// SPDX-License-Identifier: LGPL-2.1-or-later
/* Changes rows while they are read: see tea_rows_internal.h. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tea_rows_internal.h"

/* A move concerns two buckets, and the row before them. */
#define ROWS_MAX	4

/* The rows that a change concerns, each once, and their sequences before. */
struct change {
	uint32_t rows[ROWS_MAX];
	uint32_t sequences[ROWS_MAX];
	uint32_t count;
};

static void change__add_row(struct change *change, const struct tea_rows *rows, uint32_t row)
{
	uint32_t i;

	for (i = 0; i < change->count; i++)
		if (change->rows[i] == row)
			return;
	change->rows[change->count] = row;
	change->sequences[change->count++] = tea_word__load(tea_rows__row(rows, row));
}

/* The row whose bucket it is, and the one whose shadow bucket it is. */
static void change__add_bucket(struct change *change, const struct tea_rows *rows, uint32_t bucket)
{
	change__add_row(change, rows, bucket);
	change__add_row(change, rows, tea_rows__previous(rows, bucket));
}

/* Makes the sequences odd in @copy; the caller writes the contents later. */
static void change__begin(const struct change *change, const struct tea_layout *layout,
			  const struct tea_copy *copy)
{
	uint32_t i;

	for (i = 0; i < change->count; i++) {
		uint8_t *row = tea_copy__row(copy, change->rows[i]);

		tea_word__store(row, change->sequences[i] + 1);
		atomic_thread_fence(memory_order_release);
		tea_word__store(row + layout->behind, change->sequences[i] + 1);
	}
	atomic_thread_fence(memory_order_release);
}

/* Makes them even; all of the change has been written before. */
static void change__end(const struct change *change, const struct tea_layout *layout,
			const struct tea_copy *copy)
{
	uint32_t i;

	atomic_thread_fence(memory_order_release);
	for (i = 0; i < change->count; i++) {
		uint8_t *row = tea_copy__row(copy, change->rows[i]);

		tea_word__store(row + layout->behind, change->sequences[i] + 2);
		atomic_thread_fence(memory_order_release);
		tea_word__store(row, change->sequences[i] + 2);
	}
}

/* The bucket first, then the shadow bucket in the row before it. */
static void copy__set_cell(const struct tea_copy *copy, const struct tea_rows *rows,
			   const struct tea_spot *spot, const void *cell)
{
	const struct tea_layout *layout = &rows->layout;
	uint8_t *row = tea_copy__row(copy, spot->bucket);
	uint8_t *before = tea_copy__row(copy, tea_rows__previous(rows, spot->bucket));

	tea_words__store(tea_row__cell(layout, row, spot->cell), cell,
			 layout->cell);
	atomic_thread_fence(memory_order_release);
	tea_words__store(tea_row__cell(layout, before,
				       layout->cells + spot->cell),
			 cell, layout->cell);
	atomic_thread_fence(memory_order_release);
}

static void copy__write(const struct tea_copy *copy, const struct tea_rows *rows,
			const struct change *change, const struct tea_spot *spot, const void *cell)
{
	change__begin(change, &rows->layout, copy);
	copy__set_cell(copy, rows, spot, cell);
	change__end(change, &rows->layout, copy);
}

void dart_tea_rows__write(struct tea_rows *rows, const struct tea_spot *spot, const void *cell)
{
	struct change change = { .count = 0 };
	size_t i;

	change__add_bucket(&change, rows, spot->bucket);
	copy__write(&rows->own, rows, &change, spot, cell);
	for (i = 0; i < rows->view_count; i++)
		copy__write(&rows->views[i], rows, &change, spot, cell);
}

/* The entry is in both cells for a moment, so that readers find it. */
static void copy__move(const struct tea_copy *copy, const struct tea_rows *rows,
		       const struct change *change, const struct tea_spot *from,
		       const struct tea_spot *to, const void *cell)
{
	change__begin(change, &rows->layout, copy);
	copy__set_cell(copy, rows, to, cell);
	copy__set_cell(copy, rows, from, NULL);
	change__end(change, &rows->layout, copy);
}

void dart_tea_rows__move(struct tea_rows *rows, const struct tea_spot *from,
			 const struct tea_spot *to)
{
	struct change change = { .count = 0 };
	uint32_t cell[TEA_CELL_MAX / sizeof(uint32_t)];
	size_t i;

	memcpy(cell, tea_rows__cell(rows, from), rows->layout.cell);
	change__add_bucket(&change, rows, from->bucket);
	change__add_bucket(&change, rows, to->bucket);
	copy__move(&rows->own, rows, &change, from, to, cell);
	for (i = 0; i < rows->view_count; i++)
		copy__move(&rows->views[i], rows, &change, from, to, cell);
}

void dart_tea_rows__begin_stash(struct tea_rows *rows, uint32_t home)
{
	struct change change = { .count = 0 };

	change__add_row(&change, rows, home);
	change__begin(&change, &rows->layout, &rows->own);
}

void dart_tea_rows__end_stash(struct tea_rows *rows, uint32_t home, uint32_t stashed)
{
	uint8_t *row = tea_rows__row(rows, home) + sizeof(uint32_t);
	const uint32_t epoch = tea_word__load(row) & DART_TEA_EPOCH_MAX;
	const uint32_t state = tea_row__state(stashed, epoch);
	struct change change = { .count = 0 };
	size_t i;

	change__add_row(&change, rows, home);
	change.sequences[0]--;
	tea_word__store(row, state);
	change__end(&change, &rows->layout, &rows->own);
	for (i = 0; i < rows->view_count; i++) {
		row = tea_copy__row(&rows->views[i], home) + sizeof(uint32_t);
		change__begin(&change, &rows->layout, &rows->views[i]);
		tea_word__store(row, state);
		change__end(&change, &rows->layout, &rows->views[i]);
	}
}

int dart_tea_rows__attach(struct tea_rows *rows, void *view,
			  const struct dart_tea_progress *progress)
{
	const struct tea_copy copy = { view, rows->view_stride };
	struct tea_copy *views;
	uint64_t row;

	views = realloc(rows->views, (rows->view_count + 1) * sizeof(*views));
	if (!views)
		return -ENOMEM;
	rows->views = views;
	for (row = 0; row < rows->layout.rows; row++) {
		tea_words__store(tea_copy__row(&copy, row),
				 tea_rows__row(rows, row), rows->layout.row);
		tea_progress__made(progress, row);
	}
	views[rows->view_count++] = copy;
	return 0;
}

void dart_tea_rows__detach(struct tea_rows *rows, const void *view)
{
	size_t i;

	for (i = 0; i < rows->view_count; i++)
		if (rows->views[i].rows == view)
			break;
	if (i == rows->view_count)
		return;
	rows->views[i] = rows->views[--rows->view_count];
}
