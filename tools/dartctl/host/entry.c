// SPDX-License-Identifier: GPL-2.0-only
/* dartctl entry: the entries of dartd's table, which controllers read. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"

static const struct table_column columns[] = {
	TEXT_COLUMN("NAME", "name"),
	TEXT_COLUMN("KIND", "kind"),
	{ "OWNER", "owner", false, table__user },
	{ "AGE", "age_s", true, table__age },
	NUMBER_COLUMN("MAP", "map_id"),
	NUMBER_COLUMN("COPIES", "copies"),
	TEXT_COLUMN("OF", "copies_are"),
	NUMBER_COLUMN("FIELDS", "fields"),
	NUMBER_COLUMN("BYTES", "bytes"),
	NUMBER_COLUMN("MEMORY REGIONS", "memory_regions"),
	NUMBER_COLUMN("MISSING", "failures"),
	NUMBER_COLUMN("LACKING", "lacking"),
	{ }
};

/* The entries that are listed; NULL matches any. */
struct filter {
	const char *kind;
	const char *pattern;	/* of names */
};

static bool filter__keeps(const struct json_members *entry, const void *context)
{
	const struct filter *filter = context;
	const struct json_span *kind = json_members__find(entry, "kind");
	const struct json_span *name = json_members__find(entry, "name");
	json_t *text;
	bool is_kept;

	if (filter->kind && !(kind && json_span__equals(kind, filter->kind)))
		return false;
	if (!filter->pattern)
		return true;
	text = name ? json_span__load(name) : NULL;
	is_kept = json_is_string(text) && !fnmatch(filter->pattern, json_string_value(text), 0);
	json_decref(text);
	return is_kept;
}

int command_entry_list(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = { { .name = "kind" }, {} };
	struct filter filter = {};
	struct reply_form form = { .context = &filter };

	if (options__take(options, argc, argv, rows, &filter.kind))
		return EXIT_USAGE;
	if (argc - optind > 1)
		return misuse("'%s' takes one PATTERN, in quotes", argv[0]);
	filter.pattern = argv[optind];
	if (filter.kind || filter.pattern)
		form.keeps = filter__keeps;
	form.columns = options->json ? NULL : columns;
	return client__print(options, json_pack("{s:s}", "request", "list"), -1, "entries", &form);
}

static const struct command add_commands[] = {
	{ "host", "[--gather TIME [--deferrable]]",
	  "expose all objects of the host, gathered",
	  .parse = command_register_host },
	{ }
};

const struct command entry_commands[] = {
	{ "add", .commands = add_commands, .summary = "" },
	{ "list", "[PATTERN] [--kind KIND]",
	  "list the entries that controllers may read", .parse = command_entry_list },
	{ "show", "ENTRY", "print the current values of an entry",
	  .request = { "show", { "name" }, "entry", .print = entry__print },
	  .least = 1, .most = 1 },
	{ "remove", "ENTRY", "stop exposing an entry",
	  .request = { "unregister", { "name" }, "entry" }, .least = 1, .most = 1 },
	{ }
};
