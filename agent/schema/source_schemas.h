/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The schemas of sources on this kernel, and of records of them.  A cache: reading the
 * types takes longer than the rest of a registration, and there may be many cgroups.
 */
#ifndef SOURCE_SCHEMAS_H
#define SOURCE_SCHEMAS_H

#include <sys/queue.h>

#include <libdart/error.h>
#include <libdart/table/schema.h>
#include <linux/dart_zero.h>

#include "agent/region/source.h"
#include "record_layout.h"

struct source_schemas {
	SLIST_HEAD(, known_schema) known;
};

void source_schemas__open(struct source_schemas *schemas);
void source_schemas__close(struct source_schemas *schemas);

/*
 * Gets the schema of @extent, a window on @source, of which only length and name
 * count.  @schemas owns it.
 */
int source_schemas__get(struct source_schemas *schemas,
			const struct source *source,
			const struct dart_zero_extent *extent,
			const struct dart_schema **schema,
			struct dart_error *error);
/* The layout of a record of the same; @schemas owns it, too. */
int source_schemas__get_record(struct source_schemas *schemas,
			       const struct source *source,
			       const struct dart_zero_extent *extent,
			       const struct record_layout **layout,
			       struct dart_error *error);

#endif /* SOURCE_SCHEMAS_H */
