/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands for simple_switch_CLI that set a switch up. */
#ifndef SWITCH_COMMANDS_H
#define SWITCH_COMMANDS_H

#include "wish.h"

/*
 * Prints them, for the program in the file @path, which p4c has compiled.
 * Returns an exit status; if it is not 0, why has been said.
 */
int switch_commands__print(const char *path, const struct switch_wish *wish);

#endif /* SWITCH_COMMANDS_H */
