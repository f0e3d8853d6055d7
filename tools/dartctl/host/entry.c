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

/* Removes entries of other kinds and names; NULL matches any. */
static void filter(json_t *entries, const char *kind, const char *pattern)
{
	size_t i = json_array_size(entries);

	while (i--) {
		const char *its_kind = "", *name = "";

		json_unpack(json_array_get(entries, i), "{s:s, s:s}", "kind", &its_kind, "name",
			    &name);
		if ((kind && strcmp(kind, its_kind)) || (pattern && fnmatch(pattern, name, 0)))
			json_array_remove(entries, i);
	}
}

int command_entry_list(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = { { .name = "kind" }, {} };
	const char *kind = NULL;
	json_t *entries, *reply;
	int status;

	if (options__take(options, argc, argv, rows, &kind))
		return EXIT_USAGE;
	if (argc - optind > 1)
		return misuse("'%s' takes one PATTERN, in quotes", argv[0]);
	entries = client__ask(options, json_pack("{s:s}", "request", "list"),
			      -1, "entries", &reply, NULL);
	if (!entries)
		return EXIT_FAILURE;
	filter(entries, kind, argv[optind]);
	status = options->json ? print_json(json_incref(entries), 0) :
				 table__print_objects(entries, columns);
	json_decref(reply);
	return status;
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
