/* SPDX-License-Identifier: GPL-2.0-only */
/* Names in a file of the kernel for the elements of an array. */
#ifndef LISTED_NAMES_H
#define LISTED_NAMES_H

#include <stdint.h>

#include <libdart/table/schema.h>

/*
 * Returns the names at the beginnings of @count lines of the file, which are in the order of
 * @fields.  The first of them is the line with the name of the first field, and the last one ends
 * the file, except for lines of counters that the kernel removed.  Returns NULL if the file does
 * not fit: dartd cannot read it, it has more or fewer lines, or the line of one field has the name
 * of another.
 */
char **listed_names__read(const char *path, const struct dart_field *fields, uint32_t count);
void listed_names__free(char **names, uint32_t count);

#endif /* LISTED_NAMES_H */
