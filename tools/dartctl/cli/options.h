/* SPDX-License-Identifier: GPL-2.0-only */
/* The common options of all commands of dartctl, and the own options of one. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

struct command;

struct options {
	char *const *line;	/* the whole command line, as it was */
	bool json;		/* print the answer as JSON */
	const char *socket;	/* path */
	const struct command *root;	/* dartctl */
	const struct command *command;	/* the one named so far, at first the root */
	int (*help)(const struct options *options);	/* for --help */
	char path[64];		/* full name of the command: "store create" */
};

/*
 * An option of a command, and the member of the command's structure that it sets.  A list of them
 * ends with zeros.
 */
struct option_row {
	const char *name;
	enum option_type {
		OPTION_TYPE_WORD, /* const char * */
		OPTION_TYPE_FLAG, /* bool, set by an option without an argument */
		OPTION_TYPE_NUMBER, /* long long, from @least to @most */
	} type;
	size_t offset; /* of the member */
	long long least, most;
	/*
	 * Sets the member instead; @text is NULL for a FLAG.  Returns EXIT_SUCCESS, or EXIT_USAGE
	 * after misuse(), which @form replaces: "--NAME FORM, not 'TEXT'".
	 */
	int (*take)(void *member, const char *text);
	const char *form;
};

#define OPTION_WORD(option, object, member) { .name = option, .offset = offsetof(object, member) }
#define OPTION_FLAG(option, object, member) \
	{ .name = option, .type = OPTION_TYPE_FLAG, .offset = offsetof(object, member) }
#define OPTION_NUMBER(option, object, member, from, to) \
	{ .name = option, .type = OPTION_TYPE_NUMBER, .offset = offsetof(object, member), \
	  .least = from, .most = to }
/* @function: take; then .form may follow. */
#define OPTION_OWN(option, object, member, function, ...) \
	{ .name = option, .offset = offsetof(object, member), .take = function, ##__VA_ARGS__ }

#define OPTION_ROWS_MAX 56

/*
 * Takes the options in @argv: common ones into @options, options of @rows, which may be NULL, into
 * @object.  The operands begin at argv[optind] then.  Returns EXIT_SUCCESS, or EXIT_USAGE after a
 * message in which argv[0] names the command.  The caller sets optind to 0 before.  After --help
 * and --version the program exits.
 */
int options__take(struct options *options, int argc, char **argv, const struct option_row *rows,
		  void *object);
/* The same without rows, but stops at the first operand. */
int options__take_in_front(struct options *options, int argc, char **argv);

/* The take() of a power of two such as "2^20" or "256": sets a long long to its logarithm. */
int options__take_power(void *log2, const char *text);

/* The decimal number @text; -1 if @text is no number, or is larger than @most. */
long long options__number(const char *text, long long most);

#endif /* OPTIONS_H */
