/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands of dartctl have in common. */
#ifndef COMMAND_H
#define COMMAND_H

#include "options.h"

#define EXIT_USAGE 2

/* Both return an exit status. */
struct command {
	const char *name;
	/* of one without options of its own: gets its operands */
	int (*run)(const struct options *options, int argc, char **argv);
	/* of one with: gets its name as argv[0], and calls options__next() */
	int (*parse)(struct options *options, int argc, char **argv);
};

/*
 * Runs the one of @commands, which end with zeros, that is named behind argv[0],
 * the program or the command that has these.  Returns an exit status.
 */
int command__run(const struct command *commands, struct options *options,
		 int argc, char **argv);

int command_register(struct options *options, int argc, char **argv);
int command_unregister(const struct options *options, int argc, char **argv);
int command_list(const struct options *options, int argc, char **argv);
int command_show(const struct options *options, int argc, char **argv);
int command_status(const struct options *options, int argc, char **argv);
int command_probe(const struct options *options, int argc, char **argv);
int command_store(struct options *options, int argc, char **argv);
int command_reporter(struct options *options, int argc, char **argv);
int command_plan(struct options *options, int argc, char **argv);
int command_switch(struct options *options, int argc, char **argv);
int command_query(struct options *options, int argc, char **argv);

/* Prints "dartctl: message" and returns EXIT_FAILURE. */
__attribute__((format(printf, 1, 2)))
int fail(const char *format, ...);
/* The same, and where there is help; returns EXIT_USAGE. */
__attribute__((format(printf, 1, 2)))
int misuse(const char *format, ...);

#endif /* COMMAND_H */
