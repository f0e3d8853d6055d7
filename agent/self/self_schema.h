/* SPDX-License-Identifier: GPL-2.0-only */
/* The schema of struct counts. */
#ifndef SELF_SCHEMA_H
#define SELF_SCHEMA_H

#include <libdart/table/schema.h>

/* NULL if out of memory. */
struct dart_schema *self_schema__new(const char *name);

#endif /* SELF_SCHEMA_H */
