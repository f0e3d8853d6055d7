/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes of a switch, a line for each step. */
#ifndef SWITCH_SHOW_H
#define SWITCH_SHOW_H

#include <jansson.h>

#include "tools/dartctl/switch/reports/steps.h"

#define SWITCH_STEP_NAME	40	/* bytes, with the NUL */

/* "add share 0-511" */
void switch_show__name(const struct switch_step *step,
		       char name[SWITCH_STEP_NAME]);
void switch_show__steps(const struct switch_steps *steps,
			const struct switch_state *wanted);
/* NULL if out of memory. */
json_t *switch_show__to_json(const struct switch_steps *steps,
			     const struct switch_state *wanted);

#endif /* SWITCH_SHOW_H */
