/* SPDX-License-Identifier: GPL-2.0-only */
/* The kind of P4 programs that report to stores; its wish is a struct report_wish. */
#ifndef REPORT_KIND_H
#define REPORT_KIND_H

#include "tools/dartctl/switch/engine/kind.h"

extern const struct switch_kind report_kind;

#endif /* REPORT_KIND_H */
