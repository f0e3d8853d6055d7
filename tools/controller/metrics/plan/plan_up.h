/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a host is up, as series: "dart_up" and "up", both 1 or 0.  They are the controller's,
 * with times of its clock, and go on while the host is lost, when all other series of it have
 * ended.  Prometheus makes "up" itself of the pages that it scrapes; those that are pushed to
 * have no other.
 */
#ifndef CONTROLLER_PLAN_UP_H
#define CONTROLLER_PLAN_UP_H

#include "tools/controller/metrics/metric/metric.h"

#define PLAN_UP_SERIES 2

/* A plan of these series, in this order; the caller is its holder.  NULL if out of memory. */
struct metric_plan *plan_up__new(void);

/* The same, with "dart_up" alone, for pages; nobody may hold it. */
extern const struct metric_plan plan_up__of_pages;

#endif /* CONTROLLER_PLAN_UP_H */
