// SPDX-License-Identifier: GPL-2.0-only
/* dartctl counters: per-CPU counters of modules and eBPF programs. */
#include <limits.h>

#include "tools/dartctl/cli/command.h"

int command_counters_add(const struct options *options, int argc, char **argv)
{
	json_t *names = argc > 1 ? json_array() : NULL;
	int i;

	for (i = 1; i < argc; i++)
		json_array_append_new(names, json_string(argv[i]));
	return client__do(options,
			  json_pack("{s:s, s:s, s:o*}", "request", "register-counters", "name",
				    argv[0], "counters", names),
			  -1, "entry");
}

const struct command counters_commands[] = {
	{ "add", "NAME [COUNTER]...",
	  "expose counters of a module, or new ones for eBPF",
	  .run = command_counters_add, .least = 1, .most = INT_MAX },
	{ }
};
