/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that users write: editors of Windows put the byte order mark of UTF-8 before the
 * text, and readers skip it.
 */
#ifndef DART_TEXT_FILE_H
#define DART_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Skips the mark at the beginning of @length bytes at @text, if there is one. */
void dart_text_file__skip_mark(const void **text, size_t *length);

/*
 * The same for the next bytes of @file.  If a file begins with only a part of the mark, 1 to 3
 * bytes are lost; no JSON text begins like this.
 */
void dart_text_file__pass_mark(FILE *file);
/* Does no byte follow in @file? */
bool dart_text_file__is_at_end(FILE *file);

#endif /* DART_TEXT_FILE_H */
