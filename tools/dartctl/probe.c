// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "command.h"
#include "table.h"

static const char *const titles[] = {
	"NAME", "LOADED", "MISSED", "ENTRIES", "DESCRIPTION",
};

#define COLUMNS (sizeof(titles) / sizeof(titles[0]))

static const char *const members[COLUMNS] = {
	"name", "loaded", "missed", "entries", "description",
};

/* Booleans as people say them; a list as its elements. */
static json_t *cell(const json_t *value)
{
	json_t *element, *text;
	size_t i;

	if (json_is_boolean(value))
		return json_string(json_is_true(value) ? "yes" : "no");
	if (!json_is_array(value))
		return json_incref((json_t *)value);

	text = json_string("");
	json_array_foreach(value, i, element) {
		json_t *longer = json_sprintf("%s%s%s", json_string_value(text),
					      i ? " " : "",
					      json_string_value(element));

		json_decref(text);
		text = longer;
	}
	return text;
}

static int fill(struct libscols_table *table, json_t *probes)
{
	size_t i, column;
	json_t *probe;
	int ret = 0;

	for (i = 0; i < COLUMNS && !ret; i++)
		ret = table__add_column(table, titles[i],
					!strcmp(titles[i], "MISSED"));
	json_array_foreach(probes, i, probe) {
		if (!ret)
			ret = table__add_line(table);
		for (column = 0; column < COLUMNS && !ret; column++) {
			json_t *text = cell(json_object_get(probe,
							    members[column]));

			ret = table__set(table, column, text);
			json_decref(text);
		}
	}
	return ret;
}

static int list(const struct options *options)
{
	struct libscols_table *table;
	json_t *probes, *reply;
	int status = EXIT_SUCCESS;

	probes = client__ask(options,
			     json_pack("{s:s}", "request", "probe-list"), -1,
			     "probes", &reply);
	if (!probes)
		return EXIT_FAILURE;

	if (!options->json) {
		table = table__new();
		status = table ? table__print(table, fill(table, probes)) :
				 fail("memory is short");
	}
	json_decref(reply);
	return status;
}

static int change(const struct options *options, const char *request,
		  const char *name)
{
	json_t *probe, *reply;

	probe = client__ask(options,
			    json_pack("{s:s, s:s}", "request", request, "name",
				      name),
			    -1, "probe", &reply);
	if (!probe)
		return EXIT_FAILURE;
	json_decref(reply);
	return EXIT_SUCCESS;
}

int command_probe(const struct options *options, int argc, char **argv)
{
	if (argc == 1 && !strcmp(argv[0], "list"))
		return list(options);
	if (argc == 2 && !strcmp(argv[0], "load"))
		return change(options, "probe-load", argv[1]);
	if (argc == 2 && !strcmp(argv[0], "unload"))
		return change(options, "probe-unload", argv[1]);
	return misuse("'probe' needs 'list', 'load NAME' or 'unload NAME'");
}
