/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits at the end of a controller until its outputs are written, however long that takes;
 * but not after a signal: then a bounded time.
 */
#ifndef CONTROLLER_CONTROLLER_DRAIN_H
#define CONTROLLER_CONTROLLER_DRAIN_H

#include <signal.h>
#include <stdbool.h>

#include "controller_outputs.h"

/* SIGINT and SIGTERM, which end a controller, and stay blocked. */
void controller_drain__signals(sigset_t *set);

/*
 * Ends @output, and waits until all is written.  After a signal, which *@interrupted says or
 * is set by, it is given up after half a second in which nothing is read, or five seconds of
 * slow reading: then only the text that is under way is finished, so that no line is cut,
 * unless its reader leaves it for another five seconds.
 */
void controller_drain__output(struct output *output, bool *interrupted);

/*
 * Ends all receivers of @outputs, and waits until they have sent all: three seconds at most,
 * unless they wait, see controller_outputs__set_waits(), and no signal arrives.
 */
void controller_drain__receivers(struct controller_outputs *outputs, bool *interrupted);

#endif /* CONTROLLER_CONTROLLER_DRAIN_H */
