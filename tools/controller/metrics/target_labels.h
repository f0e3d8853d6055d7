/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels that outputs add to all series of a target: "instance", its name, and those of
 * its settings.  No series has a label twice: one of the target that the plan's series
 * also have becomes "target_NAME".
 */
#ifndef CONTROLLER_TARGET_LABELS_H
#define CONTROLLER_TARGET_LABELS_H

#include "label_sets.h"
#include "metric.h"

struct target_labels {
	struct arena arena;	/* of all below */
	struct label_set set;	/* in the order of their names, and as text */
};

/*
 * Of series of @plan.  Returns 0, or -ENOMEM; target_labels__free() in both cases.
 */
int target_labels__make(struct target_labels *labels,
			const struct target_settings *target,
			const struct metric_plan *plan);
void target_labels__free(struct target_labels *labels);

#endif /* CONTROLLER_TARGET_LABELS_H */
