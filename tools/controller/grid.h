/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text in columns: the first is aligned left, the others right.  Memory that
 * runs short is remembered and said at the end.
 */
#ifndef CONTROLLER_GRID_H
#define CONTROLLER_GRID_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct grid;

/* NULL if memory is short; the other functions put up with NULL. */
struct grid *grid__new(size_t columns);
void grid__free(struct grid *grid);

/* The next cell of the row, or the first of the next row. */
void grid__add(struct grid *grid, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* With a separator between groups of three digits: 12,345,678. */
void grid__add_number(struct grid *grid, uint64_t value);
void grid__add_signed(struct grid *grid, int64_t value);

/* How many of the columns fit into @width characters; at least one. */
size_t grid__fit(const struct grid *grid, size_t width);

/* Prints the first @columns of all whole rows.  Returns 0 or -ENOMEM. */
int grid__print(const struct grid *grid, FILE *out, size_t columns);

#endif /* CONTROLLER_GRID_H */
