/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names the labels of a target in an output. One rule for all outputs:
 *
 *   1. In a form that accepts only plain names, each other character becomes '_', as in
 *      Prometheus' scheme "underscores".
 *   2. A label keeps its name if rule 1 did not change it and no series of the plan uses it.
 *   3. Each other label, in the order of strcmp() of their names, gets "target_" before its
 *      name, again and again until neither the series nor an earlier label uses the result.
 *
 * So no label is lost, no series carries a name twice, and the names do not depend on the order in
 * which labels were given.
 */
#ifndef CONTROLLER_LABEL_COLLISIONS_H
#define CONTROLLER_LABEL_COLLISIONS_H

#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/settings/labels.h"

#define LABEL_NAMES_PREFIX "target_"
/*
 * Size with the NUL: room for a prefix for each label of a target and of an output, and for more.
 */
#define LABEL_NAMES_MAX \
	(LABELS_NAME_MAX + (2 * LABELS_MAX + 8) * (sizeof(LABEL_NAMES_PREFIX) - 1) + 1)

enum label_names_form {
	LABEL_NAMES_UTF8, /* any UTF-8 */
	LABEL_NAMES_PLAIN, /* [a-zA-Z_][a-zA-Z0-9_]* */
};

struct named_label {
	const char *given; /* differs from all other labels' */
	const char *value;
	char own[LABEL_NAMES_MAX]; /* name in the output; "" if no name of this length is free */
};

/*
 * Sorts @labels by their given names, and chooses for each a name that no series of @plan uses;
 * @plan may be NULL. Returns the number of labels that were renamed for another label: rule 3 took
 * more than one prefix.
 */
size_t label_names__choose(const struct metric_plan *plan, enum label_names_form form,
			   struct named_label *labels, size_t count);

#endif /* CONTROLLER_LABEL_COLLISIONS_H */
