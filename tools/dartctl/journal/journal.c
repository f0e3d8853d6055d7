// SPDX-License-Identifier: GPL-2.0-only
/* dartctl journal and appender: journals of dartd, and the addresses that may append to them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dart/journal.h>
#include <libdart/settings/quantity.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"

/* The journal to create; dartd refuses impossible ones. */
struct wanted {
	/* -1: not given */
	long long batches_log2, entry, batch_log2, lists_log2, parts;
	const char *file;
};

static int take_power(void *log2, const char *text)
{
	const long long value = dart_quantity__logarithm(text, INT_MAX);

	*(long long *)log2 = value;
	return value < 0 ? EXIT_USAGE : EXIT_SUCCESS;
}

static const struct option_row rows[] = {
	OPTION_OWN("batches", struct wanted, batches_log2, take_power,
		   .form = "is a power of two such as 2^10"),
	OPTION_NUMBER("entry", struct wanted, entry, 1, DART_JOURNAL_ENTRY_MAX),
	OPTION_OWN("batch", struct wanted, batch_log2, take_power,
		   .form = "is a power of two such as 256"),
	OPTION_OWN("lists", struct wanted, lists_log2, take_power,
		   .form = "is a power of two such as 2^4"),
	OPTION_NUMBER("parts", struct wanted, parts, 1, DART_JOURNAL_PARTS_MAX),
	OPTION_WORD("file", struct wanted, file),
	{}
};

/* NULL if the number was not given. */
static json_t *optional(long long number)
{
	return number < 0 ? NULL : json_integer(number);
}

static int request(const struct options *options, const struct wanted *wanted, const char *name,
		   const char *file, int fd)
{
	return client__do(options,
			  json_pack("{s:s, s:s, s:I, s:I, s:o*, s:o*, s:o*, s:s*}", "request",
				    "journal-create", "name", name, "batches_log2",
				    (json_int_t)wanted->batches_log2, "entry_length",
				    (json_int_t)wanted->entry, "batch_log2",
				    optional(wanted->batch_log2), "lists_log2",
				    optional(wanted->lists_log2), "parts", optional(wanted->parts),
				    "file", file),
			  fd, "journal");
}

static int create(struct options *options, int argc, char **argv)
{
	struct wanted wanted = { -1, -1, -1, -1, -1, NULL };
	char file[PATH_MAX];
	bool is_new;
	int fd, status;

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'journal create' needs one name");
	if (wanted.batches_log2 < 0 || wanted.entry < 0)
		return misuse("'journal create' needs --batches and --entry");
	if (!wanted.file)
		return request(options, &wanted, argv[optind], NULL, -1);

	fd = file__open_memory(wanted.file, file, &is_new);
	if (fd < 0)
		return EXIT_FAILURE;
	status = request(options, &wanted, argv[optind], file, fd);
	if (status && is_new)
		unlink(file);
	close(fd);
	return status;
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
	{ "dump", "JOURNAL [--schema SCHEMA] [--list N] [--from HOST[:PORT]]",
	  "print the entries in a journal, and what is missing", .parse = command_journal_dump },
	{ "tail",
	  "JOURNAL [--schema SCHEMA] [--list N] [--from HOST[:PORT]] [--interval TIME] [--all]",
	  "print new entries as they come", .parse = command_journal_tail },
	{ "delete", "JOURNAL", "delete a journal with all its entries",
	  .request = { "journal-delete", { "name" }, "journal" }, .least = 1, .most = 1 },
	{ "export", "JOURNAL [--appender APPENDER] [--watch FILE | --output FILE]",
	  "print what appenders need to know, or keep a file of it up to date",
	  .parse = command_journal_export },
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
