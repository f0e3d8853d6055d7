/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fields of an entry as texts, in both directions: numbers are decimal, hexadecimal after 0x,
 * or one of their names; bytes are hexadecimal digits; in a text, \xHH is the byte HH and \\ a
 * backslash.  Blanks separate the elements of an array; the first element of a stack is the oldest.
 */
#ifndef LOOKUP_TEXT_H
#define LOOKUP_TEXT_H

#include "layout.h"

/* Most characters of a field: 64 names with blanks. */
#define LOOKUP_TEXT_MAX (DART_TEA_VALUE_MAX * DART_KEY_NAME_MAX)

/*
 * Reads the @length characters at @text, which may be hostile, into the bytes of @field.
 * Returns 0, or sets @error, a sentence with the name of the field, and returns -EINVAL.
 */
int lookup_text__parse(const struct dart_key_field *field, const char *text,
		    size_t length, uint8_t *bytes, struct dart_error *error);

/*
 * Writes the field whose bytes are @bytes, in printable ASCII; returns the number of
 * characters, up to LOOKUP_TEXT_MAX.
 */
size_t lookup_text__print(const struct dart_key_field *field, const uint8_t *bytes,
		       char text[static LOOKUP_TEXT_MAX]);

/* Is the field an array, in JSON too? */
bool lookup_text__is_list(const struct dart_key_field *field);

#endif /* LOOKUP_TEXT_H */
