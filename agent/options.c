// SPDX-License-Identifier: GPL-2.0-only
/* Parses the command line of dartd. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <dart/registration.h>
#include <libdart/configuration/configuration.h>

#include "options.h"

#define STATE_DIRECTORY "/var/lib/dart"

static const char usage[] =
	"Usage: dartd [OPTION]...\n"
	"Lets controllers read the metrics of this host from its memory.\n"
	"\n"
	"  --exposure=exact|page  expose exactly the bytes of the variables to\n"
	"                         controllers (exact, the default), or whole\n"
	"                         pages with their neighbouring kernel data\n"
	"  --socket=PATH          listen for dartctl at PATH instead of\n"
	"                         " DART_REGISTRATION_SOCKET "\n"
	"  --config=FILE          read this configuration, and the files in the\n"
	"                         directory NAME.d beside NAME.yaml, instead of\n"
	"                         " DART_CONFIGURATION_FILE "\n"
	"  --state=DIRECTORY      keep there what was registered by command, for\n"
	"                         the next start (default " STATE_DIRECTORY ")\n"
	"  --check                check the configuration, print what it would\n"
	"                         register, and exit: 1 if it is not valid\n"
	"  --port=N               listen for controllers on port N of the\n"
	"                         RDMA CM (default 4792)\n"
	"  -h, --help             print this and exit\n"
	"  -V, --version          print the version and exit\n";

static const struct option long_options[] = {
	{ "exposure", required_argument, NULL, 'e' },
	{ "socket", required_argument, NULL, 's' },
	{ "config", required_argument, NULL, 'c' },
	{ "state", required_argument, NULL, 'd' },
	{ "check", no_argument, NULL, 'k' },
	{ "port", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static int wrong(const char *option, const char *value, const char *wanted)
{
	fprintf(stderr, "dartd: --%s: '%s' is not %s\n", option, value, wanted);
	return -EINVAL;
}

static int parse_exposure(struct options *options, const char *value)
{
	if (!strcmp(value, "exact"))
		options->exposure = DART_CONTROL_EXPOSURE_EXACT;
	else if (!strcmp(value, "page"))
		options->exposure = DART_CONTROL_EXPOSURE_PAGE;
	else
		return wrong("exposure", value, "'exact' or 'page'");
	return 0;
}

static int parse_socket(struct options *options, const char *value)
{
	struct sockaddr_un address;

	if (!*value || strlen(value) >= sizeof(address.sun_path))
		return wrong("socket", value, "a path of 1 to 107 bytes");
	options->socket = value;
	return 0;
}

static int parse_port(struct options *options, const char *value)
{
	unsigned long port;
	char *end;

	errno = 0;
	port = strtoul(value, &end, 10);
	if (errno || *end || *value < '0' || *value > '9' || !port ||
	    port > UINT16_MAX)
		return wrong("port", value, "a number from 1 to 65535");
	options->port = port;
	return 0;
}

static int parse_option(struct options *options, int option)
{
	switch (option) {
	case 'e':
		return parse_exposure(options, optarg);
	case 's':
		return parse_socket(options, optarg);
	case 'p':
		return parse_port(options, optarg);
	case 'c':
		options->config = optarg;
		options->is_config_given = true;
		return 0;
	case 'd':
		options->state = optarg;
		return 0;
	case 'k':
		options->is_check = true;
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 1;
	case 'V':
		puts("dartd " DART_VERSION);
		return 1;
	default:
		fputs("Try 'dartd --help'.\n", stderr);
		return -EINVAL;
	}
}

int options__parse(struct options *options, int argc, char **argv)
{
	int option, ret;

	*options = (struct options){
		.socket = DART_REGISTRATION_SOCKET,
		.config = DART_CONFIGURATION_FILE,
		/* systemd tells it: StateDirectory= of systemd.exec(5) */
		.state = getenv("STATE_DIRECTORY") ?: STATE_DIRECTORY,
	};

	while ((option = getopt_long(argc, argv, "hV", long_options, NULL)) !=
	       -1) {
		ret = parse_option(options, option);
		if (ret)
			return ret;
	}
	if (optind < argc) {
		fprintf(stderr, "dartd: unexpected argument '%s'\n",
			argv[optind]);
		fputs("Try 'dartd --help'.\n", stderr);
		return -EINVAL;
	}
	return 0;
}
