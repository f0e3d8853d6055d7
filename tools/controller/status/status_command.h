/* SPDX-License-Identifier: GPL-2.0-only */
/* dart-controller status: shows the state of a running controller. */
#ifndef CONTROLLER_STATUS_COMMAND_H
#define CONTROLLER_STATUS_COMMAND_H

#include "tools/controller/settings/options.h"

/*
 * Connects to the socket of @options and prints the answer.  Returns the exit status of the
 * program.
 */
int status_command__run(const struct options *options);

#endif /* CONTROLLER_STATUS_COMMAND_H */
