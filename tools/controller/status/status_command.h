/* SPDX-License-Identifier: GPL-2.0-only */
/* dart-controller status: shows what a controller that runs does. */
#ifndef CONTROLLER_STATUS_COMMAND_H
#define CONTROLLER_STATUS_COMMAND_H

#include "tools/controller/settings/options.h"

/* Asks at the socket of @options, and prints.  Returns the exit status of the program. */
int status_command__run(const struct options *options);

#endif /* CONTROLLER_STATUS_COMMAND_H */
