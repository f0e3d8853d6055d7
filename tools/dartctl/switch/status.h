/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch show: a switch that appends to a journal, counts for a sketch, or adds sketches up. */
#ifndef SWITCH_STATUS_H
#define SWITCH_STATUS_H

#include <stdbool.h>

/*
 * Prints how many frames the simple_switch at @name, "HOST:PORT", has written to its collector, and
 * the packets by outcome.  Returns whether the switch runs such a program; otherwise nothing was
 * printed.  @status: the exit status; after a failure its message has been printed.
 */
bool switch_status__show(const char *name, bool as_json, int *status);

#endif /* SWITCH_STATUS_H */
