/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane of the P4 program that counts for a sketch: its tables and mirror sessions, as
 * they are in a switch and as they should be.
 */
#ifndef SKETCH_STATE_H
#define SKETCH_STATE_H

#include <libdart/report/sketch_target.h>

#include "tools/dartctl/switch/engine/hosts.h"
#include "tools/dartctl/switch/engine/kind.h"

/* The wish for a switch: a sketch, and the port that leads to it. */
struct sketch_wish {
	struct dart_sketch_target target;
	uint16_t port;
};

/* The objects of steps; first, the tables. */
enum {
	SKETCH_COLLECTOR,
	SKETCH_SKETCHER,
	SKETCH_TABLES,
	SKETCH_SESSION = SKETCH_TABLES, /* by port */
	SKETCH_PSN,
	SKETCH_PERIOD, /* 0: the switch begins to count again */
	SKETCH_OBJECTS,
};

extern const struct switch_table sketch_tables[SKETCH_TABLES];
extern const struct switch_object sketch_objects[SKETCH_OBJECTS];

/* The parameters of the actions, in their order. */
enum {
	SKETCH_MAC,
	SKETCH_IP,
	SKETCH_QPN,
	SKETCH_RKEY,
	SKETCH_BASE,
	SKETCH_MASK,
	SKETCH_TO_SESSION,
};
enum {
	SKETCHER_MAC,
	SKETCHER_IP,
	SKETCHER_KIND,
	SKETCHER_FIRST,
	SKETCHER_BEGIN,
	SKETCHER_LENGTH,
	SKETCHER_EPOCH,
};

struct sketch_state {
	struct switch_entry collector;
	struct switch_entry sketcher;
	struct switch_entry sessions[SWITCH_PORTS]; /* by port, which is the value */
	struct switch_entry first_psn, period; /* only in a wanted state */
	uint64_t time_us, up_us; /* since 1970, and since the switch was started; only as it is */
};

/*
 * Writes the state to @wanted, whose bytes are 0, that a switch with the state @now should get.  A
 * switch whose periods begin at the right times, within a tenth of a period, goes on with them.
 */
void sketch_state__want(const struct sketch_wish *wish, const struct sketch_state *now,
			struct sketch_state *wanted);

/*
 * Can a switch with the state @now count for the sketch of @wish?  Strips have the rows that the
 * program was compiled for, and a switch counts for one sketch and one sketcher.  Returns 0, or
 * -EINVAL with a sentence in @error.
 */
int sketch_state__check(const struct sketch_wish *wish, const struct sketch_state *now,
			struct dart_error *error);

/*
 * The steps from @now to @wanted; the sketcher comes last, because the switch counts nothing before.
 * Returns 0 or -ENOMEM.
 */
int sketch_state__compute(const struct sketch_state *now, const struct sketch_state *wanted,
			  struct switch_steps *steps);

#endif /* SKETCH_STATE_H */
