// SPDX-License-Identifier: LGPL-2.1-or-later
/* Escapes bytes that are not UTF-8, and control characters: see escape.h. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

/* Backslash, 'x' and two digits. */
#define ESCAPE_LENGTH 4
/* A backslash before one of these, or at the end, is escaped. */
#define SEPARATORS " ,="

size_t dart_escape__character(const void *bytes, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *byte = bytes;
	size_t length, i;
	uint32_t point;

	if (!left)
		return 0;
	if (*byte < 0x80)
		return 1;
	length = *byte >= 0xf0 ? 4 : *byte >= 0xe0 ? 3 : 2;
	if (*byte < 0xc2 || *byte > 0xf4 || length > left)
		return 0;
	point = *byte & (0xff >> (length + 1));
	for (i = 1; i < length; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (byte[i] & 0x3f);
	}
	if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	return length;
}

static bool is_control(uint8_t byte)
{
	return byte < 0x20 || byte == 0x7f;
}

/* U+0080 to U+009F, and U+E000. */
static bool is_taken(const uint8_t *bytes, size_t length)
{
	return (length == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0) ||
	       (length == 3 && !memcmp(bytes, "\xee\x80\x80", 3));
}

/* The value of a lower-case hexadecimal digit, or -1. */
static int digit_of(uint8_t digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* The byte of the escape at @bytes; -1 without an escape. */
static int escaped_byte(const uint8_t *bytes, size_t left)
{
	int high, low, byte;

	if (left < ESCAPE_LENGTH || bytes[0] != '\\' || bytes[1] != 'x')
		return -1;
	high = digit_of(bytes[2]);
	low = digit_of(bytes[3]);
	if (high < 0 || low < 0)
		return -1;
	byte = high << 4 | low;
	return is_control(byte) || byte == '\\' || byte >= 0x80 ? byte : -1;
}

static bool is_kept_backslash(const uint8_t *bytes, size_t left, enum dart_escape escape)
{
	if (left == 1 || !bytes[1] || strchr(SEPARATORS, bytes[1]))
		return false;
	return escape == DART_ESCAPE_SENTENCE || escaped_byte(bytes, left) < 0;
}

size_t dart_escape__next(const void *bytes, size_t left, enum dart_escape escape,
			 char piece[static DART_ESCAPE_PIECE])
{
	const size_t length = dart_escape__character(bytes, left);
	const uint8_t *byte = bytes;

	if (!length || is_control(*byte) || is_taken(byte, length) ||
	    (*byte == '\\' && !is_kept_backslash(byte, left, escape))) {
		snprintf(piece, DART_ESCAPE_PIECE, "\\x%02x", *byte);
		return 1;
	}
	memcpy(piece, bytes, length);
	piece[length] = '\0';
	return length;
}

bool dart_escape__is_utf8(const char *text)
{
	size_t left = strlen(text), length;

	for (; left; text += length, left -= length) {
		length = dart_escape__character(text, left);
		if (!length)
			return false;
	}
	return true;
}

bool dart_escape__is_plain(const void *bytes, size_t length)
{
	const uint8_t *from = bytes;
	char piece[DART_ESCAPE_PIECE];
	size_t taken;

	for (; length; from += taken, length -= taken) {
		taken = dart_escape__next(from, length, DART_ESCAPE_NAME, piece);
		if (strlen(piece) != taken || memcmp(piece, from, taken))
			return false;
	}
	return true;
}

size_t dart_escape__text(const void *bytes, size_t width, enum dart_escape escape,
			 char *to, size_t size)
{
	size_t left = strnlen(bytes, width), used = 0, taken, length;
	const uint8_t *from = bytes;
	char piece[DART_ESCAPE_PIECE];

	for (; left; from += taken, left -= taken) {
		taken = dart_escape__next(from, left, escape, piece);
		length = strlen(piece);
		if (length >= size - used)
			break;
		memcpy(to + used, piece, length);
		used += length;
	}
	/* Cutting off the text must not leave a backslash at its end. */
	while (left && used && to[used - 1] == '\\')
		used--;
	to[used] = '\0';
	return used;
}

char *dart_escape__new(const char *text, enum dart_escape escape)
{
	const size_t length = strlen(text);
	char *escaped;

	if (length > (SIZE_MAX - 1) / DART_ESCAPE_BYTES)
		return NULL;
	escaped = malloc(length * DART_ESCAPE_BYTES + 1);
	if (escaped)
		dart_escape__text(text, length, escape, escaped, length * DART_ESCAPE_BYTES + 1);
	return escaped;
}

void dart_escape__decode(char *text)
{
	size_t left = strlen(text);
	const uint8_t *from = (const uint8_t *)text;
	char *to = text;
	int byte;

	while (left) {
		byte = escaped_byte(from, left);
		*to++ = byte > 0 ? byte : *from;
		from += byte > 0 ? ESCAPE_LENGTH : 1;
		left -= byte > 0 ? ESCAPE_LENGTH : 1;
	}
	*to = '\0';
}
