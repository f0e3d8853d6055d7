/* SPDX-License-Identifier: GPL-2.0-only */
/* What is going to change in a switch, or has: a line for each step. */
#ifndef SWITCH_SHOW_H
#define SWITCH_SHOW_H

#include <jansson.h>

#include "steps.h"

#define SWITCH_STEP_NAME	40	/* bytes, with the 0 */

/* "add share 0-511" */
void switch_show__name(const struct switch_step *step,
		       char name[SWITCH_STEP_NAME]);
void switch_show__plan(const struct switch_plan *plan,
		       const struct switch_state *wanted);
/* NULL if memory is short. */
json_t *switch_show__to_json(const struct switch_plan *plan,
			     const struct switch_state *wanted);

#endif /* SWITCH_SHOW_H */
