/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps from the state of a switch that reports to the wanted one, in an order in which
 * no report goes to a wrong place in between.
 */
#ifndef REPORT_STEPS_H
#define REPORT_STEPS_H

#include "state.h"

/*
 * Shares are removed before their collector or the reporter is replaced, and
 * are added when all that they need is in place; unused collectors are removed
 * after that, but before a change of the reporter, because reports in a queue
 * must not reach them in its name.  Collectors with numbers that are never
 * assigned are removed first, with their shares, because others may need their
 * room.  A switch that gathers postcards begins to do so last.  Returns 0 or -ENOMEM.
 */
int report_steps__compute(const struct report_state *now, const struct report_state *wanted,
			  struct switch_steps *steps);

#endif /* REPORT_STEPS_H */
