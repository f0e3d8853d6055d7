/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics of hosts that do not exist, the same in each run: for measurements and tests of
 * outputs.  Plans are as metric.h says.
 */
#ifndef BENCH_INVENTED_METRICS_H
#define BENCH_INVENTED_METRICS_H

#include "tools/controller/metrics/metric/metric.h"

/*
 * Makes a plan of @series series in families of 25, without a tenth of them that changes
 * with each of ten generations.  Out of memory it ends the program with an error.
 */
struct metric_plan *invented_plan__new(uint32_t series, unsigned int generation);

/*
 * The value of a series of @plan at the scrape @scrape of target @target.  @changing percent
 * of all series change with each scrape: a third of these are seconds, with ns after the
 * point, the others whole numbers.
 */
double invented_plan__value(const struct metric_plan *plan, uint32_t series, uint32_t target,
			    uint32_t scrape, unsigned int changing);

#endif /* BENCH_INVENTED_METRICS_H */
