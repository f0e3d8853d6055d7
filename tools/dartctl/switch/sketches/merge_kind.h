/* SPDX-License-Identifier: GPL-2.0-only */
/* The kind of P4 programs that add up the strips of sketchers, and pushes to them. */
#ifndef MERGE_KIND_H
#define MERGE_KIND_H

#include "merge_state.h"
#include "tools/dartctl/switch/engine/target_push.h"

extern const struct switch_kind merge_kind; /* its wish is a struct merge_wish */

/* Sets the members of @push that belong to the kind, and to @wish. */
void merge_push__init(struct target_push *push, struct merge_wish *wish);

#endif /* MERGE_KIND_H */
