/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration file, YAML:
 *
 *   interval: 100ms          # of all agents; 1s if left out
 *   entries: [cpustat]       # all if left out
 *   agents:
 *     - host: 10.0.0.1       # a name or an address
 *       port: 4792           # may be left out
 *       interval: 1s         # of this agent; may be left out
 */
#ifndef CONTROLLER_CONFIG_H
#define CONTROLLER_CONFIG_H

#include <stdio.h>

#include <libdart/error.h>

#include "settings.h"

/* Room for a sentence that says what is wrong, and in which line. */
/*
 * Adds what @file says to @settings: its agents to those that are there, the
 * interval and the entries only if there are none yet, so that the command line
 * has the last word.  @path is for messages.  Returns 0; -EINVAL with a
 * sentence in @error; -ENOMEM.  @settings may have changed even if refused.
 */
int config__load(struct settings *settings, FILE *file, const char *path,
		 struct dart_error *error);

#endif /* CONTROLLER_CONFIG_H */
