/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of dart-controller. */
#ifndef CONTROLLER_OPTIONS_H
#define CONTROLLER_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include <libdart/error.h>

#include "settings.h"

enum options_action {
	OPTIONS_RUN = 0,
	OPTIONS_HELP,
	OPTIONS_VERSION,
};

struct options {
	enum options_action action;
	struct settings settings;
	const char *config;	/* path or NULL; points into argv */
	uint64_t count;		/* scrapes per target; 0: unlimited */
	bool json;
	bool once;
};

/*
 * Returns 0; -EINVAL with a sentence in @error; -ENOMEM.  In every case the
 * caller frees with options__clear().
 */
int options__parse(struct options *options, int argc, char *argv[],
		   struct dart_error *error);
void options__clear(struct options *options);
void options__print_help(FILE *out);

#endif /* CONTROLLER_OPTIONS_H */
