/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels that outputs add to all series of a target: "instance", its name, and those of
 * its settings.  No series has a label twice: label_names.h has the rule.
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
	struct shared_text *source; /* held: of the settings */
	struct arena arena; /* of all below */
	/* In the order of their names, and as text. */
	struct label_set set; /* with plain names, for outputs that take no others */
	struct label_set utf8; /* with the names as they were given */
	uint32_t collided; /* labels of the first that made room for others: label_names.h */
};

/* Of series of @plan; the caller is the first holder.  NULL if out of memory. */
struct target_labels *target_labels__new(const struct target_settings *target,
					 const struct metric_plan *plan);
/* In any thread.  target_labels__get() returns @labels; target_labels__put() allows NULL. */
struct target_labels *target_labels__get(struct target_labels *labels);
void target_labels__put(struct target_labels *labels);

#endif /* CONTROLLER_TARGET_LABELS_H */
