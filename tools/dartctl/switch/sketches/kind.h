/* SPDX-License-Identifier: GPL-2.0-only */
/* The kind of P4 programs that count for a sketch, and pushes to them. */
#ifndef SKETCH_KIND_H
#define SKETCH_KIND_H

#include "state.h"
#include "tools/dartctl/switch/engine/target_push.h"

extern const struct switch_kind sketch_kind; /* its wish is a struct sketch_wish */

/* Sets the members of @push that belong to the kind, and to @wish. */
void sketch_push__init(struct target_push *push, struct sketch_wish *wish);

#endif /* SKETCH_KIND_H */
