/* SPDX-License-Identifier: GPL-2.0-only */
/* All agents together, from the first event to the summary. */
#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "options.h"

/*
 * Scrapes as @options say until the count is reached or a signal comes, and
 * returns the exit status of the program.  Signals SIGINT and SIGTERM are
 * blocked from then on.
 */
int controller__run(const struct options *options);

#endif /* CONTROLLER_CONTROLLER_H */
