/* SPDX-License-Identifier: GPL-2.0-only */
/* Schemas in the requests of clients. */
#ifndef SCHEMA_JSON_H
#define SCHEMA_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/table/schema.h>

/*
 * @json comes from a client and is checked: {"name": N, "length": L, "fields": [{"name", "offset",
 * "width", "kind", "unit", "count", "signed"}, ...]}.  The last three keys are optional; fields may
 * come in any order.
 */
int schema_json__new(json_t *json, struct dart_schema **schema, struct dart_error *error);

/* A schema of adjacent 64-bit counters called @names. */
int schema_json__new_counters(const char *name, json_t *names, struct dart_schema **schema,
			      struct dart_error *error);

/* True if the fields have exactly these names, in this order. */
bool schema_json__names(const struct dart_schema *schema, json_t *names);

#endif /* SCHEMA_JSON_H */
