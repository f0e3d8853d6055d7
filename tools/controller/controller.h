/* SPDX-License-Identifier: GPL-2.0-only */
/* All targets together, from the first event to the summary. */
#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "settings/options.h"

/*
 * Scrapes as @options say until the count is reached or a signal arrives.
 * Returns the exit status of the program.  SIGINT and SIGTERM stay blocked.
 */
int controller__run(const struct options *options);

#endif /* CONTROLLER_CONTROLLER_H */
