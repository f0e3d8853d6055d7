/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands for simple_switch_CLI that set up a switch. */
#ifndef SWITCH_COMMANDS_H
#define SWITCH_COMMANDS_H

#include "wish.h"

/*
 * Prints them for the program in the file @path, as p4c compiles it.  Returns
 * an exit status; after a failure its message has been printed.
 */
int switch_commands__print(const char *path, const struct switch_wish *wish);

#endif /* SWITCH_COMMANDS_H */
