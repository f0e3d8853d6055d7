// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table and requester: lookup tables of dartd, and the switches that read them. */
#include "tools/dartctl/cli/command.h"

static const struct table_column columns[] = {
	TEXT_COLUMN("NAME", "name"),
	NUMBER_COLUMN("ROWS 2^", "rows_log2"),
	NUMBER_COLUMN("CELLS", "cells"),
	NUMBER_COLUMN("KEY", "key_length"),
	NUMBER_COLUMN("VALUE", "value_length"),
	NUMBER_COLUMN("ENTRIES", "entries"),
	NUMBER_COLUMN("STASHED", "stashed"),
	NUMBER_COLUMN("BYTES", "bytes"),
	NUMBER_COLUMN("REQUESTERS", "requesters"),
	NUMBER_COLUMN("READERS", "readers"),
	NUMBER_COLUMN("EPOCH", "epoch"),
	TEXT_COLUMN("USER", "user"),
	TEXT_COLUMN("FILE", "file"),
	{}
};

const struct command table_commands[] = {
	{ "create",
	  "NAME --entries N|--rows 2^N [--cells N] [--key BYTES --value BYTES|--schema SCHEMA] [--packet BYTES] [--shares FIRST-LAST] [--file FILE] [--user USER]",
	  "reserve memory for a lookup table; N entries fill 75 % of it at most",
	  .parse = command_table_create },
	{ "list", NULL, "list the lookup tables",
	  .request = { "table-list", {}, "tables", columns } },
	{ "show", "TABLE", "print the load, memory and requesters of a lookup table",
	  .run = command_table_show, .least = 1, .most = 1 },
	{ "delete", "TABLE", "delete a lookup table with all its entries",
	  .request = { "table-delete", { "name" }, "table" }, .least = 1,
	  .most = 1 },
	{ "insert",
	  "TABLE FIELD=VALUE...|--key HEX --value HEX [--schema SCHEMA]",
	  "add an entry, or change the value of its key",
	  .parse = command_table_insert },
	{ "remove", "TABLE FIELD=VALUE...|--key HEX [--schema SCHEMA]",
	  "remove the entry with this key", .parse = command_table_remove },
	{ "lookup", "TABLE FIELD=VALUE...|--key HEX [--schema SCHEMA] [--host HOST [--port PORT]]",
	  "print the value of a key, of this host or of another one",
	  .parse = command_table_lookup },
	{ "import", "TABLE FILE [--format csv|json] [--schema SCHEMA]",
	  "add the entries of a file, or of - (the standard input)",
	  .parse = command_table_import },
	{ "dump", "TABLE [--format csv|json|table] [--schema SCHEMA]",
	  "print all entries", .parse = command_table_dump },
	{ "export", "TABLE [--watch FILE | --output FILE]",
	  "print the configuration for switches, or keep it in a file and renew queue pairs",
	  .parse = command_table_export },
	{}
};

/* ---- requesters: switches with a copy of a lookup table */

static const struct table_column requesters[] = {
	TEXT_COLUMN("TABLE", "table"),
	TEXT_COLUMN("REQUESTER", "requester"),
	TEXT_COLUMN("STATE", "state"),
	NUMBER_COLUMN("QUEUE PAIR", "qpn"),
	NUMBER_COLUMN("EXPECTED PSN", "expected_psn"),
	NUMBER_COLUMN("BYTES", "bytes"),
	NUMBER_COLUMN("RENEWALS", "renewals"),
	{}
};

const struct command requester_commands[] = {
	{ "list", "[TABLE]", "list the switches with a copy of a lookup table",
	  .request = { "requester-list", { "table" }, "requesters", requesters },
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
