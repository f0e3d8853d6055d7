/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shares memory between the plans of equal hosts: the texts and labels of series, the families, and
 * the rules that compute points. A plan keeps its own copy of everything that differs between two
 * hosts, such as labels with the name of the host.
 *
 * The first plan with a key becomes the *root* of later plans with the same key, which hold it. The
 * key only says where to look: plans are compared before they share memory.
 */
#ifndef CONTROLLER_PLAN_STORE_H
#define CONTROLLER_PLAN_STORE_H

#include "plan.h"

struct plan_store;

/* NULL if memory ran out. */
struct plan_store *plan_store__new(void);
/* Plans in the store stay valid. Ignores NULL. */
void plan_store__put(struct plan_store *store);

/*
 * Callable from any thread, for a new plan @metrics that nothing else refers to yet. @key
 * identifies the part that tables of equal hosts share: their entries, see catalog.h. If no root
 * exists, the plan becomes the root; then, or if memory runs out, the plan stays as it is.
 */
void plan_store__share(struct plan_store *store, const void *key, struct metric_plan *metrics);

/* Makes @plan use the memory of @root, and hold it. Returns 0 or -ENOMEM. */
int plan__derive(struct plan *plan, struct plan *root);

#endif /* CONTROLLER_PLAN_STORE_H */
