// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static void say(const char *format, va_list arguments, const char *end)
{
	fputs("dartctl: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs(end, stderr);
}

int fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments, "\n");
	va_end(arguments);
	return EXIT_FAILURE;
}

int misuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments, " (see dartctl --help)\n");
	va_end(arguments);
	return EXIT_USAGE;
}

int command__run(const struct command *commands, struct options *options,
		 int argc, char **argv)
{
	const struct command *command = commands;
	const char *who = argv[0];

	optind = 0;
	if (options__next_in_front(options, argc, argv) != -1)
		return EXIT_USAGE;
	argc -= optind;
	argv += optind;
	if (!argc)
		return misuse("'%s' needs a command", who);
	while (command->name && strcmp(command->name, argv[0]))
		command++;
	if (!command->name)
		return misuse("'%s' has no command '%s'", who, argv[0]);

	optind = 0;
	if (command->parse)
		return command->parse(options, argc, argv);
	if (options__next(options, argc, argv, NULL) != -1)
		return EXIT_USAGE;
	return command->run(options, argc - optind, argv + optind);
}
