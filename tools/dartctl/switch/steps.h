/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps from what a switch has to what it should have, in an order in which
 * no report goes to a wrong place on the way.
 */
#ifndef SWITCH_PLAN_H
#define SWITCH_PLAN_H

#include "state.h"

enum switch_verb { SWITCH_ADD, SWITCH_CHANGE, SWITCH_REMOVE };

enum switch_object {
	SWITCH_STEP_SHARE,
	SWITCH_STEP_COLLECTOR,
	SWITCH_STEP_REPORTER,
	SWITCH_STEP_SESSION,	/* its number is that of the port */
	SWITCH_STEP_PSN,	/* of a collector */
};

/* The same is done with all from @first to @last. */
struct switch_step {
	enum switch_verb verb;
	enum switch_object object;
	uint32_t first, last;
};

/* Shares leave and come; collectors come, with their PSNs, or leave. */
#define SWITCH_STEPS_MAX	(2 * DART_STORE_SHARES + SWITCH_PORTS + 1 + \
				 2 * SWITCH_COLLECTOR_KEYS)

struct switch_plan {
	uint32_t count;
	struct switch_step steps[SWITCH_STEPS_MAX];
};

/*
 * Shares leave before the collector that they are assigned to is replaced, or
 * the reporter is, and come when all that they need is there; then collectors
 * that nobody needs leave.  These leave before another reporter comes, for what
 * is in a queue must not go to them in his name.  Those with numbers that are
 * never given out leave first, and their shares with them: others may need the
 * room.
 */
void switch_plan__make(const struct switch_state *now,
		       const struct switch_state *wanted,
		       struct switch_plan *plan);

#endif /* SWITCH_PLAN_H */
