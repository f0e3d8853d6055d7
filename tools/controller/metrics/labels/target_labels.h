/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels that outputs add to all series of a target: "instance", its name, and the labels of
 * its settings, except labels that the rules of its series touch (plan_relabel.h).
 * label_collisions.h keeps a series from carrying a label twice.
 *
 * They are made once for all outputs and scrapes, do not change, and are counted.
 */
#ifndef CONTROLLER_TARGET_LABELS_H
#define CONTROLLER_TARGET_LABELS_H

#include <stdatomic.h>

#include "label_sets.h"
#include "tools/controller/metrics/metric/metric.h"

struct target_labels {
	atomic_uint holders;
	struct shared_text *source; /* the settings' labels, with a hold */
	struct arena arena; /* memory of the members below */
	/* Sorted by name, and as text. */
	struct label_set set; /* with plain names, for outputs that accept no others */
	struct label_set utf8; /* with the names as given */
	/*
	 * The same with labels that rules for series may change or remove, so that the series carry
	 * them: for dart_up, which the rules leave alone.
	 */
	struct label_set up_set, up_utf8;
	uint32_t collided; /* labels of @set renamed for other labels: label_collisions.h */
};

/* Makes the labels for series of @plan; the caller is the first holder. NULL if memory ran out. */
struct target_labels *target_labels__new(const struct target_settings *target,
					 const struct metric_plan *plan);
/*
 * Callable from any thread. target_labels__get() returns @labels; target_labels__put() ignores
 * NULL.
 */
struct target_labels *target_labels__get(struct target_labels *labels);
void target_labels__put(struct target_labels *labels);

#endif /* CONTROLLER_TARGET_LABELS_H */
