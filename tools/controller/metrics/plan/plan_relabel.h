/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan with the series that rules keep, under the names and labels that the rules give them.  So
 * rules cost nothing in a scrape: a series that they drop has no rule that computes it.
 *
 * Rules see the labels of a series and of its target.  A label of the target that no rule touches
 * (relabel_rules__touch()) stays a label of the target; all other labels that the rules leave are
 * labels of the series.  If several series become equal, the first one in the listing stays; the
 * others count as dropped, and so does a series without a name, or with a name that the text
 * formats do not have.
 */
#ifndef CONTROLLER_PLAN_RELABEL_H
#define CONTROLLER_PLAN_RELABEL_H

#include "tools/controller/decode/sample.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/relabel/rules.h"

/*
 * Makes a plan from @plan, whose series the @count labels are added to while rules are applied,
 * with other names than theirs.  Writes the index in the new plan of each series to @places, or
 * UINT32_MAX.  The new plan has no rules to compute points.  Returns 0 or -ENOMEM.
 */
int plan_relabel__list(const struct metric_plan *plan, const struct relabel_rules *rules,
		       const struct metric_label *labels, uint32_t count, uint32_t *places,
		       struct metric_plan **made);

/*
 * The same for @plan that was made from @sample, with rules to compute the points of series from
 * samples that @plan fits.
 */
int plan_relabel__new(const struct metric_plan *plan, const struct sample *sample,
		      const struct relabel_rules *rules, const struct metric_label *labels,
		      uint32_t count, struct metric_plan **made);

/*
 * A rewriter for an output that applies @rules to series with all labels that the output gives
 * them.  It holds @rules; the caller is its first holder.  NULL if out of memory.
 */
struct metric_rewriter *plan_rewriter__new(struct relabel_rules *rules);

#endif /* CONTROLLER_PLAN_RELABEL_H */
