/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables and requesters in replies of <dart/registration.h>.  All return a new
 * reference, NULL if out of memory.
 */
#ifndef TABLES_JSON_H
#define TABLES_JSON_H

#include <jansson.h>

#include "lookup_table.h"

json_t *tables_json__table(const struct lookup_table *table);
json_t *tables_json__requester(const struct lookup_table *table, const struct requester *requester);
json_t *tables_json__changes(const struct table_changes *changes);
/* The numbers that switches need, as in dart_tables(5). */
json_t *tables_json__export(const struct lookup_table *table);

#endif /* TABLES_JSON_H */
