/* SPDX-License-Identifier: GPL-2.0-only */
/* The kind of P4 programs that append to a journal, and pushes to them. */
#ifndef JOURNAL_KIND_H
#define JOURNAL_KIND_H

#include "state.h"
#include "tools/dartctl/switch/engine/target_push.h"

extern const struct switch_kind journal_kind; /* its wish is a struct journal_wish */

/* Sets the members of @push that belong to the kind, and to @wish. */
void journal_push__init(struct target_push *push, struct journal_wish *wish);

#endif /* JOURNAL_KIND_H */
