// SPDX-License-Identifier: GPL-2.0-only
#include "switch.h"
#include "tools/dartctl/command.h"

static const struct command commands[] = {
	{ "push", .parse = switch__push },
	{ }
};

int command_switch(struct options *options, int argc, char **argv)
{
	return command__run(commands, options, argc, argv);
}
