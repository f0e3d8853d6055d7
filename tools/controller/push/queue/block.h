/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A block: the points of a few scrapes of a target, by the same plan, on their way from the
 * worker that made them to the thread that sends them.
 */
#ifndef CONTROLLER_BLOCK_H
#define CONTROLLER_BLOCK_H

#include <stdint.h>
#include <stdlib.h>

#include "tools/controller/base/queue.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/push/formats/label_set.h"

#define BLOCK_SCRAPES_MAX 64

struct block {
	struct queue_item item;
	struct block *next; /* of the blocks that wait to be encoded */
	struct metric_plan *plan; /* held */
	struct label_set *labels; /* held */
	uint64_t samples; /* points with a time */
	size_t bytes; /* of memory */
	uint32_t scrapes;
	/* Of each scrape, a point of each series of the plan; without a time it is not sent. */
	struct metric_point *rows[BLOCK_SCRAPES_MAX];
};

/* Without scrapes.  NULL if out of memory. */
static inline struct block *block__new(struct metric_plan *plan, struct label_set *labels)
{
	struct block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->plan = metric_plan__get(plan);
	block->labels = label_set__hold(labels);
	block->bytes = sizeof(*block);
	return block;
}

/* NULL is allowed. */
static inline void block__free(struct block *block)
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

/* Memory of a row of @plan. */
static inline size_t block__row_bytes(const struct metric_plan *plan)
{
	return plan->series_count * sizeof(struct metric_point);
}

/*
 * Adds @row, which was allocated by malloc() and in which @samples points have a time.  The block
 * has fewer than BLOCK_SCRAPES_MAX scrapes.
 */
static inline void block__add(struct block *block, struct metric_point *row, uint64_t samples)
{
	block->rows[block->scrapes++] = row;
	block->samples += samples;
	block->bytes += block__row_bytes(block->plan);
}

/* The points of a series, in order, into @points[BLOCK_SCRAPES_MAX]; returns how many. */
static inline size_t block__points(const struct block *block, uint32_t series,
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

#endif /* CONTROLLER_BLOCK_H */
