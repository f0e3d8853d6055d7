/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of dart-controller. */
#ifndef CONTROLLER_OPTIONS_H
#define CONTROLLER_OPTIONS_H

#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/settings/program.h>

#include "replay_options.h"
#include "settings.h"

enum options_action {
	OPTIONS_RUN, /* also to record */
	OPTIONS_HELP,
	OPTIONS_VERSION,
	OPTIONS_DOCTOR,
	OPTIONS_STATUS,
	OPTIONS_SHARD,
	OPTIONS_REPLAY, /* or dump */
};

struct options {
	enum options_action action;
	struct settings settings;
	struct settings own; /* of the command line, if there is a configuration */
	const char *config; /* path or NULL; like the next member a word of argv */
	const char *socket; /* path of the control socket, or NULL */
	const char *explained; /* the agent that shard is asked for, or NULL */
	uint64_t count; /* scrapes per target; 0: unlimited */
	bool json;
	bool once;
	bool only_checks; /* the configuration and the certificates */
	bool only_records; /* without other outputs */
	struct replay_options replay;
};

/*
 * Returns 0; -EINVAL with a sentence in @error; -ENOMEM.  The caller clears the settings in each
 * case.
 */
int options__parse(struct options *options, int argc, char *argv[], struct dart_error *error);

/*
 * Is there one agent for as long as the program runs?  Sources, and a configuration that is read
 * again, can name others.
 */
static inline bool options__has_one_target(const struct options *options)
{
	return options->settings.target_count == 1 &&
	       !options->settings.source_count && !options->config;
}

#endif /* CONTROLLER_OPTIONS_H */
