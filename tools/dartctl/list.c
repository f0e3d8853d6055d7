// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "client.h"
#include "command.h"
#include "table.h"

static const struct table_column columns[] = {
	{ "NAME", "name", false },
	{ "KIND", "kind", false },
	{ "MAP", "map_id", true },
	{ "COPIES", "copies", true },
	{ "OF", "copies_are", false },
	{ "FIELDS", "fields", true },
	{ "BYTES", "bytes", true },
	{ "MEMORY REGIONS", "memory_regions", true },
	{ }
};

int command_list(const struct options *options, int argc, char **argv)
{
	json_t *entries, *reply;
	int status = EXIT_SUCCESS;

	if (argc)
		return misuse("'list' takes no arguments");
	entries = client__ask(options, json_pack("{s:s}", "request", "list"),
			      -1, "entries", &reply);
	if (!entries)
		return EXIT_FAILURE;

	if (!options->json)
		status = table__print_objects(entries, columns);
	json_decref(reply);
	return status;
}
