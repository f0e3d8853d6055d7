/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the next dartd must know of a table: its memory, under a name in the fd store, and
 * its epoch, as the "kept" of a registration.
 */
#ifndef TABLE_KEPT_H
#define TABLE_KEPT_H

#include <jansson.h>

#include "agent/base/fd_store.h"
#include "lookup_table.h"

/* All names in the fd store begin with this. */
#define TABLE_KEPT_PREFIX TABLE_NOUN "-"

/* The name of the memory, see kept_memory.h; tables with other shares have another. */
void table_kept__name(const char *table, const struct table_parameters *parameters,
		      char name[static FD_STORE_NAME_MAX]);

/* A new reference, NULL if out of memory. */
json_t *table_kept__table(const struct lookup_table *table);
/*
 * Returns the epoch in @kept: hostile, NULL if there is none.  0 if there is none; an
 * impossible one is logged.
 */
uint32_t table_kept__read_epoch(const json_t *kept, const char *name);

#endif /* TABLE_KEPT_H */
