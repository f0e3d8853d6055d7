// SPDX-License-Identifier: GPL-2.0-only
/* Text in columns: see grid.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

#define COLUMN_GAP 2

struct grid {
	size_t columns;
	size_t *widths;
	char **cells;		/* row by row */
	size_t cell_count;
	size_t cells_room;
	bool failed;
};

struct grid *grid__new(size_t columns)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (!grid)
		return NULL;
	grid->columns = columns;
	grid->widths = calloc(columns, sizeof(*grid->widths));
	if (!grid->widths) {
		free(grid);
		return NULL;
	}
	return grid;
}

void grid__free(struct grid *grid)
{
	size_t i;

	if (!grid)
		return;
	for (i = 0; i < grid->cell_count; i++)
		free(grid->cells[i]);
	free(grid->cells);
	free(grid->widths);
	free(grid);
}

/* @cell becomes the grid's. */
static void add_cell(struct grid *grid, char *cell)
{
	size_t column = grid->cell_count % grid->columns;
	size_t length = strlen(cell);

	if (grid->cell_count == grid->cells_room) {
		size_t room = grid->cells_room ? 2 * grid->cells_room : 64;
		char **cells = reallocarray(grid->cells, room, sizeof(*cells));

		if (!cells) {
			grid->failed = true;
			free(cell);
			return;
		}
		grid->cells = cells;
		grid->cells_room = room;
	}
	grid->cells[grid->cell_count++] = cell;
	if (length > grid->widths[column])
		grid->widths[column] = length;
}

void grid__add(struct grid *grid, const char *format, ...)
{
	va_list arguments;
	char *cell;
	int length;

	if (!grid || grid->failed)
		return;
	va_start(arguments, format);
	length = vasprintf(&cell, format, arguments);
	va_end(arguments);
	if (length < 0)
		grid->failed = true;
	else
		add_cell(grid, cell);
}

static void add_digits(struct grid *grid, uint64_t value, const char *sign)
{
	char text[32];
	char *c = text + sizeof(text) - 1;
	unsigned int digits = 0;

	*c = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--c = ',';
		*--c = '0' + value % 10;
		value /= 10;
		digits++;
	} while (value);
	grid__add(grid, "%s%s", sign, c);
}

void grid__add_number(struct grid *grid, uint64_t value)
{
	add_digits(grid, value, "");
}

void grid__add_signed(struct grid *grid, int64_t value)
{
	if (value < 0)
		add_digits(grid, -(uint64_t)value, "-");
	else
		add_digits(grid, value, "");
}

size_t grid__fit(const struct grid *grid, size_t width)
{
	size_t i, used;

	if (!grid)
		return 1;
	used = grid->widths[0];
	for (i = 1; i < grid->columns; i++) {
		used += COLUMN_GAP + grid->widths[i];
		if (used > width)
			break;
	}
	return i;
}

int grid__print(const struct grid *grid, FILE *out, size_t columns)
{
	size_t i, column, last;

	if (!grid || grid->failed)
		return -ENOMEM;
	for (i = 0; i + grid->columns <= grid->cell_count;
	     i += grid->columns) {
		/* No blanks at the end of a line. */
		for (last = columns; last > 1; last--) {
			if (*grid->cells[i + last - 1])
				break;
		}
		fprintf(out, "%-*s", last > 1 ? (int)grid->widths[0] : 0,
			grid->cells[i]);
		for (column = 1; column < last; column++)
			fprintf(out, "%*s",
				(int)grid->widths[column] + COLUMN_GAP,
				grid->cells[i + column]);
		fputc('\n', out);
	}
	return 0;
}
