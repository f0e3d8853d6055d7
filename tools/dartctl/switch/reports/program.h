/* SPDX-License-Identifier: GPL-2.0-only */
/* The P4 program that reports to stores. */
#ifndef SWITCH_REPORT_PROGRAM_H
#define SWITCH_REPORT_PROGRAM_H

#include "tools/dartctl/switch/bmv2/program.h"
#include "wish.h"

extern const struct switch_kind switch_report_program;

/* Does it suit @wish?  Returns 0, or -errno with a sentence in @error. */
int switch_report_program__check(const struct switch_program *program,
				 const struct switch_wish *wish,
				 struct dart_error *error);

#endif /* SWITCH_REPORT_PROGRAM_H */
