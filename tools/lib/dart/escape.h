/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and texts of the kernel as UTF-8 (RFC 3629) without control characters, so that
 * they can be labels, JSON, or lines of a terminal.
 *
 * Users make names of any bytes.  A byte that cannot stay becomes \xHH, with two lower-case
 * hexadecimal digits:
 *
 *   - bytes that are not of a valid UTF-8 character: overlong forms, surrogates, code points
 *     above U+10FFFF, and the rest of a character that was cut off;
 *   - control characters: U+0000 to U+001F, U+007F to U+009F, each byte for itself;
 *   - U+E000, which libdart's JSON uses itself (json.h), each byte for itself;
 *   - a backslash that ends the text, or that a blank, a comma or '=' follows, which no line
 *     of InfluxDB can have;
 *   - a backslash that would look like one of these escapes (by the digits after it: 00 to
 *     1f, 5c, and 7f to ff).
 *
 * All other characters stay, and so does the \x2d of systemd's units.  Two different names
 * never become the same text: dart_escape__decode() turns it back.
 */
#ifndef DART_ESCAPE_H
#define DART_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* A byte becomes at most this many. */
#define DART_ESCAPE_BYTES 4
/* A piece of text with its NUL. */
#define DART_ESCAPE_PIECE 5

enum dart_escape {
	/* A name from the kernel: all of the above. */
	DART_ESCAPE_NAME,
	/*
	 * A sentence or a text that may contain escapes: a backslash that looks like an escape
	 * stays, so that escaping twice equals escaping once.
	 */
	DART_ESCAPE_SENTENCE,
};

/*
 * Bytes of the valid UTF-8 character at the start of @bytes, of which @left are left; 0 if there is
 * no such character.  A NUL is a character.
 */
size_t dart_escape__character(const void *bytes, size_t left);

/*
 * Makes the next piece of the @left bytes (1 or more) of text at @bytes: a character, or the escape
 * of one byte.  Returns the number of bytes of the text that the piece stands for.
 */
size_t dart_escape__next(const void *bytes, size_t left, enum dart_escape escape,
			 char piece[static DART_ESCAPE_PIECE]);

/*
 * Writes the @width bytes of a text, or the bytes before its first NUL, to @to, which has room for
 * @size bytes, at least one.  A text that does not fit is cut off between two pieces; room for
 * DART_ESCAPE_BYTES times its bytes and a NUL always suffices.  Returns the length.
 */
size_t dart_escape__text(const void *bytes, size_t width, enum dart_escape escape,
			 char *to, size_t size);

/* The same of all bytes of @text as a new string; NULL if out of memory. */
char *dart_escape__new(const char *text, enum dart_escape escape);

/*
 * Turns a name that was escaped with DART_ESCAPE_NAME back, in place. \x00 stays, since no name
 * contains a NUL.
 */
void dart_escape__decode(char *text);

bool dart_escape__is_utf8(const char *text);
/* Would DART_ESCAPE_NAME leave these bytes as they are? */
bool dart_escape__is_plain(const void *bytes, size_t length);

#endif /* DART_ESCAPE_H */
