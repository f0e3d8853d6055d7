// SPDX-License-Identifier: GPL-2.0-only
/* dartctl probe: eBPF programs that dartd brings with it. */
#include "command.h"

static const struct table_column columns[] = {
	{ "NAME", "name", false, NULL },
	{ "LOADED", "loaded", false, NULL },
	{ "MISSED", "missed", true, NULL },
	{ "ENTRIES", "entries", false, NULL },
	{ "DESCRIPTION", "description", false, NULL },
	{ }
};

const struct command probe_commands[] = {
	{ "list", NULL, "which eBPF programs dartd can count with",
	  .request = { "probe-list", { }, "probes", columns } },
	{ "load", "PROBE", "count with it, and expose what it counts",
	  .request = { "probe-load", { "name" }, "probe" },
	  .least = 1, .most = 1 },
	{ "unload", "PROBE", "count with it no longer",
	  .request = { "probe-unload", { "name" }, "probe" },
	  .least = 1, .most = 1 },
	{ }
};
