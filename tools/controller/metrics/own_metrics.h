/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics of the controller itself, collected for one page: the caller adds families in any order,
 * each with its series; own_metrics__finish() makes a plan with a point for each series.
 *
 *   own_metrics__begin(&metrics, "dart_controller_...", "Help text.", "", METRIC_GAUGE);
 *   own_metrics__add(&metrics, &labels, 1);
 *   ...
 *   err = own_metrics__finish(&metrics, now_ns);
 *   ... metrics.plan, metrics.points ...
 *   own_metrics__clear(&metrics);
 */
#ifndef CONTROLLER_OWN_METRICS_H
#define CONTROLLER_OWN_METRICS_H

#include "tools/controller/metrics/labels/label_sets.h"
#include "tools/controller/metrics/metric/metric.h"

struct own_series {
	const char *text; /* of its labels, in the arena */
	double value;
};

struct own_family {
	struct metric_family family;
	struct own_series *series;
	uint32_t room;
};

/* Zeroed memory is an empty collection. */
struct own_metrics {
	struct arena arena;
	struct label_sets sets;
	struct own_family *families;
	uint32_t count;
	bool has_failed; /* memory ran out */
	/* Set by own_metrics__finish(); owned by this struct, without a count of holders. */
	struct metric_plan plan;
	struct metric_point *points;
};

/*
 * Begins a family, to which all following calls of own_metrics__add() belong. No other family of
 * the page uses its name. The texts are constants, or outlive the metrics.
 */
void own_metrics__begin(struct own_metrics *metrics, const char *name, const char *help,
			const char *unit, enum metric_type type);
/* Adds a series to the family begun last; no other series of this family carries equal labels. */
void own_metrics__add(struct own_metrics *metrics, const struct label_list *labels, double value);
/* A family of one series without labels. */
void own_metrics__add_one(struct own_metrics *metrics, const char *name, const char *help,
			  const char *unit, enum metric_type type, double value);
/* Fills in the plan and the points, dated @time_ns. Returns 0 or -ENOMEM. */
int own_metrics__finish(struct own_metrics *metrics, int64_t time_ns);
void own_metrics__clear(struct own_metrics *metrics);

#endif /* CONTROLLER_OWN_METRICS_H */
