/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which rows of an entry are fetched in a pass.  Of a table of commands a program uses few, and all
 * of its memory would cost the host as much as a request that the program answers.  So rows whose
 * values have changed lately are fetched in each pass, and the others in turn.
 */
#ifndef APPLICATION_TURNS_H
#define APPLICATION_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "reader.h"

/* Entries with no more rows have no turns: each pass fetches all of them. */
#define TURNS_ROWS_MIN 16
/* A row that has not changed for this time is fetched once in it; others in each pass. */
#define TURNS_MS 10000

struct turns {
	struct application_row *rows; /* of the pass */
	uint32_t count; /* of @rows */
	uint32_t *busy; /* rows that are fetched in each pass */
	uint32_t busy_count;
	uint32_t *rests; /* passes until a row is not busy any more; 0: it is not */
	uint32_t row_count;
	uint32_t passes; /* of TURNS_MS, at least 1 */
	uint32_t next; /* row whose turn is next */
	bool fetches_all; /* the next pass fetches all rows whole */
};

/* -ENOMEM.  The first pass fetches all rows whole. */
int turns__open(struct turns *turns, uint32_t row_count, uint32_t gather_ms);
void turns__close(struct turns *turns);

/* Chooses the rows of a pass. */
void turns__choose(struct turns *turns);
/* The pass has ended, and has marked rows that have changed.  @ret: not 0 if it failed. */
void turns__end(struct turns *turns, int ret);

#endif /* APPLICATION_TURNS_H */
