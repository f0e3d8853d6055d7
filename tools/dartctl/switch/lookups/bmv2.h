/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads and changes the lookup tables of simple_switch of BMv2 by its Thrift interface.  All
 * functions return 0, or -errno with a sentence in @error.
 */
#ifndef SWITCH_LOOKUP_BMV2_H
#define SWITCH_LOOKUP_BMV2_H

#include "program.h"
#include "steps.h"
#include "tools/dartctl/switch/thrift/thrift.h"

/*
 * Reads the tables, and of sessions and groups those of the ports of @wish.  @sizes: of its
 * program.
 */
int lookup_bmv2__read(struct thrift *thrift, const struct lookup_wish *wish,
		      const struct lookup_sizes *sizes,
		      struct lookup_state *state, struct dart_error *error);

/* Does @steps. */
int lookup_bmv2__apply(struct thrift *thrift, const struct lookup_steps *steps,
		       const struct lookup_sizes *sizes,
		       const struct lookup_state *now,
		       const struct lookup_state *wanted,
		       struct dart_error *error);

#endif /* SWITCH_LOOKUP_BMV2_H */
