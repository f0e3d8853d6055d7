/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes plans. */
#ifndef CONTROLLER_PLAN_MAKE_H
#define CONTROLLER_PLAN_MAKE_H

#include "tools/controller/decode/sample.h"
#include "tools/controller/metrics/names/names.h"
#include "tools/controller/metrics/metric/metric.h"

/*
 * The plan of @sample, whose only holder is the caller: the families of @names (which may be
 * NULL), generic ones, and those of the scrape itself.  Its time is linear in the number of
 * series, but for sorting them.  Returns 0 or -ENOMEM.
 */
int metric_plan__new(struct names *names, const struct sample *sample, struct metric_plan **plan);

#endif /* CONTROLLER_PLAN_MAKE_H */
