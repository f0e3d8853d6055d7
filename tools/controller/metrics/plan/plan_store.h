/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans of equal hosts have most of their memory in common: the texts and labels of series,
 * families, and how points are computed.  What differs between two hosts, such as labels with
 * the name of the host, a plan has of its own.
 *
 * The first plan with a key is the *root* of those that come later with the same key, which
 * hold it.  The key only says where to look: what is shared has been compared.
 */
#ifndef CONTROLLER_PLAN_STORE_H
#define CONTROLLER_PLAN_STORE_H

#include "plan.h"

struct plan_store;

/* NULL if out of memory. */
struct plan_store *plan_store__new(void);
/* Plans that are in it stay.  NULL is allowed. */
void plan_store__put(struct plan_store *store);

/*
 * In any thread: @metrics has just been made, and nothing else has it so far.  @key is what
 * tables of equal hosts have in common: their entries, see catalog.h.  It remains as it is if
 * there is no root, whose place it takes, or no memory.
 */
void plan_store__share(struct plan_store *store, const void *key, struct metric_plan *metrics);
/* @plan is about to be freed. */
void plan_store__forget(struct plan *plan);

/* Makes @plan use the memory of @root, which it holds then.  Returns 0 or -ENOMEM. */
int plan__derive(struct plan *plan, struct plan *root);

#endif /* CONTROLLER_PLAN_STORE_H */
