/* SPDX-License-Identifier: GPL-2.0-only */
/* dartctl switch show: what a switch with lookup tables does. */
#ifndef LOOKUP_STATUS_H
#define LOOKUP_STATUS_H

#include <stdbool.h>

/*
 * Prints servers, packets by outcome, and sizes of the stash and of the cache of the
 * simple_switch at @name, "HOST:PORT".  Returns an exit status, with its message
 * printed.
 */
int lookup_status__show(const char *name, bool as_json);

#endif /* LOOKUP_STATUS_H */
