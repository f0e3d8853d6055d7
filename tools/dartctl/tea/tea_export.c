// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table export: prints what switches need to know about a table. */
#include <stdlib.h>

#include "tools/dartctl/command.h"

int command_tea_export(const struct options *options, int argc, char **argv)
{
	json_t *tables, *reply;
	int status;

	tables = client__ask(options,
			     json_pack("{s:s, s:s}", "request", "table-export",
				       "name", argv[0]),
			     -1, "tables", &reply, NULL);
	if (!tables)
		return EXIT_FAILURE;
	/* The file of dart_tables(5), with --json and without. */
	status = print_json(json_pack("{s:O}", "tables", tables), 0);
	json_decref(reply);
	return status;
}
