// SPDX-License-Identifier: GPL-2.0-only
/* dart-flows: gives flows of a network entries in the lookup table of a switch. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/settings/program.h>

#include "flows.h"
#include "tools/flows/control/control.h"
#include "tools/flows/doctor/doctor.h"
#include "tools/flows/settings/policy.h"

#define WRONG_USAGE 2 /* exit status of wrong arguments, and of an invalid policy with --check */

static const char help[] =
	"Usage: dart-flows [OPTION]...\n"
	"       dart-flows [OPTION]... doctor\n"
	"Handles the first packets of flows for a switch with lookup tables, and enters\n"
	"the flows in the table of dartd, for NAT, a firewall, a load balancer or a VPN\n"
	"gateway.\n"
	"The doctor finds faults of the policy and of this host.\n"
	"\n"
	"      --policy FILE   read this policy instead of " POLICY_FILE "\n"
	"      --control PATH  answer dartctl at this socket instead of\n"
	"                      " CONTROL_SOCKET "\n"
	"      --check         check the policy, and exit with 2 if it is invalid\n"
	"  -j, --json          print the findings of the doctor as JSON\n"
	"  -h, --help          print this and exit\n"
	"  -V, --version       print the version and exit\n";

static const struct option long_options[] = { { "check", no_argument, NULL, 'c' },
					      { "control", required_argument, NULL, 's' },
					      { "help", no_argument, NULL, 'h' },
					      { "json", no_argument, NULL, 'j' },
					      { "policy", required_argument, NULL, 'p' },
					      { "version", no_argument, NULL, 'V' },
					      {} };

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

/* What the operands say: nothing, or doctor. */
static int obey(const struct flows_options *options, bool is_check, bool as_json, char **operands)
{
	const bool is_doctor = *operands && !strcmp(*operands, "doctor");
	const char *extra = operands[is_doctor];

	if (extra) {
		fprintf(stderr, "dart-flows: '%s' is not an option (see --help)\n", extra);
		return WRONG_USAGE;
	}
	if (is_doctor ? is_check : as_json) {
		fprintf(stderr, "dart-flows: %s\n",
			is_doctor ? "the doctor checks the policy without --check" :
				    "--json is for 'dart-flows doctor'");
		return WRONG_USAGE;
	}
	if (is_doctor)
		return doctor__run(options->policy, options->control, as_json);
	return is_check ? check(options->policy) : run(options);
}

static int parse_and_obey(int argc, char *argv[])
{
	struct flows_options options = { POLICY_FILE, CONTROL_SOCKET };
	bool is_check = false, as_json = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "hjV", long_options, NULL)) != -1) {
		switch (letter) {
		case 'c':
			is_check = true;
			break;
		case 's':
			options.control = optarg;
			break;
		case 'j':
			as_json = true;
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
	return obey(&options, is_check, as_json, argv + optind);
}

int main(int argc, char *argv[])
{
	dart_program__open_streams();
	return dart_program__end_output("dart-flows", parse_and_obey(argc, argv));
}
