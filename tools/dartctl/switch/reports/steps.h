/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps from the state of a switch to the wanted one, in an order in which
 * no report goes to a wrong place in between.
 */
#ifndef SWITCH_STEPS_H
#define SWITCH_STEPS_H

#include "state.h"

enum switch_verb { SWITCH_ADD, SWITCH_CHANGE, SWITCH_REMOVE };

enum switch_object {
	SWITCH_STEP_SHARE = SWITCH_SHARES,	/* so far, entries of tables */
	SWITCH_STEP_COLLECTOR = SWITCH_COLLECTORS,
	SWITCH_STEP_REPORTER = SWITCH_REPORTER,
	SWITCH_STEP_SESSION,	/* numbered by its port */
	SWITCH_STEP_PSN,	/* of a collector */
};

/* Does the same with all objects from @first to @last. */
struct switch_step {
	enum switch_verb verb;
	enum switch_object object;
	uint32_t first, last;
};

/* Shares are removed and added; collectors are removed, or added with a PSN. */
#define SWITCH_STEPS_MAX	(2 * DART_STORE_SHARES + SWITCH_PORTS + 1 + \
				 2 * SWITCH_COLLECTOR_KEYS)

struct switch_steps {
	uint32_t count;
	struct switch_step list[SWITCH_STEPS_MAX];
};

/*
 * Shares are removed before their collector or the reporter is replaced, and
 * are added when all that they need is in place; unused collectors are removed
 * after that, but before a change of the reporter, because reports in a queue
 * must not reach them in its name.  Collectors with numbers that are never
 * assigned are removed first, with their shares, because others may need their
 * room.
 */
void switch_steps__compute(const struct switch_state *now,
			   const struct switch_state *wanted,
			   struct switch_steps *steps);

#endif /* SWITCH_STEPS_H */
