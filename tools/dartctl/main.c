// SPDX-License-Identifier: GPL-2.0-only
/* dartctl: tells dartd what to expose, and asks what it does. */
#include <locale.h>
#include <stdio.h>

#include <dart/registration.h>

#include "command.h"

static const struct command commands[] = {
	{ "register", .parse = command_register },
	{ "unregister", .run = command_unregister },
	{ "list", .run = command_list },
	{ "show", .run = command_show },
	{ "status", .run = command_status },
	{ "probe", .run = command_probe },
	{ "store", .parse = command_store },
	{ "reporter", .parse = command_reporter },
	{ "switch", .parse = command_switch },
	{ "plan", .parse = command_plan },
	{ "query", .parse = command_query },
	{ }
};

int main(int argc, char **argv)
{
	struct options options = { .socket = DART_REGISTRATION_SOCKET };
	int status;

	/* Tables print texts as far as the terminal can show them. */
	setlocale(LC_CTYPE, "");

	argv[0] = "dartctl";
	status = command__run(commands, &options, argc, argv);
	if (fflush(stdout) || ferror(stdout))
		return fail("cannot write the answer");
	return status;
}
