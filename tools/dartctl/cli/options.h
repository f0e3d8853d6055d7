/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that all commands of dartctl have, and those of one. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

struct command;

struct options {
	bool json;		/* print the answer as JSON */
	const char *socket;	/* path */
	const struct command *root;	/* dartctl */
	const struct command *command;	/* named so far, the root at first */
	int (*help)(const struct options *options);	/* for --help */
	char path[64];		/* its name in full: "store create" */
};

/* Values of a command's own options begin here, so that none is a letter. */
#define OPTIONS_OWN	512
#define OPTIONS_OWN_MAX	56

/*
 * Returns the next option in @argv that is the command's own, as in @own, which
 * ends with zeros, or may be NULL; its argument is in optarg.  Options of all
 * commands go into @options on the way.  -1 after the last one: the operands
 * begin at argv[optind].  '?' after a mistake, with its message printed.
 * argv[0] names the command in it; the caller sets optind to 0 before the first
 * call.  After --help and --version the program exits.
 */
int options__next(struct options *options, int argc, char **argv, const struct option *own);
/* The same, but stops at the first operand. */
int options__next_in_front(struct options *options, int argc, char **argv);

/* The decimal number @text; -1 if it is not one, or is larger than @most. */
long long options__number(const char *text, long long most);
/* "2^20" or "1048576" as 20; -1 if it is neither. */
long long options__logarithm(const char *text);

#endif /* OPTIONS_H */
