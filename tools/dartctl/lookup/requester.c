// SPDX-License-Identifier: GPL-2.0-only
/* dartctl requester: which switches have a copy of a table of dartd. */
#include "tools/dartctl/cli/command.h"

static const struct table_column columns[] = {
	{ "TABLE", "table", false, NULL },
	{ "REQUESTER", "requester", false, NULL },
	{ "STATE", "state", false, NULL },
	{ "QUEUE PAIR", "qpn", true, NULL },
	{ "EXPECTED PSN", "expected_psn", true, NULL },
	{ "BYTES", "bytes", true, NULL },
	{ "RENEWALS", "renewals", true, NULL },
	{}
};

const struct command requester_commands[] = {
	{ "list", "[TABLE]", "list the switches that have a copy of a table",
	  .request = { "requester-list", { "table" }, "requesters", columns },
	  .most = 1 },
	{ "add", "TABLE ADDRESS",
	  "make a copy for the switch with this IPv4 address",
	  .request = { "requester-add", { "table", "address" }, "requester" },
	  .least = 2, .most = 2 },
	{ "remove", "TABLE REQUESTER", "release the copy of this switch",
	  .request = { "requester-remove", { "table", "address" }, "requester" },
	  .least = 2, .most = 2 },
	{ "renew", "TABLE REQUESTER",
	  "make a new queue pair for the copy, after an error",
	  .request = { "requester-renew", { "table", "address" }, "requester" },
	  .least = 2, .most = 2 },
	{}
};
