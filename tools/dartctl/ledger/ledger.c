// SPDX-License-Identifier: GPL-2.0-only
/* dartctl ledger and adder: ledgers of dartd, and the addresses that may add to them. */
#include <stdlib.h>

#include <dart/ledger.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/parts_export.h"
#include "tools/dartctl/cli/renewals.h"

#define PERIOD_MS 1000 /* dartd announces no queue pairs that fail */

/* The ledger to create; dartd refuses impossible ones. */
struct wanted {
	long long words_log2, rows; /* -1: not given */
	const char *file;
};

static const struct option_row rows[] = {
	OPTION_OWN("words", struct wanted, words_log2, options__take_power,
		   .form = "is a power of two such as 2^16"),
	OPTION_NUMBER("rows", struct wanted, rows, 1, DART_LEDGER_ROWS_MAX),
	OPTION_WORD("file", struct wanted, file),
	{}
};

static int create(struct options *options, int argc, char **argv)
{
	struct wanted wanted = { -1, -1, NULL };

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'ledger create' needs one name");
	if (wanted.words_log2 < 0)
		return misuse("'ledger create' needs --words");
	return client__create(options,
			      json_pack("{s:s, s:s, s:I, s:o*}", "request", "ledger-create", "name",
					argv[optind], "words_log2", (json_int_t)wanted.words_log2,
					"rows", client__optional(wanted.rows)),
			      wanted.file, "ledger");
}

/* An invalid request brings a queue pair into the error state. */
static int renew_failed(struct dart_registration_client *client, const char *ledger,
			struct dart_error *error)
{
	return renewals__make(client, "ledger", "adder", ledger, error);
}

static int export_ledger(struct options *options, int argc, char **argv)
{
	static const struct export_kind kind = {
		.object = "ledger",
		.request = "ledger-export",
		.member = "ledgers",
		.part = "adder",
		.remedy = "dartctl adder add",
		.period_ms = PERIOD_MS,
		.mend = renew_failed,
	};

	return parts_export__run(options, argc, argv, &kind);
}

static const struct table_column columns[] = { TEXT_COLUMN("NAME", "name"),
					       NUMBER_COLUMN("ROWS", "rows"),
					       NUMBER_COLUMN("WORDS 2^", "words_log2"),
					       NUMBER_COLUMN("BYTES", "bytes"),
					       NUMBER_COLUMN("ADDERS", "adders"),
					       NUMBER_COLUMN("READERS", "readers"),
					       NUMBER_COLUMN("EPOCH", "epoch"),
					       TEXT_COLUMN("FILE", "file"),
					       {} };

const struct command ledger_commands[] = {
	{ "create", "NAME --words 2^N [--rows N] [--file FILE]",
	  "reserve memory for sums that switches and hosts add to", .parse = create },
	{ "list", NULL, "list the ledgers", .request = { "ledger-list", {}, "ledgers", columns } },
	{ "query", "LEDGER SCHEMA --FIELD VALUE... [--from HOST[:PORT]]",
	  "print the sum of a key, and how much too high it may be",
	  .parse = command_ledger_query },
	{ "delete", "LEDGER", "delete a ledger with all its sums",
	  .request = { "ledger-delete", { "name" }, "ledger" }, .least = 1, .most = 1 },
	{ "export", "LEDGER [--adder ADDER] [--watch FILE | --output FILE]",
	  "print what adders need to know, or keep a file of it and renew queue pairs",
	  .parse = export_ledger },
	{}
};

/* ---- adders */

static const struct table_column adders[] = { TEXT_COLUMN("LEDGER", "ledger"),
					      TEXT_COLUMN("ADDER", "adder"),
					      NUMBER_COLUMN("QUEUE PAIR", "qpn"),
					      TEXT_COLUMN("STATE", "state"),
					      NUMBER_COLUMN("EXPECTED PSN", "expected_psn"),
					      NUMBER_COLUMN("RENEWALS", "renewals"),
					      {} };

const struct command adder_commands[] = {
	{ "list", "[LEDGER]", "list the addresses that may add",
	  .request = { "adder-list", { "ledger" }, "adders", adders }, .most = 1 },
	{ "add", "LEDGER ADDRESS", "accept amounts from this IPv4 address",
	  .request = { "adder-add", { "ledger", "address" }, "adder" }, .least = 2, .most = 2 },
	{ "remove", "LEDGER ADDER", "stop accepting amounts from it",
	  .request = { "adder-remove", { "ledger", "address" }, "adder" }, .least = 2, .most = 2 },
	{ "renew", "LEDGER ADDER", "replace its queue pair, such as one in the error state",
	  .request = { "adder-renew", { "ledger", "address" }, "adder" }, .least = 2, .most = 2 },
	{}
};
