/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands for simple_switch_CLI that set up a switch that reports. */
#ifndef REPORT_COMMANDS_H
#define REPORT_COMMANDS_H

#include "wish.h"

/*
 * Prints them for the program in the file @path, as p4c compiles it.  Returns
 * an exit status; after a failure its message has been printed.
 */
int report_commands__print(const char *path, const struct report_wish *wish);

#endif /* REPORT_COMMANDS_H */
