// SPDX-License-Identifier: GPL-2.0-only
/* Draws text on a terminal in place. */
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

void screen__open(struct screen *screen, int fd, bool redraw)
{
	screen->fd = fd;
	screen->is_terminal = redraw && isatty(fd);
}

struct screen_size screen__measure(const struct screen *screen)
{
	struct winsize size;

	if (screen->is_terminal && !ioctl(screen->fd, TIOCGWINSZ, &size) &&
	    size.ws_row && size.ws_col)
		return (struct screen_size){ size.ws_col, size.ws_row };
	return (struct screen_size){
		.width = size_from_environment("COLUMNS", SCREEN_WIDTH_DEFAULT),
		.height = size_from_environment("LINES", SCREEN_HEIGHT_DEFAULT),
	};
}

void screen__draw(struct screen_size size, const char *text, FILE *out)
{
	size_t line, length;

	fputs(CURSOR_HOME, out);
	/* The last line stays free for the cursor. */
	for (line = 1; *text && line < size.height; line++) {
		length = strcspn(text, "\n");
		fwrite(text, 1, length < size.width ? length : size.width, out);
		fputs(CLEAR_LINE "\n", out);
		text += length + (text[length] == '\n');
	}
	fputs(CLEAR_BELOW, out);
}
