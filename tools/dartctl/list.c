// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "client.h"
#include "command.h"
#include "table.h"

static const struct column {
	const char *title;
	const char *member;
	bool is_number;
} columns[] = {
	{ "NAME", "name", false },
	{ "KIND", "kind", false },
	{ "MAP", "map_id", true },
	{ "COPIES", "copies", true },
	{ "OF", "copies_are", false },
	{ "FIELDS", "fields", true },
	{ "BYTES", "bytes", true },
	{ "MEMORY REGIONS", "memory_regions", true },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static int fill(struct libscols_table *table, json_t *entries)
{
	size_t i, column;
	json_t *entry, *value;
	int ret = 0;

	for (i = 0; i < COLUMNS && !ret; i++)
		ret = table__add_column(table, columns[i].title,
					columns[i].is_number);
	json_array_foreach(entries, i, entry) {
		if (!ret)
			ret = table__add_line(table);
		for (column = 0; column < COLUMNS && !ret; column++) {
			value = json_object_get(entry, columns[column].member);
			ret = table__set(table, column, value);
		}
	}
	return ret;
}

int command_list(const struct options *options, int argc, char **argv)
{
	struct libscols_table *table;
	json_t *entries, *reply;
	int status = EXIT_SUCCESS;

	if (argc)
		return misuse("'list' takes no arguments");
	entries = client__ask(options, json_pack("{s:s}", "request", "list"),
			      -1, "entries", &reply);
	if (!entries)
		return EXIT_FAILURE;

	if (!options->json) {
		table = table__new();
		status = table ? table__print(table, fill(table, entries)) :
				 fail("memory is short");
	}
	json_decref(reply);
	return status;
}
