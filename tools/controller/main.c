// SPDX-License-Identifier: GPL-2.0-only
/* dart-controller: reads metrics out of the memory of other hosts. */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>
#include <libdart/rdma/address.h>

#include "config.h"
#include "controller.h"
#include "options.h"

static int load_config(struct options *options)
{
	struct dart_error error;
	FILE *file;
	int err;

	if (!options->config)
		return 0;
	file = fopen(options->config, "re");
	if (!file) {
		fprintf(stderr, "dart-controller: cannot open '%s': %s\n",
			options->config, strerror(errno));
		return -errno;
	}
	err = config__load(&options->settings, file, options->config, &error);
	fclose(file);
	if (!err && !options->settings.target_count) {
		dart_error__set(&error, 0, "%s: the file names no agent",
				options->config);
		err = -EINVAL;
	}
	if (err)
		fprintf(stderr, "dart-controller: %s\n", error.text);
	return err;
}

/* Resolves names once, here: later it would block all targets. */
static int resolve_targets(struct settings *settings)
{
	struct target_settings *target = settings->targets;
	char *numeric;
	int err;

	for (; target < settings->targets + settings->target_count; target++) {
		err = dart_address__resolve(target->host, &numeric);
		if (err) {
			fprintf(stderr,
				"dart-controller: cannot resolve '%s': %s\n",
				target->host, gai_strerror(err));
			return -EHOSTUNREACH;
		}
		free(target->host);
		target->host = numeric;
	}
	return 0;
}

int main(int argc, char *argv[])
{
	struct dart_error error;
	int status = EXIT_FAILURE;	/* 2: wrong arguments */
	struct options options;

	if (options__parse(&options, argc, argv, &error)) {
		fprintf(stderr, "dart-controller: %s\n", error.text);
		status = 2;
		goto out;
	}
	if (options.action == OPTIONS_HELP) {
		options__print_help(stdout);
		status = EXIT_SUCCESS;
		goto out;
	}
	if (options.action == OPTIONS_VERSION) {
		puts("dart-controller " DART_VERSION);
		status = EXIT_SUCCESS;
		goto out;
	}
	if (load_config(&options) || resolve_targets(&options.settings))
		goto out;
	if (!options.settings.interval_ns)
		options.settings.interval_ns = SETTINGS_INTERVAL_DEFAULT_NS;
	status = controller__run(&options);
out:
	options__clear(&options);
	return status;
}
