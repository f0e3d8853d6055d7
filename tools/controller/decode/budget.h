/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds the cost of one agent's scrapes, whatever its table says: BUDGET_BYTES of memory and of
 * output. Every slow step takes time in proportion to these bytes, so they bound the time as well:
 * at most about a second for each scrape, in which other agents wait. DART_CONTROL_LENGTH_MAX
 * bounds the table itself: decoded, it takes up to four times as much memory, and a quarter of a
 * second.
 */
#ifndef CONTROLLER_BUDGET_H
#define CONTROLLER_BUDGET_H

#include <libdart/error.h>
#include <libdart/rdma/read_plan.h>

#define BUDGET_BYTES (256ULL << 20)

/* Bytes of output for each value: a name, quotes and 20 digits. */
#define BUDGET_TEXT_BYTES 24
/* Bytes of output for each value in a table whose cells are all printed. */
#define BUDGET_CELL_BYTES 192

/* Landing buffers of a large scrape: its ring allocates two slots, see ring.h. */
#define BUDGET_LANDINGS 2

/*
 * Checks the cost of @wanted_count entries of @table, indices in @wanted, where each value takes
 * @value_bytes of output. @plan lists their READs; NULL if the READs exceed DART_CONTROL_DATA_MAX
 * bytes. Returns 0, or -EFBIG or -ENOMEM with a sentence, which names the largest entries.
 */
int budget__check(const struct dart_table *table, const uint32_t *wanted, uint32_t wanted_count,
		  const struct dart_read_plan *plan, uint32_t value_bytes,
		  struct dart_error *error);

#endif /* CONTROLLER_BUDGET_H */
