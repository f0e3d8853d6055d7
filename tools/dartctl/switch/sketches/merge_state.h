/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane of the P4 program that adds up the strips of sketchers: its tables and mirror
 * sessions, as they are in a switch and as they should be.
 */
#ifndef MERGE_STATE_H
#define MERGE_STATE_H

#include "tools/dartctl/cli/sketchers.h"
#include "tools/dartctl/switch/engine/hosts.h"
#include "tools/dartctl/switch/engine/kind.h"

/* The wish for a switch: a part of a sketch, its sketchers, and the port that leads to it. */
struct merge_wish {
	struct sketchers sketchers;
	uint64_t age_us; /* after which a sum is written that lacks sketchers */
	uint16_t port;
};

/* The objects of steps; first, the tables. */
enum {
	MERGE_COLLECTOR,
	MERGE_TRANSLATOR,
	MERGE_SKETCHER,
	MERGE_TABLES,
	MERGE_SESSION = MERGE_TABLES, /* by port */
	MERGE_PSN,
	MERGE_OBJECTS,
};

extern const struct switch_table merge_tables[MERGE_TABLES];
extern const struct switch_object merge_objects[MERGE_OBJECTS];

/* Sketchers and those that take their place, see p4/v1model/merger.p4. */
#define MERGE_SKETCHERS 128

/* The parameters of the actions, in their order. */
enum {
	MERGE_MAC,
	MERGE_IP,
	MERGE_QPN,
	MERGE_RKEY,
	MERGE_BASE,
	MERGE_MASK,
	MERGE_TO_SESSION,
};
enum {
	TRANSLATOR_MAC,
	TRANSLATOR_IP,
	TRANSLATOR_KIND,
	TRANSLATOR_SKETCHERS,
	TRANSLATOR_AGE,
	TRANSLATOR_FORGET,
	TRANSLATOR_EPOCH,
};

struct merge_state {
	struct switch_entry collector;
	struct switch_entry translator;
	struct switch_entry sketchers[MERGE_SKETCHERS]; /* by address << 24 | queue pair */
	struct switch_entry sessions[SWITCH_PORTS]; /* by port, which is the value */
	struct switch_entry first_psn; /* only in a wanted state */
};

/* Writes the state to @wanted, whose bytes are 0, that a switch should get. */
void merge_state__want(const struct merge_wish *wish, struct merge_state *wanted);

/*
 * Can a switch with the state @now add up for @wish?  Strips have the rows that the program was
 * compiled for, and a switch has the sums of one sketch and of the same sketchers.  Returns 0, or
 * -EINVAL with a sentence in @error.
 */
int merge_state__check(const struct merge_wish *wish, const struct merge_state *now,
		       struct dart_error *error);

/*
 * The steps from @now to @wanted; the sketchers come last, because the switch takes no strip before.
 * Returns 0 or -ENOMEM.
 */
int merge_state__compute(const struct merge_state *now, const struct merge_state *wanted,
			 struct switch_steps *steps);

#endif /* MERGE_STATE_H */
