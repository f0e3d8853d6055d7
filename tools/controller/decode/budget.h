/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the scrapes of one agent may cost, whatever its table says: BUDGET_BYTES of
 * memory and of output.  All that takes time is proportional to these bytes, so they
 * bound the time as well: at most about a second for each scrape, in which other agents
 * wait.  The table itself is bounded by DART_CONTROL_LENGTH_MAX: decoded it takes up to
 * four times as much, and a quarter of a second.
 */
#ifndef CONTROLLER_BUDGET_H
#define CONTROLLER_BUDGET_H

#include <libdart/error.h>
#include <libdart/rdma/read_plan.h>

#define BUDGET_BYTES (256ULL << 20)

/* Of output for each value: a name, quotes and 20 digits. */
#define BUDGET_TEXT_BYTES 24
/* The same as a cell of a table that is printed whole. */
#define BUDGET_CELL_BYTES 192

/* A large scrape has the memory that it lands in twice: see ring.h. */
#define BUDGET_LANDINGS 2

/*
 * Checks the cost of @wanted_count entries of @table, indices in @wanted, where each
 * value takes @value_bytes of output.  @plan has their READs; NULL: they take more than
 * DART_CONTROL_DATA_MAX bytes.  Returns 0, or -EFBIG or -ENOMEM with a sentence, which
 * names the largest entries.
 */
int budget__check(const struct dart_table *table, const uint32_t *wanted, uint32_t wanted_count,
		  const struct dart_read_plan *plan, uint32_t value_bytes,
		  struct dart_error *error);

#endif /* CONTROLLER_BUDGET_H */
