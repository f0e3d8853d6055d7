// SPDX-License-Identifier: GPL-2.0-only
/* Plans: their holders, and what they fit. */
#include "plan.h"

#include <stdlib.h>

#include "plan_store.h"

struct plan *plan__new(void)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (plan)
		atomic_init(&plan->holders, 1);
	return plan;
}

static void plan__free(struct plan *plan)
{
	static const struct plan none;
	struct plan *root = plan->root;
	const struct plan *of = root ?: &none;

	plan_store__forget(plan);
	names__put(plan->names);
	arena__free(&plan->arena);
	if (plan->rules != of->rules)
		free(plan->rules);
	if (plan->terms != of->terms)
		free(plan->terms);
	if (plan->rows != of->rows)
		free(plan->rows);
	if (plan->buckets != of->buckets)
		free(plan->buckets);
	free(plan->watches);
	free(plan);
	/* It is no other plan's, so this ends here. */
	if (root)
		metric_plan__put(&root->metrics);
}

struct metric_plan *metric_plan__get(struct metric_plan *metrics)
{
	atomic_fetch_add(&((struct plan *)metrics)->holders, 1);
	return metrics;
}

void metric_plan__put(struct metric_plan *metrics)
{
	struct plan *plan = (struct plan *)metrics;

	if (atomic_fetch_sub(&plan->holders, 1) == 1)
		plan__free(plan);
}

bool metric_plan__fits(const struct metric_plan *metrics,
		       const struct sample *sample)
{
	const struct plan *plan = plan__of(metrics);
	uint32_t i;

	if (plan->instance != sample->table->instance ||
	    plan->generation != sample->table->generation ||
	    plan->entry_count != sample->entry_count)
		return false;
	for (i = 0; i < plan->watch_count; i++)
		if (!row_watch__fits(&plan->watches[i],
				     &sample->entries[plan->watches[i].entry]))
			return false;
	return true;
}
