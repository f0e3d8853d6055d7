/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands of dartctl have in common. */
#ifndef COMMAND_H
#define COMMAND_H

#include <jansson.h>
#include <stdbool.h>

#include "selector.h"

#define EXIT_USAGE 2

struct options {
	bool json;		/* print the agent's reply as it is */
	const char *socket;	/* path */
	struct selector selector;
};

/* Commands get their own arguments and return an exit status. */
int command_register(const struct options *options, int argc, char **argv);
int command_unregister(const struct options *options, int argc, char **argv);
int command_list(const struct options *options, int argc, char **argv);
int command_show(const struct options *options, int argc, char **argv);
int command_status(const struct options *options, int argc, char **argv);
int command_probe(const struct options *options, int argc, char **argv);

/* Prints "dartctl: message" and returns EXIT_FAILURE. */
__attribute__((format(printf, 1, 2)))
int fail(const char *format, ...);
/* The same, and where there is help; returns EXIT_USAGE. */
__attribute__((format(printf, 1, 2)))
int misuse(const char *format, ...);

#endif /* COMMAND_H */
