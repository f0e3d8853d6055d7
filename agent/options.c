// SPDX-License-Identifier: GPL-2.0-only
/* The command line of dartd. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <dart/registration.h>
#include <libdart/configuration/configuration.h>
#include <libdart/configuration/configuration_settings.h>
#include <libdart/settings/program.h>

#include "options.h"

#define STATE_DIRECTORY "/var/lib/dart"

static int take_socket(void *object, const struct dart_setting *setting, const char *text,
		       struct dart_error *error)
{
	struct options *options = object;
	struct sockaddr_un address;

	if (!*text || strlen(text) >= sizeof(address.sun_path))
		return dart_error__set(error, EINVAL,
				       "--socket: '%s' is not a path of 1 to 107 bytes", text);
	options->socket = text;
	return 0;
}

static int take_config(void *object, const struct dart_setting *setting, const char *text,
		       struct dart_error *error)
{
	struct options *options = object;

	options->config = text;
	options->is_config_given = true;
	return 0;
}

#define MEMBER(member)	DART_SETTING_MEMBER(struct options, member)

static const struct dart_setting rows[] = {
	{ .option = "exposure", .argument = "KIND", .type = DART_SETTING_CHOICE, MEMBER(exposure),
	  .words = "exact|page",
	  .help = "expose exactly the bytes of the variables to controllers (exact, the default), or whole pages with their neighbouring kernel data (page)" },
	{ .option = "socket", .argument = "PATH", .take = take_socket,
	  .help = "listen for dartctl at PATH instead of " DART_REGISTRATION_SOCKET },
	{ .option = "config", .argument = "FILE", .take = take_config,
	  .help = "read this configuration, and the files in the directory NAME.d beside NAME.yaml, instead of " DART_CONFIGURATION_FILE },
	{ .option = "state", .argument = "DIRECTORY", .type = DART_SETTING_WORD, MEMBER(state),
	  .help = "directory that keeps registrations made by command until the next start; " STATE_DIRECTORY " by default" },
	{ .option = "check", .type = DART_SETTING_FLAG, MEMBER(is_check),
	  .help = "check the configuration, print its registrations, and exit with 1 if it is invalid" },
	{ .option = "port", .argument = "N", .type = DART_SETTING_NUMBER, MEMBER(port), .least = 1,
	  .most = UINT16_MAX,
	  .help = "listen for controllers on port N of the RDMA CM; 4792 by default" },
	{ .option = "help", .letter = 'h', .type = DART_SETTING_FLAG, MEMBER(is_help),
	  .help = "print this and exit" },
	{ .option = "version", .letter = 'V', .type = DART_SETTING_FLAG, MEMBER(is_version),
	  .help = "print the version and exit" },
};

static const struct dart_settings table = DART_SETTINGS(rows);

const struct dart_program program = {
	.name = "dartd",
	.usage = "Usage: dartd [OPTION]...\n"
		 "Lets controllers read the metrics of this host from its memory.\n",
	.groups = (const struct dart_option_group[]){
		{ "Options:", &table },
		{ NULL, &dart_configuration__settings },
		{},
	},
};

int options__parse(struct options *options, int argc, char **argv)
{
	const struct dart_settings_of places[] = { { .table = &table, .object = options }, {} };
	struct dart_error error;
	int ret;

	*options = (struct options){
		.socket = DART_REGISTRATION_SOCKET,
		.config = DART_CONFIGURATION_FILE,
		/* systemd tells it: StateDirectory= of systemd.exec(5) */
		.state = getenv("STATE_DIRECTORY") ?: STATE_DIRECTORY,
	};
	ret = dart_program__parse(places, argc, argv, &error);
	if (!ret && options->is_help) {
		dart_program__print_help(&program, stdout);
		return 1;
	}
	if (!ret && options->is_version) {
		puts("dartd " DART_VERSION);
		return 1;
	}
	if (!ret && optind < argc)
		ret = dart_error__set(&error, EINVAL, "unexpected argument '%s' (see --help)",
				      argv[optind]);
	if (ret)
		fprintf(stderr, "dartd: %s\n", error.text);
	return ret;
}
