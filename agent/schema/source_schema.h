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
 * The types are read when a source is seen for the first time: that takes
 * longer than all the rest of its registration, and there are many cgroups.
 */
struct source_schemas {
	SLIST_HEAD(, known_schema) known;
};

void source_schemas__open(struct source_schemas *schemas);
void source_schemas__close(struct source_schemas *schemas);

/*
 * The schema of @extent, a window on @source, which stays with @schemas.  A
 * layout of another size than the window's is not that of the variable and
 * refused.
 */
int source_schemas__get(struct source_schemas *schemas,
			const struct source *source,
			const struct dart_zero_extent *extent,
			const struct dart_schema **schema,
			struct dart_error *error);

/* The same out of any BTF; the caller frees it. */
int source_schema__from_btf(const struct source *source, const struct btf *btf,
			    const struct dart_zero_extent *extent,
			    struct dart_schema **schema,
			    struct dart_error *error);

#endif /* SOURCE_SCHEMA_H */
