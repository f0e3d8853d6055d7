/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a table is shown: a terminal that is redrawn, or a stream. */
#ifndef CONTROLLER_SCREEN_H
#define CONTROLLER_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

struct screen {
	FILE *out;
	bool is_terminal;
	/* Characters and lines.  A stream has as many as COLUMNS, LINES say. */
	size_t width;
	size_t height;
};

/* @redraw: make use of a terminal; otherwise it is a stream like others. */
void screen__open(struct screen *screen, FILE *out, bool redraw);
/* Terminals change their size: asks again. */
void screen__measure(struct screen *screen);

/*
 * Shows @text, lines that end with a newline: in the place of what was shown
 * before and cut to the size of the terminal, or behind it.  Returns 0 or
 * -errno.
 */
int screen__show(const struct screen *screen, const char *text);

#endif /* CONTROLLER_SCREEN_H */
