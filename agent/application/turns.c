// SPDX-License-Identifier: GPL-2.0-only
/* Chooses the rows of a pass: see turns.h. */
#include "turns.h"

#include <errno.h>
#include <stdlib.h>

int turns__open(struct turns *turns, uint32_t row_count, uint32_t gather_ms)
{
	*turns = (struct turns){ .row_count = row_count, .passes = 1, .fetches_all = true };
	if (row_count > TURNS_ROWS_MIN && gather_ms < TURNS_MS)
		turns->passes = TURNS_MS / gather_ms;
	turns->rows = calloc(row_count, sizeof(*turns->rows));
	turns->busy = calloc(row_count, sizeof(*turns->busy));
	turns->rests = calloc(row_count, sizeof(*turns->rests));
	if (turns->rows && turns->busy && turns->rests)
		return 0;
	turns__close(turns);
	return -ENOMEM;
}

void turns__close(struct turns *turns)
{
	free(turns->rows);
	free(turns->busy);
	free(turns->rests);
	*turns = (struct turns){};
}

static void turns__add(struct turns *turns, uint32_t row, bool is_whole)
{
	turns->rows[turns->count++] = (struct application_row){ .row = row, .is_whole = is_whole };
}

void turns__choose(struct turns *turns)
{
	const uint32_t whole = turns->fetches_all ?
				       turns->row_count :
				       (turns->row_count + turns->passes - 1) / turns->passes;
	uint32_t i;

	turns->count = 0;
	for (i = 0; i < whole; i++)
		turns__add(turns, (turns->next + i) % turns->row_count, true);
	for (i = 0; i < turns->busy_count; i++)
		/* Rows after the next one, in a circle, are in the list. */
		if ((turns->busy[i] + turns->row_count - turns->next) % turns->row_count >= whole)
			turns__add(turns, turns->busy[i], false);
	turns->next = (turns->next + whole) % turns->row_count;
}

/* Lists the rows that stay busy. */
void turns__end(struct turns *turns, int ret)
{
	const bool was_first = turns->fetches_all;
	const struct application_row *row;
	uint32_t i;

	turns->fetches_all = ret;
	turns->busy_count = 0;
	for (i = 0; i < turns->count; i++) {
		row = &turns->rows[i];
		if (row->has_changed && !was_first)
			turns->rests[row->row] = turns->passes;
		else if (turns->rests[row->row])
			turns->rests[row->row]--;
		if (turns->rests[row->row])
			turns->busy[turns->busy_count++] = row->row;
	}
}
