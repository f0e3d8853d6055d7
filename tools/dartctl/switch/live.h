/* SPDX-License-Identifier: GPL-2.0-only */
/* Brings a running switch into the wanted state. */
#ifndef SWITCH_LIVE_H
#define SWITCH_LIVE_H

#include "wish.h"

/*
 * Brings the simple_switch at @name, "HOST:PORT", into the wanted state, reads
 * it back, and prints the changes; only prints them if @is_dry.  Returns an exit status;
 * after a failure its message has been printed.
 */
int switch_live__push(const char *name, const struct switch_wish *wish,
		      bool is_dry, bool as_json);

#endif /* SWITCH_LIVE_H */
