/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data by which the next dartd recognizes a table: its memory, under a name in the fd store, and
 * its epoch, as the "kept" of a registration.
 *
 * Epochs of tables are 1 to DART_TEA_EPOCH_MAX: seconds of CLOCK_REALTIME, but after each
 * epoch that this dartd knows of.  After DART_TEA_EPOCH_MAX, some 194 days, comes 1.
 */
#ifndef TABLE_KEPT_H
#define TABLE_KEPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/base/fd_store.h"
#include "table_parameters.h"

/* In errors, and in the names of kept descriptors. */
#define TABLE_NOUN "table"
/* All names in the fd store begin with this. */
#define TABLE_KEPT_PREFIX TABLE_NOUN "-"

/* The name of the memory, see kept_memory.h; it differs for tables with other shares. */
void table_kept__name(const char *table, const struct table_parameters *parameters,
		      char name[static FD_STORE_NAME_MAX]);

/* A new reference, NULL if out of memory. */
json_t *table_kept__table(uint32_t epoch);
/*
 * Returns the epoch in @kept, which is hostile, or NULL if nothing was kept; 0 if there is no valid
 * epoch.  An invalid one is logged.
 */
uint32_t table_kept__read_epoch(const json_t *kept, const char *name);

/* True if @a comes after @b, by less than half of all epochs.  @b may be 0: none. */
bool table_epoch__is_behind(uint32_t a, uint32_t b);
/* Returns an epoch for @now, s, that comes after @last, which may be 0. */
uint32_t table_epoch__next(uint32_t last, uint64_t now);

#endif /* TABLE_KEPT_H */
