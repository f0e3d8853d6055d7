/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of dart-controller. */
#ifndef CONTROLLER_OPTIONS_H
#define CONTROLLER_OPTIONS_H

#include <stdbool.h>

#include <libdart/error.h>

#include "replay_options.h"
#include "settings.h"

enum options_action {
	OPTIONS_RUN, /* also to record */
	OPTIONS_HELP,
	OPTIONS_VERSION,
	OPTIONS_DOCTOR,
	OPTIONS_STATUS,
	OPTIONS_REPLAY, /* or dump */
};

struct options {
	enum options_action action;
	struct settings settings;
	struct settings
		own; /* of the command line, if there is a configuration */
	const char *config; /* path or NULL; points into argv, as does the next */
	const char *socket; /* path of the control socket, or NULL */
	uint64_t count; /* scrapes per target; 0: unlimited */
	bool json;
	bool once;
	bool only_checks; /* the configuration and the certificates */
	bool only_records; /* nothing else is done with the values */
	struct replay_options replay;
};

/*
 * Returns 0; -EINVAL with a sentence in @error; -ENOMEM.  In every case the
 * caller frees @settings.
 */
int options__parse(struct options *options, int argc, char *argv[],
		   struct dart_error *error);
extern const char options__help[];

/*
 * One agent, for as long as the program runs: neither a source nor a configuration, which
 * is read again, can name others.
 */
static inline bool options__has_one_target(const struct options *options)
{
	return options->settings.target_count == 1 &&
	       !options->settings.source_count && !options->config;
}

#endif /* CONTROLLER_OPTIONS_H */
