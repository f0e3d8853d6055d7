/* SPDX-License-Identifier: GPL-2.0-only */
/* The common options of all commands of dartctl, and the own options of one. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

struct command;

struct options {
	bool json;		/* print the answer as JSON */
	const char *socket;	/* path */
	const struct command *root;	/* dartctl */
	const struct command *command;	/* the one named so far, at first the root */
	int (*help)(const struct options *options);	/* for --help */
	char path[64];		/* full name of the command: "store create" */
};

/* Values of own options begin here, so that none of them is a letter. */
#define OPTIONS_OWN	512
#define OPTIONS_OWN_MAX	56

/*
 * Returns the next option in @argv that is in @own, a list that ends with zeros, or NULL; its
 * argument is in optarg.  Common options before it go into @options.  Returns -1 after the last
 * option: then the operands begin at argv[optind].  Returns '?' after a mistake, with a message
 * printed in which argv[0] names the command.  The caller sets optind to 0 before the first call.
 * After --help and --version the program exits.
 */
int options__next(struct options *options, int argc, char **argv, const struct option *own);
/* The same, but stops at the first operand. */
int options__next_in_front(struct options *options, int argc, char **argv);

/* The decimal number @text; -1 if @text is no number, or is larger than @most. */
long long options__number(const char *text, long long most);
/* "2^20" or "1048576" as 20; -1 if it is neither. */
long long options__logarithm(const char *text);

#endif /* OPTIONS_H */
