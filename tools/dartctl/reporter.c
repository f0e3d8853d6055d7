// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "client.h"
#include "command.h"
#include "table.h"
#include "tools/dartctl/xdp/attach.h"

static int change(const struct options *options, const char *request,
		  char **argv)
{
	json_t *reply;

	if (!client__ask(options,
			 json_pack("{s:s, s:s, s:s}", "request", request,
				   "store", argv[0], "address", argv[1]),
			 -1, "reporter", &reply))
		return EXIT_FAILURE;
	json_decref(reply);
	return EXIT_SUCCESS;
}

static int add(const struct options *options, int argc, char **argv)
{
	if (argc != 2)
		return misuse("'reporter add' needs STORE and ADDRESS");
	return change(options, "reporter-add", argv);
}

static int remove_one(const struct options *options, int argc, char **argv)
{
	if (argc != 2)
		return misuse("'reporter remove' needs STORE and ADDRESS");
	return change(options, "reporter-remove", argv);
}

static const struct table_column columns[] = {
	{ "STORE", "store", false },
	{ "REPORTER", "reporter", false },
	{ "QUEUE PAIR", "qpn", true },
	{ }
};

static int list(const struct options *options, int argc, char **argv)
{
	json_t *reporters, *reply;
	int status = EXIT_SUCCESS;

	if (argc > 1)
		return misuse("'reporter list' takes one store at most");
	reporters = client__ask(options,
				json_pack("{s:s, s:s*}", "request",
					  "reporter-list", "store", argv[0]),
				-1, "reporters", &reply);
	if (!reporters)
		return EXIT_FAILURE;
	if (!options->json)
		status = table__print_objects(reporters, columns);
	json_decref(reply);
	return status;
}

static const struct command commands[] = {
	{ "add", .run = add },
	{ "remove", .run = remove_one },
	{ "list", .run = list },
	{ "attach", .parse = reporter__attach },
	{ "detach", .run = reporter__detach },
	{ "status", .run = reporter__status },
	{ }
};

int command_reporter(struct options *options, int argc, char **argv)
{
	return command__run(commands, options, argc, argv);
}
