// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parses options, prints their help and looks after the standard streams: see program.h. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/settings/program.h>

#define OPTIONS_MAX	128
/* What getopt_long() returns for the first option; letters are below. */
#define CODE_FIRST	256
#define HELP_COLUMN	25
#define HELP_WIDTH	90

/* ---- parsing */

struct parser {
	const struct dart_setting *settings[OPTIONS_MAX];
	void *objects[OPTIONS_MAX];
	struct option options[OPTIONS_MAX + 1];
	char letters[3 * OPTIONS_MAX + 2];
	int count;
};

static void add_option(struct parser *parser, const struct dart_setting *setting, void *object)
{
	const char *argument = setting->argument;
	char *end = parser->letters + strlen(parser->letters);

	if (parser->count == OPTIONS_MAX)
		abort();
	parser->settings[parser->count] = setting;
	parser->objects[parser->count] = object;
	parser->options[parser->count] = (struct option){
		.name = setting->option,
		.has_arg = !argument	      ? no_argument :
			   *argument == '[' ? optional_argument :
					      required_argument,
		.val = CODE_FIRST + parser->count,
	};
	parser->count++;
	if (!setting->letter)
		return;
	*end++ = setting->letter;
	if (argument)
		*end++ = ':';
	if (argument && *argument == '[')
		*end++ = ':';
	*end = '\0';
}

static void add_options(struct parser *parser, const struct dart_settings_of *places)
{
	size_t i;

	/* Missing arguments are told from unknown options. */
	strcpy(parser->letters, ":");
	for (; places->table; places++)
		for (i = 0; i < places->table->count; i++)
			if (places->table->rows[i].option)
				add_option(parser, &places->table->rows[i], places->object);
}

static int refuse_option(int code, char *argv[], struct dart_error *error)
{
	/* optind may still point at the word with the letter. */
	if (code == '?' && optopt && optopt < CODE_FIRST)
		return dart_error__set(error, EINVAL, "unknown option '-%c' (see --help)", optopt);
	return dart_error__set(error, EINVAL,
			       code == ':' ? "option '%s' requires a value (see --help)" :
					     "unknown option '%s' (see --help)",
			       argv[optind - 1]);
}

static int take_option(const struct parser *parser, int code, char *argv[],
		       struct dart_error *error)
{
	const struct dart_setting *setting;
	struct dart_error reason;
	int i, ret;

	for (i = 0; i < parser->count; i++)
		if (code == CODE_FIRST + i || code == parser->settings[i]->letter)
			break;
	if (i == parser->count)
		return refuse_option(code, argv, error);
	setting = parser->settings[i];
	ret = dart_setting__take(setting, parser->objects[i], optarg, &reason);
	/* A sentence without a noun does not name its subject. */
	if (ret == -EINVAL && !setting->noun && !setting->take)
		return dart_error__set(error, EINVAL, "--%s: %s", setting->option, reason.text);
	if (ret)
		*error = reason;
	return ret;
}

int dart_program__parse(const struct dart_settings_of *places, int argc, char *argv[],
			struct dart_error *error)
{
	struct parser parser = {};
	int code, ret = 0;

	add_options(&parser, places);
	optind = 0;
	opterr = 0;
	while (!ret && (code = getopt_long(argc, argv, parser.letters, parser.options, NULL)) != -1)
		ret = take_option(&parser, code, argv, error);
	return ret;
}

/* ---- help */

/* Prints @text in lines of HELP_WIDTH columns, the first one after @column columns. */
static void print_wrapped(const char *text, int column, FILE *out)
{
	int length;

	for (; *text; text += length + !!text[length]) {
		length = strcspn(text, " ");
		if (column + 1 + length > HELP_WIDTH)
			column = fprintf(out, "\n%*s", HELP_COLUMN - 1, "") - 1;
		column += fprintf(out, " %.*s", length, text);
	}
	fputc('\n', out);
}

static void print_options(const struct dart_settings *table, FILE *out)
{
	const struct dart_setting *row;
	int column;
	size_t i;

	for (i = 0; i < table->count; i++) {
		row = &table->rows[i];
		if (!row->option)
			continue;
		if (row->letter)
			column = fprintf(out, "  -%c, ", row->letter);
		else
			column = fprintf(out, "      ");
		column += fprintf(out, "--%s%s%s", row->option,
				  row->argument && *row->argument != '[' ? " " : "",
				  row->argument ?: "");
		if (column < HELP_COLUMN - 1)
			column += fprintf(out, "%*s", HELP_COLUMN - 1 - column, "");
		print_wrapped(row->help, column, out);
	}
}

void dart_program__print_help(const struct dart_program *program, FILE *out)
{
	const struct dart_option_group *group;

	fputs(program->usage, out);
	for (group = program->groups; group->table; group++) {
		if (!group->title)
			continue;
		fprintf(out, "\n%s\n", group->title);
		print_options(group->table, out);
	}
	if (program->epilogue)
		fprintf(out, "\n%s", program->epilogue);
}

/* ---- standard streams */

void dart_program__open_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int dart_program__end_output(const char *name, int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "%s: cannot write to standard output: %s\n", name, strerror(errno));
	return EXIT_FAILURE;
}
