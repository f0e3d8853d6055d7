/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that labels of a target have in an output.  A series keeps its own labels: one of
 * the target with the name of any label of the plan becomes "target_NAME", for all series of
 * the plan, and in every output alike.
 */
#ifndef CONTROLLER_LABEL_NAMES_H
#define CONTROLLER_LABEL_NAMES_H

#include "metric.h"
#include "tools/controller/labels.h"

#define LABEL_NAMES_PREFIX "target_"
/* With the NUL. */
#define LABEL_NAMES_MAX (LABELS_NAME_MAX + sizeof(LABEL_NAMES_PREFIX))

/* Writes the name of the target's label @name, beside series of @plan, into @own. */
void label_names__of_target(const struct metric_plan *plan, const char *name,
			    char own[LABEL_NAMES_MAX]);

#endif /* CONTROLLER_LABEL_NAMES_H */
