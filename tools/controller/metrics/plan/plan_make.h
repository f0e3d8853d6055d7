/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes plans. */
#ifndef CONTROLLER_PLAN_MAKE_H
#define CONTROLLER_PLAN_MAKE_H

#include "tools/controller/decode/sample.h"
#include "tools/controller/metrics/names/names.h"
#include "tools/controller/metrics/metric/metric.h"

/*
 * Makes the plan of @sample, with the caller as the only holder: the families of @names (which may
 * be NULL), generic families, and the families of the scrape itself. Takes time linear in the
 * number of series, plus the time to sort them. Returns 0 or -ENOMEM.
 */
int metric_plan__new(struct names *names, const struct sample *sample, struct metric_plan **plan);

#endif /* CONTROLLER_PLAN_MAKE_H */
