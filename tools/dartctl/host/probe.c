// SPDX-License-Identifier: GPL-2.0-only
/* dartctl probe: eBPF programs that dartd brings with it. */
#include "tools/dartctl/cli/command.h"

static const struct table_column columns[] = {
	{ "NAME", "name", false, NULL },
	{ "LOADED", "loaded", false, NULL },
	{ "MISSED", "missed", true, NULL },
	{ "ENTRIES", "entries", false, NULL },
	{ "DESCRIPTION", "description", false, NULL },
	{ }
};

const struct command probe_commands[] = {
	{ "list", NULL, "list the eBPF programs that dartd can load",
	  .request = { "probe-list", { }, "probes", columns } },
	{ "load", "PROBE", "load it and expose its counters",
	  .request = { "probe-load", { "name" }, "probe" },
	  .least = 1, .most = 1 },
	{ "unload", "PROBE", "unload it",
	  .request = { "probe-unload", { "name" }, "probe" },
	  .least = 1, .most = 1 },
	{ }
};
