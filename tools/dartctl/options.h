/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that all commands of dartctl have, and those of one. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

struct options {
	bool json;		/* print the answer as JSON */
	const char *socket;	/* path */
};

/* Values of a command's own options begin here, so that none is a letter. */
#define OPTIONS_OWN	512
#define OPTIONS_OWN_MAX	56

/*
 * The next option of @argv that is the command's own, as in @own, which ends
 * with zeros, or may be NULL; its argument is in optarg.  Those of all commands go
 * into @options on the way.  -1 behind the last one: the operands begin at
 * argv[optind] then.  '?' if there is a mistake, which has been said.  argv[0] is
 * the command; optind is to be 0 before the first call.  With --help and
 * --version the program ends here.
 */
int options__next(struct options *options, int argc, char **argv,
		  const struct option *own);
/* The same, but only those before the first operand. */
int options__next_in_front(struct options *options, int argc, char **argv);

#endif /* OPTIONS_H */
