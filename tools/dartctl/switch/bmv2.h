/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What simple_switch of BMv2 has, and changes of it, by its Thrift interface.
 * All functions return 0 or -errno, and then a sentence in @error.
 */
#ifndef SWITCH_BMV2_H
#define SWITCH_BMV2_H

#include <libdart/error.h>

#include "steps.h"
#include "program.h"
#include "thrift.h"

/* The program that runs. */
int switch_bmv2__read_program(struct thrift *thrift,
			      struct switch_program *program,
			      struct dart_error *error);

/*
 * What the switch has in the tables of that program.  Of the sessions only
 * those to the ports that @wish names.
 */
int switch_bmv2__read(struct thrift *thrift, const struct switch_wish *wish,
		      struct switch_state *state, struct dart_error *error);

/* Nothing tells which ones are set. */
int switch_bmv2__set_polynomials(struct thrift *thrift,
				 const struct switch_program *program,
				 struct dart_error *error);

/* Does what @plan says; PSNs are read back. */
int switch_bmv2__follow(struct thrift *thrift, const struct switch_plan *plan,
			const struct switch_state *now,
			const struct switch_state *wanted,
			struct dart_error *error);

#endif /* SWITCH_BMV2_H */
