/* SPDX-License-Identifier: GPL-2.0-only */
/* The schemas of sources, from the types of the running kernel (BTF). */
#ifndef SOURCE_SCHEMA_H
#define SOURCE_SCHEMA_H

#include <bpf/btf.h>
#include <sys/queue.h>

#include <libdart/table/schema.h>

#include <libdart/error.h>
#include "agent/region/source.h"

/*
 * A cache: reading the types takes longer than the rest of a registration, and
 * there may be many cgroups.
 */
struct source_schemas {
	SLIST_HEAD(, known_schema) known;
};

void source_schemas__open(struct source_schemas *schemas);
void source_schemas__close(struct source_schemas *schemas);

/*
 * Gets the schema of @extent, a window on @source.  @schemas owns it.  A layout
 * whose size differs from the window's is not the variable's and is refused.
 */
int source_schemas__get(struct source_schemas *schemas,
			const struct source *source,
			const struct dart_zero_extent *extent,
			const struct dart_schema **schema,
			struct dart_error *error);

/* The same from any BTF; the caller frees the schema. */
int source_schema__from_btf(const struct source *source, const struct btf *btf,
			    const struct dart_zero_extent *extent,
			    struct dart_schema **schema,
			    struct dart_error *error);

#endif /* SOURCE_SCHEMA_H */
