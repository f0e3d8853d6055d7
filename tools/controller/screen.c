// SPDX-License-Identifier: GPL-2.0-only
/* Draws text on a terminal in place, or appends it to a stream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen.h"

#define SCREEN_WIDTH_DEFAULT	80
#define SCREEN_HEIGHT_DEFAULT	10000

/* ECMA-48: cursor to the top left, clear to the end of the line, the screen. */
#define CURSOR_HOME	"\033[H"
#define CLEAR_LINE	"\033[K"
#define CLEAR_BELOW	"\033[J"

static size_t size_from_environment(const char *name, size_t otherwise)
{
	const char *text = getenv(name);
	unsigned long size = text ? strtoul(text, NULL, 10) : 0;

	return size && size <= SCREEN_HEIGHT_DEFAULT ? size : otherwise;
}

void screen__open(struct screen *screen, FILE *out, bool redraw)
{
	screen->out = out;
	screen->is_terminal = redraw && isatty(fileno(out));
	screen__measure(screen);
	if (screen->is_terminal)
		fputs(CURSOR_HOME CLEAR_BELOW, out);
}

void screen__measure(struct screen *screen)
{
	struct winsize size;

	screen->width = size_from_environment("COLUMNS", SCREEN_WIDTH_DEFAULT);
	screen->height = size_from_environment("LINES", SCREEN_HEIGHT_DEFAULT);
	if (screen->is_terminal &&
	    !ioctl(fileno(screen->out), TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col) {
		screen->width = size.ws_col;
		screen->height = size.ws_row;
	}
}

static void screen__draw(const struct screen *screen, const char *text)
{
	size_t line, length;

	fputs(CURSOR_HOME, screen->out);
	/* The last line stays free for the cursor. */
	for (line = 1; *text && line < screen->height; line++) {
		length = strcspn(text, "\n");
		fwrite(text, 1, length < screen->width ? length : screen->width,
		       screen->out);
		fputs(CLEAR_LINE "\n", screen->out);
		text += length + (text[length] == '\n');
	}
	fputs(CLEAR_BELOW, screen->out);
}

int screen__show(const struct screen *screen, const char *text)
{
	errno = 0;
	if (screen->is_terminal)
		screen__draw(screen, text);
	else
		fputs(text, screen->out);
	if (fflush(screen->out) || ferror(screen->out))
		return errno ? -errno : -EIO;
	return 0;
}
