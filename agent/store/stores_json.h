/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stores and reporters in replies of <dart/registration.h>.  All return a new
 * reference, NULL if out of memory.
 */
#ifndef STORES_JSON_H
#define STORES_JSON_H

#include <jansson.h>

#include "stores.h"

json_t *stores_json__store(const struct store *store);
json_t *stores_json__reporter(const struct store *store, const struct report_qp *report_qp);
/* The numbers that reporters need, as in dart_collectors(5). */
json_t *stores_json__collectors(const struct store *store);

#endif /* STORES_JSON_H */
