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
double plan_own__value(enum plan_own own, const struct plan *plan,
		       const struct sample *sample, uint64_t torn);

#endif /* CONTROLLER_PLAN_OWN_H */
