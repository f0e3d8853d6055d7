/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets that were given equal labels, such as the same "instance", would have equal series:
 * receivers refuse the samples of one of them, or mix those of both.  One rule for all outputs:
 *
 *   1. Labels are equal if the names that plain outputs have for them and their texts are.  A label
 *      without a text is none; a target that was given no "instance" has its own name as such, and
 *      one without a "job" is of the job "dart".
 *   2. Each of the targets with equal labels that was given an "instance" has its own name instead,
 *      which no other target has.  The text that was given becomes the label "target_instance", with
 *      "target_" before its name again until no other label of the target has it; it is left out if
 *      there is no room for one more label.
 *
 * So the labels do not depend on the order in which targets are named.
 */
#ifndef CONTROLLER_EQUAL_LABELS_H
#define CONTROLLER_EQUAL_LABELS_H

#include <libdart/error.h>

#include "target_list.h"

/*
 * Replaces items of @list, which nobody else has, by ones with other labels.  *@count is how many
 * targets have the labels of others; if it is not 0, @example names two of them.  Returns 0 or
 * -ENOMEM: then some labels are still equal.
 */
int equal_labels__separate(struct target_list *list, size_t *count, struct dart_error *example);

#endif /* CONTROLLER_EQUAL_LABELS_H */
