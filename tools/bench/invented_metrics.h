/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics of hosts that do not exist, the same in each run: for measurements and tests of
 * outputs.  Plans are as metric.h says.
 */
#ifndef BENCH_INVENTED_METRICS_H
#define BENCH_INVENTED_METRICS_H

#include "tools/controller/metrics/metric/metric.h"

/*
 * A plan of @series series in families of 25; a tenth of them, another one for each of ten
 * generations, is left out.  Ends with an error of the program if out of memory.
 */
struct metric_plan *invented_plan__new(uint32_t series, unsigned int generation);

/*
 * The value of a series of @plan at the scrape @scrape of target @target.  Of all series
 * @changing percent have another value after each scrape: of these a third are seconds, with
 * ns behind the point, the others whole numbers.
 */
double invented_plan__value(const struct metric_plan *plan, uint32_t series,
			    uint32_t target, uint32_t scrape,
			    unsigned int changing);

#endif /* BENCH_INVENTED_METRICS_H */
