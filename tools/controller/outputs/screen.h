/* SPDX-License-Identifier: GPL-2.0-only */
/* Where tables are shown: a terminal that is redrawn, or a stream. */
#ifndef CONTROLLER_SCREEN_H
#define CONTROLLER_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

struct screen {
	int fd;
	bool is_terminal;
};

/* In characters and lines; of a stream, COLUMNS and LINES. */
struct screen_size {
	size_t width;
	size_t height;
};

/* Without @redraw, a terminal is treated as a stream. */
void screen__open(struct screen *screen, int fd, bool redraw);
/* Asked again before each drawing: terminals are resized. */
struct screen_size screen__measure(const struct screen *screen);

/*
 * Prints to @out what makes a terminal of @size show @text, lines that end with a newline,
 * cut to size, in place of what it showed.
 */
void screen__draw(struct screen_size size, const char *text, FILE *out);

#endif /* CONTROLLER_SCREEN_H */
