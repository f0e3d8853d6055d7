/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schemas that are held once for all tables that have an equal one: those of all hosts with
 * the same kernel.
 */
#ifndef CONTROLLER_SHARED_SCHEMA_H
#define CONTROLLER_SHARED_SCHEMA_H

#include <libdart/table/schema.h>

#include "content.h"

struct shared_schema {
	struct content content; /* first; content__release() */
	struct dart_schema schema;
	/* Fields and texts follow. */
};

extern const struct content_kind shared_schema__kind;

/* Equal to @schema; the caller holds it.  NULL if out of memory. */
struct shared_schema *shared_schema__get(struct content_store *store,
					 const struct dart_schema *schema);

#endif /* CONTROLLER_SHARED_SCHEMA_H */
