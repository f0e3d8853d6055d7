/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch show: the activity of a switch that adds to a ledger. */
#ifndef LEDGER_STATUS_H
#define LEDGER_STATUS_H

#include <stdbool.h>

/*
 * Prints the ledger of the simple_switch at @name, "HOST:PORT", the requests that wait, what is
 * lost, and the packets by outcome.  Returns whether the switch runs such a program; otherwise
 * nothing was printed.  @status: the exit status; after a failure its message has been printed.
 */
bool ledger_status__show(const char *name, bool as_json, int *status);

#endif /* LEDGER_STATUS_H */
