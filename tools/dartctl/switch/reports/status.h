/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch show of a switch that reports to stores. */
#ifndef REPORT_STATUS_H
#define REPORT_STATUS_H

#include <stdbool.h>

/*
 * Shows the switch @name, "HOST:PORT", and sets *@exit_status.  Returns false, with nothing printed,
 * if it runs another kind of program or does not answer.
 */
bool report_status__show(const char *name, bool as_json, int *exit_status);

#endif /* REPORT_STATUS_H */
