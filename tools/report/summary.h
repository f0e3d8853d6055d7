/* SPDX-License-Identifier: GPL-2.0-only */
/* The reports of a run, as text or JSON. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "session.h"

void summary__print(const struct session *session);
/* Returns 0 or -ENOMEM. */
int summary__print_json(const struct session *session);

#endif /* REPORT_SUMMARY_H */
