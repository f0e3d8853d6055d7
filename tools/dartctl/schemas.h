/* SPDX-License-Identifier: GPL-2.0-only */
/* Where schemas of keys are: dart_schema(5). */
#ifndef SCHEMAS_H
#define SCHEMAS_H

#include <libdart/key/key_schema.h>

/*
 * The schema that is called @name, or in the file @name if there is a "/" in it.
 * NULL if it cannot be had; why has been said.
 */
struct dart_key_schema *schemas__load(const char *name);

/* All names, a new string with blanks between them; NULL if memory is short. */
char *schemas__names(void);

#endif /* SCHEMAS_H */
