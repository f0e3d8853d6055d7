/* SPDX-License-Identifier: GPL-2.0-only */
/* The schema of a source, from the types of the running kernel (BTF). */
#ifndef SOURCE_SCHEMA_H
#define SOURCE_SCHEMA_H

#include <dart/schema.h>

#include "source.h"
#include "why.h"

/*
 * @extent is the window on @source: a layout of another size than its is not
 * that of the variable and refused.
 */
int source_schema__new(const struct source *source,
		       const struct dart_zero_extent *extent,
		       struct dart_schema **schema, struct why *why);

#endif /* SOURCE_SCHEMA_H */
