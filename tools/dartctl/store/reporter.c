// SPDX-License-Identifier: GPL-2.0-only
/* dartctl reporter: which addresses may report to the stores of dartd. */
#include "tools/dartctl/cli/command.h"

static const struct table_column columns[] = {
	{ "STORE", "store", false, NULL },
	{ "REPORTER", "reporter", false, NULL },
	{ "QUEUE PAIR", "qpn", true, NULL },
	{ }
};

const struct command reporter_commands[] = {
	{ "list", "[STORE]", "list the addresses that may report",
	  .request = { "reporter-list", { "store" }, "reporters", columns },
	  .most = 1 },
	{ "add", "STORE ADDRESS", "accept reports from this IPv4 address",
	  .request = { "reporter-add", { "store", "address" }, "reporter" },
	  .least = 2, .most = 2 },
	{ "remove", "STORE ADDRESS", "stop accepting reports from it",
	  .request = { "reporter-remove", { "store", "address" }, "reporter" },
	  .least = 2, .most = 2 },
	/* Names of the time before the object xdp. */
	{ .name = "attach", .operands = "xdp attach" },
	{ .name = "detach", .operands = "xdp detach" },
	{ .name = "status", .operands = "xdp status" },
	{ }
};
