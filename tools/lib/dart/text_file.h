/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that users write: editors of Windows put the byte order mark of UTF-8 before the
 * text, and readers skip it.
 */
#ifndef DART_TEXT_FILE_H
#define DART_TEXT_FILE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/*
 * Addresses in files that agents export for reporters and switches.  Each function returns false if
 * @text is of another form; the result is then undefined.
 */

/* "52:54:00:00:00:01", not multicast. */
bool dart_export_text__mac(const char *text, uint8_t mac[6]);
/* "0x3a5f00000000" */
bool dart_export_text__base(const char *text, uint64_t *base);
/* "10.0.0.1", an address that a host can have. */
bool dart_export_text__address(const char *text, struct in_addr *address);

#endif /* DART_TEXT_FILE_H */
