// SPDX-License-Identifier: GPL-2.0-only
/* dartctl journal and appender: journals of dartd, and the addresses that may append to them. */
#include <stdlib.h>

#include <dart/journal.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/parts_export.h"

/* The journal to create; dartd refuses impossible ones. */
struct wanted {
	/* -1: not given */
	long long batches_log2, entry, batch_log2, lists_log2, parts;
	const char *file;
};

static const struct option_row rows[] = {
	OPTION_OWN("batches", struct wanted, batches_log2, options__take_power,
		   .form = "is a power of two such as 2^10"),
	OPTION_NUMBER("entry", struct wanted, entry, 1, DART_JOURNAL_ENTRY_MAX),
	OPTION_OWN("batch", struct wanted, batch_log2, options__take_power,
		   .form = "is a power of two such as 256"),
	OPTION_OWN("lists", struct wanted, lists_log2, options__take_power,
		   .form = "is a power of two such as 2^4"),
	OPTION_NUMBER("parts", struct wanted, parts, 1, DART_JOURNAL_PARTS_MAX),
	OPTION_WORD("file", struct wanted, file),
	{}
};

static int request(const struct options *options, const struct wanted *wanted, const char *name)
{
	return client__create(options,
			      json_pack("{s:s, s:s, s:I, s:I, s:o*, s:o*, s:o*}", "request",
					"journal-create", "name", name, "batches_log2",
					(json_int_t)wanted->batches_log2, "entry_length",
					(json_int_t)wanted->entry, "batch_log2",
					client__optional(wanted->batch_log2), "lists_log2",
					client__optional(wanted->lists_log2), "parts",
					client__optional(wanted->parts)),
			      wanted->file, "journal");
}

static int create(struct options *options, int argc, char **argv)
{
	struct wanted wanted = { -1, -1, -1, -1, -1, NULL };

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'journal create' needs one name");
	if (wanted.batches_log2 < 0 || wanted.entry < 0)
		return misuse("'journal create' needs --batches and --entry");
	return request(options, &wanted, argv[optind]);
}

static int export_journal(struct options *options, int argc, char **argv)
{
	static const struct export_kind kind = {
		.object = "journal",
		.request = "journal-export",
		.member = "journals",
		.part = "appender",
		.remedy = "dartctl appender add",
		.period_ms = -1,
	};

	return parts_export__run(options, argc, argv, &kind);
}

static const struct table_column columns[] = { TEXT_COLUMN("NAME", "name"),
					       NUMBER_COLUMN("BATCHES 2^", "batches_log2"),
					       NUMBER_COLUMN("ENTRY", "entry_length"),
					       NUMBER_COLUMN("BATCH 2^", "batch_log2"),
					       NUMBER_COLUMN("LISTS 2^", "lists_log2"),
					       NUMBER_COLUMN("PARTS", "parts"),
					       NUMBER_COLUMN("BYTES", "bytes"),
					       NUMBER_COLUMN("APPENDERS", "appenders"),
					       NUMBER_COLUMN("READERS", "readers"),
					       NUMBER_COLUMN("EPOCH", "epoch"),
					       TEXT_COLUMN("FILE", "file"),
					       {} };

const struct command journal_commands[] = {
	{ "create",
	  "NAME --batches 2^N --entry BYTES [--batch BYTES] [--lists 2^N] [--parts N] [--file FILE]",
	  "reserve memory that switches and hosts append to", .parse = create },
	{ "list", NULL, "list the journals",
	  .request = { "journal-list", {}, "journals", columns } },
	{ "show", "JOURNAL [--from HOST[:PORT]]",
	  "print the numbers of entries and of missing batches of each list and appender",
	  .parse = command_journal_show },
	{ "dump", "JOURNAL [--schema SCHEMA] [--list N] [--from HOST[:PORT]]",
	  "print the entries in a journal, and what is missing", .parse = command_journal_dump },
	{ "tail",
	  "JOURNAL [--schema SCHEMA] [--list N] [--from HOST[:PORT]] [--interval TIME] [--all]",
	  "print new entries as they come", .parse = command_journal_tail },
	{ "delete", "JOURNAL", "delete a journal with all its entries",
	  .request = { "journal-delete", { "name" }, "journal" }, .least = 1, .most = 1 },
	{ "export", "JOURNAL [--appender APPENDER] [--watch FILE | --output FILE]",
	  "print what appenders need to know, or keep a file of it up to date",
	  .parse = export_journal },
	{}
};

/* ---- appenders */

static const struct table_column appenders[] = { TEXT_COLUMN("JOURNAL", "journal"),
						 TEXT_COLUMN("APPENDER", "appender"),
						 NUMBER_COLUMN("PART", "part"),
						 NUMBER_COLUMN("QUEUE PAIR", "qpn"),
						 {} };

const struct command appender_commands[] = {
	{ "list", "[JOURNAL]", "list the addresses that may append",
	  .request = { "appender-list", { "journal" }, "appenders", appenders }, .most = 1 },
	{ "add", "JOURNAL ADDRESS", "accept entries from this IPv4 address",
	  .request = { "appender-add", { "journal", "address" }, "appender" }, .least = 2,
	  .most = 2 },
	{ "remove", "JOURNAL APPENDER", "stop accepting entries from it",
	  .request = { "appender-remove", { "journal", "address" }, "appender" }, .least = 2,
	  .most = 2 },
	{}
};
