// SPDX-License-Identifier: GPL-2.0-only
/* dartctl status: the state of dartd, a line for each member of its answer; its coverage. */
#include <stdlib.h>
#include <string.h>

#include "coverage.h"
#include "tools/dartctl/cli/command.h"

static const struct table_column columns[] = {
	{ "", "key", false, NULL },
	{ "", "value", false, NULL },
	{ }
};

static int print(json_t *status)
{
	json_t *lines = json_array(), *value;
	const char *key;
	int ret;

	json_object_foreach(status, key, value)
		if (strcmp(key, "coverage"))
			json_array_append_new(lines,
					      json_pack("{s:s, s:O}", "key", key, "value", value));
	ret = table__print_objects(lines, columns);
	json_decref(lines);
	coverage__print(json_object_get(status, "coverage"));
	return ret;
}

int command_status(const struct options *options, int argc, char **argv)
{
	json_t *status, *reply;
	int ret;

	status = client__ask(options, json_pack("{s:s}", "request", "status"),
			     -1, "status", &reply, NULL);
	if (!status)
		return EXIT_FAILURE;
	/* Beside the version of dartd. */
	json_object_set_new(status, "dartctl_version", json_string(DART_VERSION));
	ret = options->json ? print_json(json_incref(status), 0) : print(status);
	json_decref(reply);
	return ret;
}
