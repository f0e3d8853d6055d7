// SPDX-License-Identifier: GPL-2.0-only
/* dartctl sketch and sketcher: sketches of dartd, and the addresses that may write to them. */
#include <stdlib.h>

#include <dart/sketch.h>
#include <libdart/settings/quantity.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/parts_export.h"

#define NS_PER_S UINT64_C(1000000000)

/* The sketch to create; dartd refuses impossible ones. */
struct wanted {
	long long columns_log2, rows, period, parts; /* -1: not given */
	const char *kind, *file;
};

/* Whole seconds. */
static int take_period(void *member, const char *text)
{
	uint64_t ns;

	if (dart_quantity__parse(DART_QUANTITY_TIME, text, NS_PER_S, INT64_MAX, &ns) ||
	    ns % NS_PER_S)
		return EXIT_USAGE;
	*(long long *)member = ns / NS_PER_S;
	return EXIT_SUCCESS;
}

static const struct option_row rows[] = {
	OPTION_OWN("columns", struct wanted, columns_log2, options__take_power,
		   .form = "is a power of two such as 2^16"),
	OPTION_WORD("kind", struct wanted, kind),
	OPTION_NUMBER("rows", struct wanted, rows, 1, DART_SKETCH_ROWS_MAX),
	OPTION_OWN("period", struct wanted, period, take_period,
		   .form = "is a time in whole seconds such as 10s"),
	OPTION_NUMBER("parts", struct wanted, parts, 1, DART_SKETCH_PARTS_MAX),
	OPTION_WORD("file", struct wanted, file),
	{}
};

static int create(struct options *options, int argc, char **argv)
{
	struct wanted wanted = { -1, -1, -1, -1, NULL, NULL };

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'sketch create' needs one name");
	if (wanted.columns_log2 < 0)
		return misuse("'sketch create' needs --columns");
	return client__create(
		options,
		json_pack("{s:s, s:s, s:I, s:s*, s:o*, s:o*, s:o*}", "request", "sketch-create",
			  "name", argv[optind], "columns_log2", (json_int_t)wanted.columns_log2,
			  "kind", wanted.kind, "rows", client__optional(wanted.rows), "period",
			  client__optional(wanted.period), "parts", client__optional(wanted.parts)),
		wanted.file, "sketch");
}

static int export_sketch(struct options *options, int argc, char **argv)
{
	static const struct export_kind kind = {
		.object = "sketch",
		.request = "sketch-export",
		.member = "sketches",
		.part = "sketcher",
		.remedy = "dartctl sketcher add",
		.period_ms = -1,
	};

	return parts_export__run(options, argc, argv, &kind);
}

static const struct table_column columns[] = {
	TEXT_COLUMN("NAME", "name"),	     TEXT_COLUMN("KIND", "kind"),
	NUMBER_COLUMN("ROWS", "rows"),	     NUMBER_COLUMN("COLUMNS 2^", "columns_log2"),
	NUMBER_COLUMN("PERIOD", "period"),   NUMBER_COLUMN("PARTS", "parts"),
	NUMBER_COLUMN("BYTES", "bytes"),     NUMBER_COLUMN("SKETCHERS", "sketchers"),
	NUMBER_COLUMN("READERS", "readers"), NUMBER_COLUMN("EPOCH", "epoch"),
	TEXT_COLUMN("FILE", "file"),	     {}
};

const struct command sketch_commands[] = {
	{ "create",
	  "NAME --columns 2^N [--kind KIND] [--rows N] [--period TIME] [--parts N] [--file FILE]",
	  "reserve memory for counters that switches and hosts write each period",
	  .parse = create },
	{ "list", NULL, "list the sketches",
	  .request = { "sketch-list", {}, "sketches", columns } },
	{ "show", "SKETCH [--period N] [--from HOST[:PORT]]",
	  "print what of a period is there, and what is missing", .parse = command_sketch_show },
	{ "query", "SKETCH SCHEMA --FIELD VALUE... [--period N] [--from HOST[:PORT]]",
	  "print the count of a key in a period, and how far it may be off",
	  .parse = command_sketch_query },
	{ "top", "SKETCH SCHEMA --keys FILE [--count N] [--period N] [--from HOST[:PORT]]",
	  "print the keys of a list with the greatest counts", .parse = command_sketch_top },
	{ "delete", "SKETCH", "delete a sketch with all its counters",
	  .request = { "sketch-delete", { "name" }, "sketch" }, .least = 1, .most = 1 },
	{ "export", "SKETCH [--sketcher SKETCHER] [--watch FILE | --output FILE]",
	  "print what sketchers need to know, or keep a file of it up to date",
	  .parse = export_sketch },
	{}
};

/* ---- sketchers */

static const struct table_column sketchers[] = { TEXT_COLUMN("SKETCH", "sketch"),
						 TEXT_COLUMN("SKETCHER", "sketcher"),
						 NUMBER_COLUMN("PART", "part"),
						 NUMBER_COLUMN("QUEUE PAIR", "qpn"),
						 {} };

const struct command sketcher_commands[] = {
	{ "list", "[SKETCH]", "list the addresses that may write counters",
	  .request = { "sketcher-list", { "sketch" }, "sketchers", sketchers }, .most = 1 },
	{ "add", "SKETCH ADDRESS", "accept counters from this IPv4 address",
	  .request = { "sketcher-add", { "sketch", "address" }, "sketcher" }, .least = 2,
	  .most = 2 },
	{ "remove", "SKETCH SKETCHER", "stop accepting counters from it",
	  .request = { "sketcher-remove", { "sketch", "address" }, "sketcher" }, .least = 2,
	  .most = 2 },
	{}
};
