/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes of a switch with lookup tables, a line for each step. */
#ifndef SWITCH_LOOKUP_SHOW_H
#define SWITCH_LOOKUP_SHOW_H

#include <jansson.h>

#include "steps.h"

#define LOOKUP_STEP_NAME 40 /* bytes, with the NUL */

/* "add share 0-511" */
void lookup_show__name(const struct lookup_step *step,
		       char name[LOOKUP_STEP_NAME]);
void lookup_show__steps(const struct lookup_steps *steps,
			const struct lookup_state *now,
			const struct lookup_state *wanted);
/* NULL if out of memory. */
json_t *lookup_show__to_json(const struct lookup_steps *steps,
			     const struct lookup_state *now,
			     const struct lookup_state *wanted);

#endif /* SWITCH_LOOKUP_SHOW_H */
