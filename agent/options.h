/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of dartd. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <dart/control.h>

struct options {
	/* 0: as the configuration says */
	enum dart_control_exposure exposure;
	uint16_t port;		/* of the RDMA CM, host byte order; 0 as well */
	const char *socket;	/* path of the registration socket */
	const char *config;	/* path of the configuration */
	bool is_config_given;	/* then it must be there */
	const char *state;	/* directory that the state is kept in */
	bool is_check;		/* only check the configuration */
};

/*
 * Fills in @options.  Returns 0 to go on; 1 after --help or --version; -EINVAL,
 * with a message on stderr, if the command line is invalid.
 */
int options__parse(struct options *options, int argc, char **argv);

#endif /* OPTIONS_H */
