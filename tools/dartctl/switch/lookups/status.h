/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch show: the activity of a switch with lookup tables. */
#ifndef LOOKUP_STATUS_H
#define LOOKUP_STATUS_H

#include <stdbool.h>

/*
 * Prints the servers of the simple_switch at @name, "HOST:PORT", its packets by outcome, and the
 * sizes of its stash and cache.  Returns an exit status; after a failure its message has been
 * printed.
 */
int lookup_status__show(const char *name, bool as_json);

#endif /* LOOKUP_STATUS_H */
