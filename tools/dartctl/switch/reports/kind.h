/* SPDX-License-Identifier: GPL-2.0-only */
/* The kinds of P4 programs that report to stores; their wish is a struct report_wish. */
#ifndef REPORT_KIND_H
#define REPORT_KIND_H

#include "tools/dartctl/switch/engine/kind.h"
#include "wish.h"

extern const struct switch_kind report_kind; /* what the switch sees itself */
extern const struct switch_kind translator_kind; /* paths of the postcards of others */

/* The kind of program that @wish is for. */
static inline const struct switch_kind *report_kind__of(const struct report_wish *wish)
{
	return wish->translation.port ? &translator_kind : &report_kind;
}

/* Does a program that reports gather postcards? */
bool report_program__gathers(const struct switch_program *program);

#endif /* REPORT_KIND_H */
