// SPDX-License-Identifier: GPL-2.0-only
/* dartctl controller: who reads this host by RDMA. */
#include "tools/dartctl/cli/command.h"

static const struct table_column columns[] = {
	{ "PEER", "peer", false, NULL },
	{ "KIND", "kind", false, NULL },
	{ "STORE", "store", false, NULL },
	{ "TABLE", "table", false, NULL },
	{ "AGE", "age_s", true, table__age },
	{ }
};

const struct command controller_commands[] = {
	{ "list", NULL, "list connected controllers and readers of stores and tables",
	  .request = { "controller-list", { }, "controllers", columns } },
	{ "disconnect", "PEER", "disconnect one of them",
	  .request = { "controller-disconnect", { "peer" }, "controller" },
	  .least = 1, .most = 1 },
	{ }
};
