// SPDX-License-Identifier: GPL-2.0-only
/* dartctl controller: who reads this host by RDMA. */
#include "client.h"
#include "command.h"

static const struct table_column columns[] = {
	{ "PEER", "peer", false, NULL },
	{ "KIND", "kind", false, NULL },
	{ "STORE", "store", false, NULL },
	{ "AGE", "age_s", true, table__age },
	{ }
};

static int list(const struct options *options, int argc, char **argv)
{
	return client__list(options,
			    json_pack("{s:s}", "request", "controller-list"),
			    "controllers", columns);
}

static int disconnect(const struct options *options, int argc, char **argv)
{
	return client__do(options,
			  json_pack("{s:s, s:s}", "request",
				    "controller-disconnect", "peer", argv[0]),
			  -1, "controller");
}

const struct command controller_commands[] = {
	{ "list", NULL, "which controllers and readers of stores are connected",
	  .run = list },
	{ "disconnect", "PEER", "end the connection of one of them",
	  .run = disconnect, .least = 1, .most = 1 },
	{ }
};
