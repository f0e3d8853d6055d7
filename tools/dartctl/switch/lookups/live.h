/* SPDX-License-Identifier: GPL-2.0-only */
/* Brings a running switch with lookup tables into the wanted state. */
#ifndef SWITCH_LOOKUP_LIVE_H
#define SWITCH_LOOKUP_LIVE_H

#include "tools/dartctl/switch/thrift/thrift.h"
#include "wish.h"

/*
 * Brings the simple_switch at @name, "HOST:PORT", into the wanted state, reads it back, and
 * prints the changes; only prints them if @is_dry.  Returns 0, or -errno with a sentence
 * in @error.
 */
int lookup_live__push(const char *name, const struct lookup_wish *wish,
		      bool is_dry, bool as_json, struct dart_error *error);

/* Has the switch been set up since it started?  Returns 0, or -errno with the error set. */
int lookup_live__is_set_up(struct thrift *thrift, bool *is_set_up,
			   struct dart_error *error);

#endif /* SWITCH_LOOKUP_LIVE_H */
