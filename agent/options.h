/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of dartd. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <dart/control.h>

struct options {
	/* Of both, 0 stands for the setting of the configuration. */
	enum dart_control_exposure exposure;
	uint16_t port;		/* of the RDMA CM, host byte order */
	const char *socket;	/* path of the registration socket */
	const char *config;	/* path of the configuration */
	bool is_config_given;	/* then it must exist */
	const char *state;	/* directory that the state is kept in */
	bool is_check;		/* only check the configuration */
	bool is_help;
	bool is_version;
};

/*
 * Fills in @options.  Returns 0 to go on; 1 after --help or --version; -EINVAL,
 * with a message on stderr, if the command line is invalid.
 */
int options__parse(struct options *options, int argc, char **argv);

#endif /* OPTIONS_H */
