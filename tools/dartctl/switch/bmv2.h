/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What simple_switch of BMv2 has, and changes of it, by its Thrift interface.
 * All functions return 0 or -errno, and then a sentence in @why.
 */
#ifndef SWITCH_BMV2_H
#define SWITCH_BMV2_H

#include "steps.h"
#include "program.h"
#include "thrift.h"

/* The program that runs. */
int switch_bmv2__read_program(struct thrift *thrift,
			      struct switch_program *program,
			      char why[DART_WHY_MAX]);

/*
 * What the switch has in the tables of that program.  Of the sessions only
 * those to the ports that @wish names.
 */
int switch_bmv2__read(struct thrift *thrift, const struct switch_wish *wish,
		      struct switch_state *state, char why[DART_WHY_MAX]);

/* Nothing tells which ones are set. */
int switch_bmv2__set_polynomials(struct thrift *thrift,
				 const struct switch_program *program,
				 char why[DART_WHY_MAX]);

/* Does what @plan says; PSNs are read back. */
int switch_bmv2__follow(struct thrift *thrift, const struct switch_plan *plan,
			const struct switch_state *now,
			const struct switch_state *wanted,
			char why[DART_WHY_MAX]);

#endif /* SWITCH_BMV2_H */
