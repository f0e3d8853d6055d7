/* SPDX-License-Identifier: GPL-2.0-only */
/* Schemas of keys by name: dart_schema(5). */
#ifndef SCHEMAS_H
#define SCHEMAS_H

#include <libdart/key/key_schema.h>

/*
 * Loads the schema called @name, or the file @name if the name contains "/".  Returns NULL after a
 * failure, with its message printed.
 */
struct dart_key_schema *schemas__load(const char *name);

/*
 * Is the value of @schema, called @name, a sum: one number of 8 bytes, whose field names it?  Returns
 * EXIT_SUCCESS, or EXIT_FAILURE with a message printed.
 */
int schemas__check_sum(const struct dart_key_schema *schema, const char *name);

/* Is there a schema called @name? */
bool schemas__has(const char *name);

/* All names with blanks between them, a new string; NULL if out of memory. */
char *schemas__names(void);

#endif /* SCHEMAS_H */
