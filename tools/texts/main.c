// SPDX-License-Identifier: GPL-2.0-only
/*
 * texts_PROGRAM TEMPLATE: prints a manual page or a completion of PROGRAM, whose options are rows
 * of settings (libdart/settings/setting.h), for the build.  TEMPLATE is the text, named
 * NAME.SECTION.in or NAME.SHELL-completion.in, with these lines in the place of options:
 *
 *	@option NAME@	the head of the option and its help, before further sentences of a page
 *	@options@	the other options of a page; all options of a completion
 *	@values@	the values of options, for bash
 *	@keys GROUP@	the keys of a mapping of the configuration file
 *	@starts@	the keys that a reload does not apply
 */
#include <ctype.h>
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/settings/program.h>

#define OPTIONS_MAX	128
#define WIDTH		90
/* A phrase that is cut shorter than this says nothing. */
#define SHORT_MIN	10

static const struct dart_setting *options[OPTIONS_MAX], *keys[OPTIONS_MAX];
static bool is_printed[OPTIONS_MAX];
static size_t option_count, key_count;

static void collect(void)
{
	const struct dart_option_group *group;
	const struct dart_setting *row;
	size_t i;

	for (group = program.groups; group->table; group++) {
		for (i = 0; i < group->table->count; i++) {
			row = &group->table->rows[i];
			if (option_count == OPTIONS_MAX || key_count == OPTIONS_MAX)
				errx(EXIT_FAILURE, "there are more than %d rows", OPTIONS_MAX - 1);
			if (row->option)
				options[option_count++] = row;
			if (row->key)
				keys[key_count++] = row;
		}
	}
}

/* ---- manual pages */

/* "KIND[,BYTES]" as words of mdoc: Ar kind Ns Oo Ns No \&, Ns Ar bytes Ns Oc. */
static void print_argument(const char *argument)
{
	const char *next, *join = *argument == '[' ? " Ns " : " ";

	for (; *argument; argument = next, join = " Ns ") {
		next = argument + 1;
		if (*argument == '[' || *argument == ']') {
			printf("%s%s", join, *argument == '[' ? "Oo" : "Oc");
		} else if (isupper(*argument)) {
			printf("%sAr ", join);
			for (next = argument; isupper(*next); next++)
				putchar(tolower(*next));
		} else {
			printf("%sNo \\&", join);
			for (next = argument; *next && !isupper(*next) && !strchr("[]", *next);
			     next++)
				putchar(*next);
		}
	}
}

static void print_head(const struct dart_setting *option)
{
	printf(".It Fl ");
	if (option->letter)
		printf("%c , ", option->letter);
	printf("-%s", option->option);
	if (option->argument)
		print_argument(option->argument);
	putchar('\n');
}

/* roff reads a backslash, and a period or a quote that begin a line. */
static void print_phrase(const char *phrase)
{
	if (strchr(".'", *phrase))
		fputs("\\&", stdout);
	for (; *phrase; phrase++) {
		if (*phrase == '\\')
			fputs("\\e", stdout);
		else if (*phrase == '-')
			fputs("\\-", stdout);
		else
			putchar(*phrase);
	}
}

static void print_sentence(const char *phrase)
{
	putchar(toupper(*phrase));
	print_phrase(phrase + 1);
	fputs(".\n", stdout);
}

static void print_facts(const struct dart_setting *row)
{
	char bounds[160];

	dart_setting__print_bounds(row, bounds, sizeof(bounds));
	if (row->most && !row->expected)
		printf("From %s.\n", bounds);
	if (row->key)
		printf("The key in the configuration file is\n.Ic %s .\n", row->key);
}

static void print_item(size_t i)
{
	print_head(options[i]);
	print_sentence(options[i]->help);
	print_facts(options[i]);
	is_printed[i] = true;
}

static void print_items(const char *name)
{
	size_t i;

	for (i = 0; i < option_count; i++) {
		if (!name && !is_printed[i])
			print_item(i);
		if (name && !strcmp(options[i]->option, name)) {
			print_item(i);
			return;
		}
	}
	if (name)
		errx(EXIT_FAILURE, "there is no option '%s'", name);
}

static void print_keys(const char *group)
{
	const size_t length = strlen(group);
	size_t i;

	for (i = 0; i < key_count; i++) {
		if (strncmp(keys[i]->key, group, length) || keys[i]->key[length] != '.')
			continue;
		printf(".It Ic %s\n", keys[i]->key + length + 1);
		print_phrase(keys[i]->help ?: "");
		putchar('\n');
	}
}

static void print_starts(void)
{
	const struct dart_option_group *group;
	char names[256];

	for (group = program.groups; group->table; group++) {
		dart_settings__print_for_start(group->table, " , ", names, sizeof(names));
		if (*names)
			printf(".Ic %s\n", names);
	}
}

/* ---- completions */

/* The words that complete the value, or NULL. */
static const char *words_of(const struct dart_setting *option)
{
	static char words[256];
	char *c;

	if (option->completion)
		return *option->completion == '@' ? NULL : option->completion;
	if (!option->words)
		return NULL;
	snprintf(words, sizeof(words), "%s", option->words);
	for (c = words; *c; c++)
		*c = *c == '|' ? ' ' : *c;
	return words;
}

/* Is the value completed as @kind: "@file", "@host" or "@url"? */
static bool is_kind(const struct dart_setting *option, const char *kind)
{
	return option->completion && !strncmp(option->completion, kind, strlen(kind));
}

/* The endings of "@file yaml yml" as "yaml|yml"; "" if each file will do. */
static const char *endings_of(const struct dart_setting *option)
{
	static char endings[64];
	char *c;

	snprintf(endings, sizeof(endings), "%s", option->completion + strlen("@file"));
	for (c = endings + 1; *endings && *c; c++)
		*c = *c == ' ' ? '|' : *c;
	return *endings ? endings + 1 : endings;
}

static void print_bash_values(void)
{
	const struct dart_setting *option;
	const char *words;
	size_t i;

	for (i = 0; i < option_count; i++) {
		option = options[i];
		/* A value that is optional stands in the same word. */
		if (!option->argument || *option->argument == '[')
			continue;
		fputc('\t', stdout);
		if (option->letter)
			printf("-%c | ", option->letter);
		printf("--%s)\n", option->option);
		words = words_of(option);
		if (words)
			printf("\t\tmapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"$cur\")\n", words);
		else if (is_kind(option, "@file") && *endings_of(option))
			printf("\t\t_filedir '@(%s)'\n", endings_of(option));
		else if (is_kind(option, "@file"))
			puts("\t\t_filedir");
		puts("\t\treturn\n\t\t;;");
	}
}

static void print_bash_options(void)
{
	int column = 0;
	size_t i;

	for (i = 0; i < option_count; i++) {
		if (column + (int)strlen(options[i]->option) + 3 > WIDTH)
			column = 0;
		if (!column)
			column = printf("%s\t\t\t", i ? "\n" : "") + 21;
		else
			column += printf(" ");
		column += printf("--%s", options[i]->option);
	}
	putchar('\n');
}

/* The beginning of the help, with @escape in place of quotes. */
static void print_short(const char *help, bool is_capital, const char *escape)
{
	static const char *const ends[] = { ": ", "; ", " (" };
	const char *end = help + strlen(help), *found;
	size_t k;

	for (k = 0; k < sizeof(ends) / sizeof(*ends); k++) {
		found = strstr(help, ends[k]);
		if (found && found < end && found - help >= SHORT_MIN)
			end = found;
	}
	for (found = help; found < end; found++) {
		if (*found == '\'')
			fputs(escape, stdout);
		else
			putchar(found == help && is_capital ? toupper(*found) : *found);
	}
}

/* The first word of an argument, in lower case. */
static void print_word(const char *argument)
{
	argument += strcspn(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (; isupper(*argument); argument++)
		putchar(tolower(*argument));
}

static void print_zsh_value(const struct dart_setting *option)
{
	const char *words = words_of(option);

	printf(*option->argument == '[' ? "::" : ":");
	print_word(option->argument);
	putchar(':');
	if (words && strstr(option->argument, ",...")) {
		fputs("_values -s , ", stdout);
		print_word(option->argument);
		printf(" %s", words);
	} else if (words) {
		printf("(%s)", words);
	} else if (is_kind(option, "@file") && *endings_of(option)) {
		printf("_files -g \"*.(%s)\"", endings_of(option));
	} else if (option->completion) {
		printf("_%ss", option->completion + 1);
	}
}

static void print_zsh_options(void)
{
	const struct dart_setting *option;
	bool ends;
	size_t i;

	for (i = 0; i < option_count; i++) {
		option = options[i];
		ends = !strcmp(option->option, "help") || !strcmp(option->option, "version");
		fputs("\t'", stdout);
		if (option->is_repeatable)
			putchar('*');
		else if (ends)
			fputs("(- *)", stdout);
		else if (option->letter)
			printf("(-%c --%s)", option->letter, option->option);
		if (option->letter && option->argument)
			printf("'{-%c+,--%s=}'[", option->letter, option->option);
		else if (option->letter)
			printf("'{-%c,--%s}'[", option->letter, option->option);
		else
			printf("--%s%s[", option->option,
			       !option->argument ? "" : *option->argument == '[' ? "=-" : "=");
		print_short(option->help, false, "'\\''");
		putchar(']');
		if (option->argument)
			print_zsh_value(option);
		puts("' \\");
	}
}

static void print_fish_options(void)
{
	const struct dart_setting *option;
	const char *words;
	size_t i;

	for (i = 0; i < option_count; i++) {
		option = options[i];
		printf("complete -c %s", program.name);
		if (option->letter)
			printf(" -s %c", option->letter);
		printf(" -l %s", option->option);
		words = words_of(option);
		if (is_kind(option, "@file"))
			fputs(" -r -F", stdout);
		else if (option->argument)
			fputs(" -x", stdout);
		if (words)
			printf(" -a '%s'", words);
		fputs(" -d '", stdout);
		print_short(option->help, true, "\\'");
		puts("'");
	}
}

/* ---- templates */

/* Prints the line of a template. */
static void print_line(const char *template, char *line)
{
	char *end = strrchr(line, '@');

	if (*line != '@' || end == line) {
		fputs(line, stdout);
		return;
	}
	*end = '\0';
	line++;
	if (!strncmp(line, "option ", 7))
		print_items(line + 7);
	else if (!strncmp(line, "keys ", 5))
		print_keys(line + 5);
	else if (!strcmp(line, "starts"))
		print_starts();
	else if (!strcmp(line, "values"))
		print_bash_values();
	else if (strcmp(line, "options"))
		errx(EXIT_FAILURE, "%s: unknown line '@%s@'", template, line);
	else if (strstr(template, ".bash-"))
		print_bash_options();
	else if (strstr(template, ".zsh-"))
		print_zsh_options();
	else if (strstr(template, ".fish-"))
		print_fish_options();
	else
		print_items(NULL);
}

int main(int argc, char *argv[])
{
	size_t room = 0;
	char *line = NULL;
	FILE *template;

	if (argc != 2)
		errx(2, "expected the name of a template");
	template = fopen(argv[1], "re");
	if (!template)
		err(EXIT_FAILURE, "%s", argv[1]);
	collect();
	while (getline(&line, &room, template) >= 0)
		print_line(argv[1], line);
	free(line);
	fclose(template);
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILURE, "cannot write");
	return EXIT_SUCCESS;
}
