/* SPDX-License-Identifier: GPL-2.0-only */
/* Finishes a plan: sorts the collected series in the order that outputs expect. */
#ifndef CONTROLLER_PLAN_SORT_H
#define CONTROLLER_PLAN_SORT_H

#include "plan_builder.h"

/*
 * Sorts the series; of equal series, keeps the one of the lowest priority, and among these the one
 * added first. Moves the plan out of the builder. Returns 0, or -ENOMEM, also if memory ran out in
 * an earlier call.
 */
int plan_builder__finish(struct plan_builder *builder, struct metric_plan **plan);

#endif /* CONTROLLER_PLAN_SORT_H */
