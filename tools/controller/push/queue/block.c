// SPDX-License-Identifier: GPL-2.0-only
/* Points on their way to the thread that sends them: see block.h. */
#include "block.h"

#include <stdlib.h>

struct block *block__new(struct metric_plan *plan, struct label_set *labels)
{
	struct block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->plan = metric_plan__get(plan);
	block->labels = label_set__hold(labels);
	block->bytes = sizeof(*block);
	return block;
}

void block__free(struct block *block)
{
	uint32_t i;

	if (!block)
		return;
	for (i = 0; i < block->scrapes; i++)
		free(block->rows[i]);
	label_set__release(block->labels);
	metric_plan__put(block->plan);
	free(block);
}

size_t block__row_bytes(const struct metric_plan *plan)
{
	return plan->series_count * sizeof(struct metric_point);
}

void block__add(struct block *block, struct metric_point *row, uint64_t samples)
{
	block->rows[block->scrapes++] = row;
	block->samples += samples;
	block->bytes += block__row_bytes(block->plan);
}

size_t block__points(const struct block *block, uint32_t series,
		     struct metric_point *points)
{
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < block->scrapes; i++) {
		if (block->rows[i][series].time_ns)
			points[count++] = block->rows[i][series];
	}
	return count;
}
