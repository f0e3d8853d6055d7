/* SPDX-License-Identifier: GPL-2.0-only */
/* dart-controller shard: shows which members of a shard scrape an agent. */
#ifndef CONTROLLER_SHARD_COMMAND_H
#define CONTROLLER_SHARD_COMMAND_H

#include "tools/controller/settings/options.h"

/*
 * Prints the order of the members for the agent that @options name, as a sentence or, with
 * @options->json, as an object.  Asks no running controller: all compute the same from the number
 * of members.  Returns the exit status of the program.
 */
int shard_command__run(const struct options *options);

#endif /* CONTROLLER_SHARD_COMMAND_H */
