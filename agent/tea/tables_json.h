/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables and requesters in replies of <dart/registration.h>: new references, NULL if out of memory.
 * See struct remote_kind.
 */
#ifndef TABLES_JSON_H
#define TABLES_JSON_H

#include <jansson.h>

#include "lookup_table.h"

json_t *tables_json__table(const struct remote_object *object);
json_t *tables_json__requester(const struct remote_object *object, const struct remote_peer *peer);
json_t *tables_json__changes(const struct table_changes *changes);
/* The numbers that switches need, as in dart_tables(5). */
json_t *tables_json__export(const struct remote_object *object);

#endif /* TABLES_JSON_H */
