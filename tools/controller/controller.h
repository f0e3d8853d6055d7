/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of a controller, from its options to the summaries of all targets. */
#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "settings/options.h"

/*
 * Scrapes or replays as @options say until all wanted scrapes are done, the replay ends, or a
 * signal arrives.  Returns the exit status of the program.  SIGINT and SIGTERM stay blocked.
 */
int controller__run(const struct options *options);

#endif /* CONTROLLER_CONTROLLER_H */
