// SPDX-License-Identifier: GPL-2.0-only
/* dart-controller: reads metrics from the memory of other hosts, and runs its other commands. */
#include <stdio.h>
#include <stdlib.h>

#include <libdart/error.h>
#include <libdart/settings/program.h>

#include "controller.h"
#include "discovery/shard_command.h"
#include "doctor/doctor.h"
#include "settings/config.h"
#include "settings/options.h"
#include "status/status_command.h"
#include "transport/certificates.h"

static int load_config(struct options *options)
{
	struct dart_error error;
	int err;

	if (!options->config)
		return 0;
	options->own = options->settings;
	options->settings = (struct settings){};
	err = config__read(&options->settings, &options->own, options->config, &error);
	if (err)
		fprintf(stderr, "dart-controller: %s\n", error.text);
	return err;
}

/* Checks all settings and certificates that a reload could refuse, and prints one sentence. */
static int check(const struct options *options)
{
	struct dart_tls *tls = NULL;
	struct dart_error error;

	if (certificates__load(&options->settings.tls, &tls, &error)) {
		fprintf(stderr, "dart-controller: %s: tls: %s\n", options->config, error.text);
		return EXIT_FAILURE;
	}
	dart_tls__put(tls);
	printf("%s is valid\n", options->config);
	return EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	int status = EXIT_SUCCESS;
	struct dart_error error;
	struct options options;

	dart_program__open_streams();
	if (options__parse(&options, argc, argv, &error)) {
		fprintf(stderr, "dart-controller: %s\n", error.text);
		status = 2; /* wrong arguments */
	} else if (options.action == OPTIONS_HELP) {
		dart_program__print_help(&program, stdout);
	} else if (options.action == OPTIONS_VERSION) {
		puts("dart-controller " DART_VERSION);
	} else if (options.action == OPTIONS_DOCTOR) {
		status = doctor__run(&options);
	} else if (options.action == OPTIONS_STATUS) {
		status = status_command__run(&options);
	} else if (load_config(&options)) {
		status = EXIT_FAILURE;
	} else if (options.action == OPTIONS_SHARD) {
		status = shard_command__run(&options);
	} else if (options.only_checks) {
		status = check(&options);
	} else {
		status = controller__run(&options);
	}
	settings__clear(&options.settings);
	settings__clear(&options.own);
	return dart_program__end_output("dart-controller", status);
}
