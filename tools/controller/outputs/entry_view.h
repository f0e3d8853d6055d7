/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows an entry as a table: one line per field if the copies belong to CPUs, one line per row
 * otherwise. If not all lines fit, lines that ever changed take precedence, then lines that are not
 * zero, always in the order of the entry: a line never moves because its rate changes.
 */
#ifndef CONTROLLER_ENTRY_VIEW_H
#define CONTROLLER_ENTRY_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/controller/decode/sample.h"

enum entry_view_rank {
	ENTRY_VIEW_EMPTY = 0, /* an unused row, which is never shown */
	ENTRY_VIEW_ZERO,
	ENTRY_VIEW_STEADY,
	ENTRY_VIEW_CHANGED,
	ENTRY_VIEW_RANKS
};

/* Zeroed memory is an empty view. */
struct entry_view {
	uint8_t *ranks; /* enum entry_view_rank of each line */
	uint32_t lines;
	uint32_t count[ENTRY_VIEW_RANKS]; /* number of lines of each rank */
};

struct entry_view_style {
	size_t width; /* in characters */
	size_t lines; /* largest number of lines with values */
	/* Prints every value and no rates, at any width and length. */
	bool complete;
};

/*
 * Lines around the values: title, column titles, number of further lines, gap.
 * An entry without room for values takes only its title.
 */
#define ENTRY_VIEW_FRAME 4

/*
 * Updates the ranks from entry @index of @sample; resets the view if the sample has no previous
 * one. Returns 0 or -ENOMEM.
 */
int entry_view__update(struct entry_view *view, const struct sample *sample, uint32_t index);

/*
 * Returns the number of lines worth showing: all if they are few, otherwise all that are not zero.
 */
size_t entry_view__wanted(const struct entry_view *view);

/* Prints the sample of the last update.  Returns 0 or -ENOMEM. */
int entry_view__print(const struct entry_view *view, const struct sample *sample, uint32_t index,
		      const struct entry_view_style *style, FILE *out);
void entry_view__clear(struct entry_view *view);

#endif /* CONTROLLER_ENTRY_VIEW_H */
