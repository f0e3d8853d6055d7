// SPDX-License-Identifier: GPL-2.0-only
/* dartctl registration: what dartd registers again after a restart. */
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"

static const struct table_column columns[] = {
	{ "KIND", "kind", false, NULL },
	{ "NAME", "name", false, NULL },
	{ "OWNER", "owner", false, table__user },
	{ "FROM", "origin", false, NULL },
	{ "MISSING", "missing", false, NULL },
	{ }
};

/* Splits "kind name"; what never had a name is shown as its request. */
static int split_name(json_t *registration)
{
	const char *name = json_string_value(json_object_get(registration, "name"));
	char *text, *space;
	int ret;

	text = name ? strdup(name) :
		      json_dumps(json_object_get(registration, "request"), JSON_COMPACT);
	space = text && name ? strchr(text, ' ') : NULL;
	if (space)
		*space = '\0';
	ret = !text || json_object_set_new(registration, "kind", json_string(space ? text : "")) ||
	      json_object_set_new(registration, "name", json_string(space ? space + 1 : text));
	free(text);
	return ret;
}

static int print(json_t *registrations)
{
	json_t *registration;
	size_t i;

	json_array_foreach(registrations, i, registration)
		if (split_name(registration))
			return fail__out_of_memory();
	return table__print_objects(registrations, columns);
}

const struct command registration_commands[] = {
	{ "list", NULL, "list what dartd registers again after a restart",
	  .request = { "registration-list", { }, "registrations",
		       .print = print } },
	{ }
};
