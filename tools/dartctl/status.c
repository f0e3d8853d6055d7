// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "client.h"
#include "command.h"
#include "table.h"

static int fill(struct libscols_table *table, json_t *status)
{
	const char *key;
	json_t *value, *title;
	int ret;

	scols_table_enable_noheadings(table, 1);
	ret = table__add_column(table, "", false);
	if (!ret)
		ret = table__add_column(table, "", false);

	json_object_foreach(status, key, value) {
		if (!ret)
			ret = table__add_line(table);
		title = json_string(key);
		if (!ret)
			ret = table__set(table, 0, title);
		json_decref(title);
		if (!ret)
			ret = table__set(table, 1, value);
	}
	return ret;
}

int command_status(const struct options *options, int argc, char **argv)
{
	struct libscols_table *table;
	json_t *status, *reply;
	int ret = EXIT_SUCCESS;

	if (argc)
		return misuse("'status' takes no arguments");
	status = client__ask(options, json_pack("{s:s}", "request", "status"),
			     -1, "status", &reply);
	if (!status)
		return EXIT_FAILURE;

	if (!options->json) {
		table = table__new();
		ret = table ? table__print(table, fill(table, status)) :
			      fail("memory is short");
	}
	json_decref(reply);
	return ret;
}
