/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps from the state of a switch with lookup tables to the wanted one, in an order in
 * which no packet gets the entry of another key or table in between.
 */
#ifndef LOOKUP_STEPS_H
#define LOOKUP_STEPS_H

#include "state.h"

/*
 * A server whose queue pair or table is another one is stopped, loses its entry, gets
 * registers and entries, and is started at the end; the other servers go on meanwhile.  If a number
 * passes to another server, its shares are removed first.  Shares are added when all that they
 * need is in place.  @last: the tables that this process pushed last, or NULL.  Returns 0 or
 * -ENOMEM.
 */
int lookup_steps__compute(const struct lookup_state *now, const struct lookup_state *wanted,
			  const struct dart_tea_tables *last, struct switch_steps *steps);

#endif /* LOOKUP_STEPS_H */
