/* SPDX-License-Identifier: GPL-2.0-only */
/* The series of each plan about the scrape itself and its host. */
#ifndef CONTROLLER_PLAN_OWN_H
#define CONTROLLER_PLAN_OWN_H

#include "plan_builder.h"

void plan_own__add(struct plan_builder *builder);
/*
 * The value of a series; its point is at the time of the scrape.  @torn samples of the host were
 * lost so far because their row was torn.
 */
double plan_own__value(enum plan_own own, const struct plan *plan, const struct sample *sample,
		       uint64_t torn);

/*
 * Whether a host is up, as series: "dart_up" and "up", both 1 or 0.  They are the controller's,
 * with times of its clock, and go on while the host is lost, when all other series of it have
 * ended.  Prometheus makes "up" itself of the pages that it scrapes; those that are pushed to
 * have no other.
 */
#define PLAN_UP_SERIES 2

/* A plan of these series, in this order; the caller is its holder.  NULL if out of memory. */
struct metric_plan *plan_up__new(void);

/* The same, with "dart_up" alone, for pages; nobody may hold it. */
extern const struct metric_plan plan_up__of_pages;

#endif /* CONTROLLER_PLAN_OWN_H */
