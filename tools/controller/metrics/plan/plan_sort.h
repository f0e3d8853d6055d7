/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of making a plan: what was collected, in the order that outputs expect. */
#ifndef CONTROLLER_PLAN_SORT_H
#define CONTROLLER_PLAN_SORT_H

#include "plan_builder.h"

/*
 * Of equal series that of the lowest priority stays, then the first that was added.  Takes the plan out of the builder.
 * Returns 0, or -ENOMEM, also for all that ran out of it before.
 */
int plan_builder__finish(struct plan_builder *builder, struct metric_plan **plan);

#endif /* CONTROLLER_PLAN_SORT_H */
