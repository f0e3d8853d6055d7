/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits at the end of a controller until its outputs are written: without a signal as long as
 * that takes, after a signal for a bounded time.
 */
#ifndef CONTROLLER_CONTROLLER_DRAIN_H
#define CONTROLLER_CONTROLLER_DRAIN_H

#include <signal.h>
#include <stdbool.h>

#include "controller_outputs.h"

/* Sets @set to the signals that end a controller: SIGINT and SIGTERM. */
void controller_drain__signals(sigset_t *set);

/*
 * Ends @output, and waits until it has written all texts.  A signal sets *@interrupted.  Once
 * that is set, the output is given up if its reader takes nothing for half a second, or is not
 * done after five seconds: then the output only finishes the text in progress, so that no line is
 * cut, unless the reader leaves this text for another five seconds.
 */
void controller_drain__output(struct output *output, bool *interrupted);

/*
 * Ends all receivers of @outputs, and waits until they have sent all points.  A receiver gives up
 * after three seconds, unless controller_outputs__set_waits() made it wait and no signal arrives.
 */
void controller_drain__receivers(struct controller_outputs *outputs, bool *interrupted);

#endif /* CONTROLLER_CONTROLLER_DRAIN_H */
