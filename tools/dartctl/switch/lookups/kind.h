/* SPDX-License-Identifier: GPL-2.0-only */
/* The kind of P4 programs with lookup tables; its wish is a struct lookup_wish. */
#ifndef LOOKUP_KIND_H
#define LOOKUP_KIND_H

#include "tools/dartctl/switch/engine/kind.h"

extern const struct switch_kind lookup_kind;

#endif /* LOOKUP_KIND_H */
