/* SPDX-License-Identifier: GPL-2.0-only */
/* Where tables are shown: a terminal that is redrawn, or a stream. */
#ifndef CONTROLLER_SCREEN_H
#define CONTROLLER_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

struct screen {
	FILE *out;
	bool is_terminal;
	/* In characters and lines; of a stream, COLUMNS and LINES. */
	size_t width;
	size_t height;
};

/* Without @redraw, a terminal is treated as a stream. */
void screen__open(struct screen *screen, FILE *out, bool redraw);
/* Updates the size: terminals are resized. */
void screen__measure(struct screen *screen);

/*
 * Shows @text, lines that end with a newline.  On a terminal, it is cut to size
 * and replaces the previous text; a stream gets it appended.  Returns 0 or
 * -errno.
 */
int screen__show(const struct screen *screen, const char *text);

#endif /* CONTROLLER_SCREEN_H */
