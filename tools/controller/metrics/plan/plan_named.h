/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds series of the fields that a family names. */
#ifndef CONTROLLER_PLAN_NAMED_H
#define CONTROLLER_PLAN_NAMED_H

#include "plan_entry.h"

/* Marks the fields of @entry that any family uses. */
void plan_named__mark(struct plan_entry *entry, const struct names *names);
/* Adds the series of @entry, the chosen one among the entries of its object. */
void plan_named__add(struct plan_entry *entry, struct plan_builder *builder,
		     const struct names *names);

#endif /* CONTROLLER_PLAN_NAMED_H */
