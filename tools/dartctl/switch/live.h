/* SPDX-License-Identifier: GPL-2.0-only */
/* A switch that runs is made what is wished. */
#ifndef SWITCH_LIVE_H
#define SWITCH_LIVE_H

#include "wish.h"

/*
 * Prints what changes in the simple_switch at @name, "HOST:PORT", and unless
 * @is_dry changes that and reads it back.  Returns an exit status; if it is
 * not 0, why has been said.
 */
int switch_live__push(const char *name, const struct switch_wish *wish,
		      bool is_dry, bool as_json);

#endif /* SWITCH_LIVE_H */
