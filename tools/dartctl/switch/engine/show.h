/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes of a switch as text, a line for each step, or as JSON. */
#ifndef SWITCH_SHOW_H
#define SWITCH_SHOW_H

#include <jansson.h>

#include "kind.h"

#define SWITCH_STEP_NAME	40	/* bytes, with the NUL */

/* "add share 0-511" */
void switch_show__name(const struct switch_kind *kind, const struct switch_step *step,
		       char name[SWITCH_STEP_NAME]);
/* Prints the steps from the state @now to the state @wanted. */
void switch_show__steps(const struct switch_kind *kind, const struct switch_steps *steps,
			const void *now, const void *wanted);
/* An array with an object for each step; NULL if out of memory. */
json_t *switch_show__to_json(const struct switch_kind *kind, const struct switch_steps *steps,
			     const void *now, const void *wanted);

#endif /* SWITCH_SHOW_H */
