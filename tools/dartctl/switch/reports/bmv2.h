/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads and changes simple_switch of BMv2 by its Thrift interface.  All
 * functions return 0, or -errno with a sentence in @error.
 */
#ifndef SWITCH_BMV2_H
#define SWITCH_BMV2_H

#include <libdart/error.h>

#include "steps.h"
#include "tools/dartctl/switch/bmv2/program.h"
#include "tools/dartctl/switch/thrift/thrift.h"

/* Reads the program that runs, which must be of @kind. */
int switch_bmv2__read_program(struct thrift *thrift,
			      const struct switch_kind *kind,
			      struct switch_program *program,
			      struct dart_error *error);

/*
 * Reads the tables of that program, and of the sessions those to the ports of
 * @wish.
 */
int switch_bmv2__read(struct thrift *thrift, const struct switch_wish *wish,
		      struct switch_state *state, struct dart_error *error);

/* They cannot be read, so each push sets them. */
int switch_bmv2__set_polynomials(struct thrift *thrift,
				 const struct switch_program *program,
				 struct dart_error *error);

/* Does @steps; PSNs are read back. */
int switch_bmv2__apply(struct thrift *thrift, const struct switch_steps *steps,
		       const struct switch_state *now,
		       const struct switch_state *wanted,
		       struct dart_error *error);

#endif /* SWITCH_BMV2_H */
