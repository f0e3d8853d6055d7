/* SPDX-License-Identifier: GPL-2.0-only */
/* The series about the scrape itself and its host, which every plan contains. */
#ifndef CONTROLLER_PLAN_OWN_H
#define CONTROLLER_PLAN_OWN_H

#include "plan_builder.h"

void plan_own__add(struct plan_builder *builder);
/*
 * Returns the value of a series; its point is dated with the time of the scrape. @torn is the
 * number of samples of the host lost so far because their row was torn.
 */
double plan_own__value(enum plan_own own, const struct plan *plan, const struct sample *sample,
		       uint64_t torn);

/*
 * The series that say whether a host is up: "dart_up" and "up", both 1 or 0. They belong to the
 * controller, are dated by its clock, and go on while the host is lost and all other series of it
 * have ended. Prometheus makes its own "up" for the pages that it scrapes; receivers of a push get
 * no other one.
 */
#define PLAN_UP_SERIES 2

/* Makes a plan of these series, in this order; the caller is its holder. NULL if memory ran out. */
struct metric_plan *plan_up__new(void);

/* A plan of "dart_up" alone, for pages; it must not be held. */
extern const struct metric_plan plan_up__of_pages;

#endif /* CONTROLLER_PLAN_OWN_H */
