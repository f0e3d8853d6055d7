// SPDX-License-Identifier: GPL-2.0-only
/* dart-flows: gives flows of a network entries in the lookup table of a switch. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "flows.h"
#include "tools/flows/control/control.h"
#include "tools/flows/settings/policy.h"

#define WRONG_USAGE 2 /* exit status of wrong arguments, and of an invalid policy with --check */

static const char help[] =
	"Usage: dart-flows [OPTION]...\n"
	"Handles the first packets of flows for a switch with lookup tables, and enters\n"
	"the flows in the table of dartd, for NAT, a firewall or a load balancer.\n"
	"\n"
	"      --policy FILE   read this policy instead of " POLICY_FILE "\n"
	"      --control PATH  answer dartctl at this socket instead of\n"
	"                      " CONTROL_SOCKET "\n"
	"      --check         check the policy, and exit with 2 if it is invalid\n"
	"  -h, --help          print this and exit\n"
	"  -V, --version       print the version and exit\n";

static const struct option long_options[] = {
	{ "check", no_argument, NULL, 'c' },   { "control", required_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },    { "policy", required_argument, NULL, 'p' },
	{ "version", no_argument, NULL, 'V' }, {}
};

static int check(const char *path)
{
	struct dart_error error;
	struct policy policy;

	if (policy__read(&policy, path, &error)) {
		fprintf(stderr, "dart-flows: %s\n", error.text);
		return WRONG_USAGE;
	}
	policy__clear(&policy);
	printf("%s is valid\n", path);
	return EXIT_SUCCESS;
}

static int run(const struct flows_options *options)
{
	struct dart_error error;

	if (!flows__run(options, &error))
		return EXIT_SUCCESS;
	fprintf(stderr, "dart-flows: %s\n", error.text);
	return EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	struct flows_options options = { POLICY_FILE, CONTROL_SOCKET };
	bool is_check = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "hV", long_options, NULL)) != -1) {
		switch (letter) {
		case 'c':
			is_check = true;
			break;
		case 's':
			options.control = optarg;
			break;
		case 'p':
			options.policy = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		case 'V':
			puts("dart-flows " DART_VERSION);
			return EXIT_SUCCESS;
		default:
			return WRONG_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "dart-flows: '%s' is not an option (see --help)\n", argv[optind]);
		return WRONG_USAGE;
	}
	return is_check ? check(options.policy) : run(&options);
}
