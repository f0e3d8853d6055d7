// SPDX-License-Identifier: GPL-2.0-only
/* Finds the command that the command line names, and prints help. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>
#include <libdart/settings/program.h>

#include "command.h"

/* Adds ", NAME" to a list; cuts lists that are too long to be useful. */
static void add_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

/*
 * Makes @word, a command below the present one, the command of @options.  Returns 0, or EXIT_USAGE
 * after a message.
 */
static int descend(struct options *options, const char *word)
{
	const struct command *command, *found = NULL;
	char names[256] = "";
	int count = 0;

	for (command = options->command->commands; command && command->name; command++) {
		if (!strcmp(command->name, word)) {
			found = command;
			count = 1;
			break;
		}
		if (strncmp(command->name, word, strlen(word)) || !command->summary)
			continue;
		found = command;
		count++;
		add_name(names, sizeof(names), command->name);
	}
	if (!count)
		return misuse("'%s' has no command '%s'",
			      *options->path ? options->path : "dartctl", word);
	if (count > 1)
		return misuse("'%s' is ambiguous: %s", word, names);
	if (!found->summary)
		return misuse("'%s %s' is now '%s'", options->path, word, found->operands);
	options->command = found;
	snprintf(options->path + strlen(options->path),
		 sizeof(options->path) - strlen(options->path), "%s%s",
		 *options->path ? " " : "", found->name);
	return 0;
}

static int run(const struct command *command, const struct options *options, int argc, char **argv)
{
	if (argc >= command->least && argc <= command->most)
		return command->run ? command->run(options, argc, argv) :
				      client__run(options, &command->request, argc, argv);
	if (command->operands)
		return misuse("'%s' takes %s", options->path, command->operands);
	return misuse("'%s' takes no operands", options->path);
}

int command__run(struct options *options, int argc, char **argv)
{
	const struct command *command;
	int status;

	while (options->command->commands) {
		optind = 0;
		if (options__take_in_front(options, argc, argv))
			return EXIT_USAGE;
		argc -= optind;
		argv += optind;
		if (!argc)
			return misuse("'%s' needs a command",
				      *options->path ? options->path : "dartctl");
		if (*options->path && !strcmp(argv[0], "help"))
			return command__help(options);
		status = descend(options, argv[0]);
		if (status)
			return status;
		argv[0] = options->path;
	}

	command = options->command;
	optind = 0;
	if (command->parse)
		return command->parse(options, argc, argv);
	if (options__take(options, argc, argv, NULL, NULL))
		return EXIT_USAGE;
	return run(command, options, argc - optind, argv + optind);
}

/* ---- help */

#define MARGIN	5	/* columns before operands that continue on the next line */
#define COLUMN	26	/* where summaries begin */
#define WIDTH	79

/* The length of @text up to the next option, or bracket outside other brackets. */
static size_t unbroken_length(const char *text)
{
	int depth = *text == '[';
	size_t length;

	for (length = 1; text[length]; length++) {
		if (!depth && (!strncmp(text + length, " [", 2) ||
			       !strncmp(text + length, " --", 3)))
			break;
		depth += (text[length] == '[') - (text[length] == ']');
	}
	return length;
}

/* Prints @text, with line breaks only before options and brackets. */
static void wrap(const char *text, int *column)
{
	size_t length;

	for (; *text; text += length) {
		length = unbroken_length(text);
		if (*column + (int)length > WIDTH)
			*column = printf("\n%*s", MARGIN, "") - 1;
		*column += printf("%.*s", (int)length, text);
	}
}

static void print_line(const char *path, const struct command *command)
{
	int column = printf("  %s", path);

	if (command->operands) {
		column += printf(" ");
		wrap(command->operands, &column);
	}
	if (column + 2 > COLUMN) {
		putchar('\n');
		column = 0;
	}
	printf("%*s%s\n", COLUMN - column, "", command->summary);
}

/*
 * Prints @command, called @path, or all commands below it; adds them to @list instead unless that
 * is NULL.
 */
static void describe(const char *path, const struct command *command, json_t *list)
{
	const struct command *child = command->commands;
	char name[sizeof(((struct options *)0)->path)];

	for (; child && child->name; child++) {
		snprintf(name, sizeof(name), "%s%s%s", path, *path ? " " : "", child->name);
		if (child->summary)
			describe(name, child, list);
	}
	if (list && !command->commands)
		json_array_append_new(list,
				      json_pack("{s:s, s:s*, s:s}", "command", path, "operands",
						command->operands, "summary", command->summary));
	else if (!command->commands)
		print_line(path, command);
}

int command__help(const struct options *options)
{
	bool is_all = !*options->path;

	if (options->json) {
		json_t *list = json_array();

		describe(options->path, options->command, list);
		return print_json(list, 0);
	}
	puts("Usage: dartctl [OPTION]... OBJECT COMMAND [OPERAND]...\n");
	if (is_all)
		puts("Configures the metrics of this host that controllers may read, and the reports\n"
		     "that it accepts. A prefix of an object or command suffices if it is unique.\n");
	describe(options->path, options->command, NULL);
	if (is_all)
		puts("\n  -j, --json              print the answer, or the error, as JSON\n"
		     "      --socket=PATH       dartd listens at PATH, not at\n"
		     "                          " DART_REGISTRATION_SOCKET "\n"
		     "  -h, --help              print what the command takes and exit\n"
		     "  -V, --version           print the version and exit");
	return EXIT_SUCCESS;
}

int command_help(const struct options *options, int argc, char **argv)
{
	struct options named = {
		.json = options->json,
		.command = options->root,
	};
	int i, status;

	for (i = 0; i < argc; i++) {
		status = descend(&named, argv[i]);
		if (status)
			return status;
	}
	return command__help(&named);
}

int command__main(const struct command *commands, int argc, char **argv)
{
	const struct command dartctl = { "dartctl", .commands = commands };
	char **line = malloc((argc + 1) * sizeof(*line));
	struct options options = {
		.line = line,
		.socket = DART_REGISTRATION_SOCKET,
		.root = &dartctl,
		.command = &dartctl,
		.help = command__help,
	};
	int status;

	dart_program__open_streams();
	/* Tables print texts as far as the terminal can show them. */
	setlocale(LC_CTYPE, "");

	argv[0] = "dartctl";
	if (!line)
		return fail(ENOMEM, "cannot run a command");
	memcpy(line, argv, (argc + 1) * sizeof(*line));
	status = command__run(&options, argc, argv);
	free(line);
	return dart_program__end_output("dartctl", status);
}
