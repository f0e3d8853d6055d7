/* SPDX-License-Identifier: GPL-2.0-only */
/* Brings a running switch into the wanted state. */
#ifndef SWITCH_LIVE_H
#define SWITCH_LIVE_H

#include "tools/dartctl/switch/reports/wish.h"

/*
 * Brings the simple_switch at @name, "HOST:PORT", into the wanted state, reads
 * it back, and prints the changes; only prints them if @is_dry.  Returns 0, or -errno
 * with a sentence in @error.
 */
int switch_live__push(const char *name, const struct switch_wish *wish,
		      bool is_dry, bool as_json, struct dart_error *error);

#endif /* SWITCH_LIVE_H */
