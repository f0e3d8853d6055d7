/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time that the plans of a target take its worker, which other targets share: a part of the
 * worker, however fast the series of the target change.  After a time without plans they may follow
 * each other at once.
 */
#ifndef CONTROLLER_PLAN_BUDGET_H
#define CONTROLLER_PLAN_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* One in this many parts of a worker. */
#define PLAN_BUDGET_PARTS 4
/* So long a time without plans counts for later. */
#define PLAN_BUDGET_SAVED_NS 4000000000ULL

/* CLOCK_MONOTONIC, ns, like all times here.  Zeroed memory: no plan was made. */
struct plan_budget {
	uint64_t paid_ns; /* plans are paid until then */
};

/* May another plan be made at @now_ns? */
static inline bool plan_budget__permits(const struct plan_budget *budget, uint64_t now_ns)
{
	return budget->paid_ns <= now_ns;
}

/* A plan was made until @now_ns, in @cost_ns of the worker's CPU time. */
static inline void plan_budget__pay(struct plan_budget *budget, uint64_t now_ns, uint64_t cost_ns)
{
	if (budget->paid_ns + PLAN_BUDGET_SAVED_NS < now_ns)
		budget->paid_ns = now_ns - PLAN_BUDGET_SAVED_NS;
	budget->paid_ns += PLAN_BUDGET_PARTS * cost_ns;
}

#endif /* CONTROLLER_PLAN_BUDGET_H */
