/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that labels of a target have in an output.  One rule for all outputs:
 *
 *   1. In a form that takes only plain names, each other character becomes '_', as Prometheus'
 *      scheme "underscores" has it.
 *   2. A label whose name the series of the plan do not have, and that rule 1 did not change,
 *      keeps it.
 *   3. The others, in the order of strcmp() of their names, get "target_" before the name, again and
 *      again until neither the series nor an earlier label has it.
 *
 * So no label is lost, no series has a name twice, and the names do not depend on the order in
 * which labels were given.
 */
#ifndef CONTROLLER_LABEL_NAMES_H
#define CONTROLLER_LABEL_NAMES_H

#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/settings/labels.h"

#define LABEL_NAMES_PREFIX "target_"
/* With the NUL: room for a prefix for each label of a target and of an output, and for more. */
#define LABEL_NAMES_MAX \
	(LABELS_NAME_MAX + (2 * LABELS_MAX + 8) * (sizeof(LABEL_NAMES_PREFIX) - 1) + 1)

enum label_names_form {
	LABEL_NAMES_UTF8, /* any UTF-8 */
	LABEL_NAMES_PLAIN, /* [a-zA-Z_][a-zA-Z0-9_]* */
};

struct named_label {
	const char *given; /* no other label has it */
	const char *value;
	char own[LABEL_NAMES_MAX]; /* in the output; "" if no name of this length is free */
};

/*
 * Sorts @labels by the names given, and chooses their own beside series of @plan, which may be
 * NULL.  Returns how many had to make room for another label: rule 3 took more than a prefix.
 */
size_t label_names__choose(const struct metric_plan *plan, enum label_names_form form,
			   struct named_label *labels, size_t count);

#endif /* CONTROLLER_LABEL_NAMES_H */
