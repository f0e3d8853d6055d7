/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Schemas kept once for all tables that use an equal one: hosts with the same kernel share theirs.
 */
#ifndef CONTROLLER_SHARED_SCHEMA_H
#define CONTROLLER_SHARED_SCHEMA_H

#include <libdart/table/schema.h>

#include "content.h"

struct shared_schema {
	struct content content; /* first member; release with content__release() */
	struct dart_schema schema;
	/* The fields and their texts follow in the same allocation. */
};

extern const struct content_kind shared_schema__kind;

/* Returns a schema equal to @schema, with a hold for the caller; NULL if out of memory. */
struct shared_schema *shared_schema__get(struct content_store *store,
					 const struct dart_schema *schema);

#endif /* CONTROLLER_SHARED_SCHEMA_H */
