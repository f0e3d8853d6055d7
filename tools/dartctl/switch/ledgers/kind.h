/* SPDX-License-Identifier: GPL-2.0-only */
/* The kind of P4 programs that add to a ledger; its wish is a struct ledger_wish. */
#ifndef LEDGER_KIND_H
#define LEDGER_KIND_H

#include "tools/dartctl/switch/engine/kind.h"

extern const struct switch_kind ledger_kind;

#endif /* LEDGER_KIND_H */
