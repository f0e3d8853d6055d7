// SPDX-License-Identifier: GPL-2.0-only
/* dartctl probe: eBPF programs that dartd brings with it. */
#include "client.h"
#include "command.h"

static const struct table_column columns[] = {
	{ "NAME", "name", false, NULL },
	{ "LOADED", "loaded", false, NULL },
	{ "MISSED", "missed", true, NULL },
	{ "ENTRIES", "entries", false, NULL },
	{ "DESCRIPTION", "description", false, NULL },
	{ }
};

static int list(const struct options *options, int argc, char **argv)
{
	return client__list(options,
			    json_pack("{s:s}", "request", "probe-list"),
			    "probes", columns);
}

static int request(const struct options *options, const char *request,
		   const char *name)
{
	return client__do(options,
			  json_pack("{s:s, s:s}", "request", request, "name",
				    name),
			  -1, "probe");
}

static int load(const struct options *options, int argc, char **argv)
{
	return request(options, "probe-load", argv[0]);
}

static int unload(const struct options *options, int argc, char **argv)
{
	return request(options, "probe-unload", argv[0]);
}

const struct command probe_commands[] = {
	{ "list", NULL, "which eBPF programs dartd can count with",
	  .run = list },
	{ "load", "PROBE", "count with it, and expose what it counts",
	  .run = load, .least = 1, .most = 1 },
	{ "unload", "PROBE", "count with it no longer",
	  .run = unload, .least = 1, .most = 1 },
	{ }
};
