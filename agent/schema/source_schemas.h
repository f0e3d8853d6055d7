/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The schemas of sources on this kernel, and the layouts of their records.  A cache, because
 * reading the types takes longer than the rest of a registration, and a host can have many cgroups.
 */
#ifndef SOURCE_SCHEMAS_H
#define SOURCE_SCHEMAS_H

#include <sys/queue.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>
#include <libdart/table/schema.h>
#include <linux/dart_zero.h>

#include "agent/region/source.h"
#include "record_layout.h"

struct btf;

struct source_schemas {
	SLIST_HEAD(, known_schema) known;
	struct btf *types; /* of the kernel, while schemas are asked for */
	sd_event_source *forget;
};

/* Returns 0 or -errno. */
int source_schemas__open(struct source_schemas *schemas, sd_event *loop);
void source_schemas__close(struct source_schemas *schemas);

/*
 * Gets the schema of @extent, a window on @source.  Only length and name of @extent count.
 * @schemas owns the schema.
 */
int source_schemas__get(struct source_schemas *schemas, const struct source *source,
			const struct dart_zero_extent *extent, const struct dart_schema **schema,
			struct dart_error *error);
/* Gets the layout of a record of @extent; @schemas owns it. */
int source_schemas__get_record(struct source_schemas *schemas, const struct source *source,
			       const struct dart_zero_extent *extent,
			       const struct record_layout **layout, struct dart_error *error);

#endif /* SOURCE_SCHEMAS_H */
