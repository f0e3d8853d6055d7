/* SPDX-License-Identifier: GPL-2.0-only */
/* The kind of P4 programs that add to a ledger, and pushes to them. */
#ifndef LEDGER_KIND_H
#define LEDGER_KIND_H

#include "state.h"
#include "tools/dartctl/switch/engine/target_push.h"

extern const struct switch_kind ledger_kind; /* its wish is a struct ledger_wish */

/* Sets the members of @push that belong to the kind, and to @wish. */
void ledger_push__init(struct target_push *push, struct ledger_wish *wish);

#endif /* LEDGER_KIND_H */
