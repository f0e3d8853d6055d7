/* SPDX-License-Identifier: GPL-2.0-only */
/* Names that a file of the kernel has for the elements of an array. */
#ifndef LISTED_NAMES_H
#define LISTED_NAMES_H

#include <stdint.h>

#include <libdart/table/schema.h>

/*
 * Returns the names at the beginnings of @count lines of the file, which are in the
 * order of @fields.  The first line is the one with the name of the first field,
 * the last one ends the file, except for lines of counters that the kernel no
 * longer has.  Returns NULL if the file does not fit: it cannot be read, has more
 * or fewer lines, or has the name of one field in the line of another.
 */
char **listed_names__read(const char *path, const struct dart_field *fields,
			  uint32_t count);
void listed_names__free(char **names, uint32_t count);

#endif /* LISTED_NAMES_H */
