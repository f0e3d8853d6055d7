/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Separates targets that were given equal labels, such as the same "instance".  Their series would
 * be equal, and receivers would refuse the samples of one target, or mix the samples of both.  One
 * rule for all outputs:
 *
 *   1. Two labels are equal if their texts are equal, and their names in the spelling of plain
 *      outputs.  A label with an empty text does not count.  A target that was given no "instance"
 *      gets its own name as such, and a target without a "job" gets the job "dart".
 *   2. If several targets have equal labels, each that was given an "instance" gets its own name,
 *      which is unique, instead.  The given text becomes the label "target_instance"; "target_" is
 *      put before that name again as long as the target has another label of this name.  The label
 *      is left out if the target cannot take one more.
 *
 * So the labels do not depend on the order in which sources name targets.
 */
#ifndef CONTROLLER_EQUAL_LABELS_H
#define CONTROLLER_EQUAL_LABELS_H

#include <libdart/error.h>

#include "target_list.h"

/*
 * Replaces items of @list, which only the caller uses, by items with other labels.  Sets *@count
 * to the number of targets that were given labels equal to those of another target; if it is not
 * 0, @example names two of them.  Returns 0, or -ENOMEM: then some labels are still equal.
 */
int equal_labels__separate(struct target_list *list, size_t *count, struct dart_error *example);

#endif /* CONTROLLER_EQUAL_LABELS_H */
