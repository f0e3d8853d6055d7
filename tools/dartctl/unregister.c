// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "client.h"
#include "command.h"

int command_unregister(const struct options *options, int argc, char **argv)
{
	json_t *reply;

	if (argc != 1)
		return misuse("'unregister' needs one name");
	if (!client__ask(options,
			 json_pack("{s:s, s:s}", "request", "unregister",
				   "name", argv[0]),
			 -1, "entry", &reply))
		return EXIT_FAILURE;
	json_decref(reply);
	return EXIT_SUCCESS;
}
