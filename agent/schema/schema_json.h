/* SPDX-License-Identifier: GPL-2.0-only */
/* A schema as a process describes it to the socket. */
#ifndef SCHEMA_JSON_H
#define SCHEMA_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/table/schema.h>

#include <libdart/error.h>

/*
 * @json: {"name": N, "length": L, "fields": [{"name", "offset", "width", "kind",
 * "unit", "count", "signed"}, ...]}, where the last three may be left out.
 * Hostile.  Fields may come in any order.
 */
int schema_json__new(json_t *json, struct dart_schema **schema,
		     struct dart_error *error);

/* @names: of counters of 64 bits, one after the other. */
int schema_json__new_counters(const char *name, json_t *names,
			      struct dart_schema **schema,
			      struct dart_error *error);

/* Are these the names of its fields? */
bool schema_json__names(const struct dart_schema *schema, json_t *names);

#endif /* SCHEMA_JSON_H */
