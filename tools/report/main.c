// SPDX-License-Identifier: GPL-2.0-only
/* dart-report: reports the paths of flows to stores. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/settings/program.h>

#include "options.h"
#include "session.h"
#include "summary.h"

static int print_summary(const struct session *session, bool as_json)
{
	int ret = 0;

	if (as_json)
		ret = summary__print_json(session);
	else
		summary__print(session);
	if (ret)
		fputs("dart-report: cannot print JSON: out of memory\n", stderr);
	return ret;
}

static int run(const struct options *options)
{
	struct dart_error error;
	struct session session;
	int ret;

	ret = session__run(&session, options, &error);
	if (ret)
		fprintf(stderr, "dart-report: %s\n", error.text);
	else
		ret = print_summary(&session, options->json);
	if (!ret && session.counting.has_given_up) {
		fputs("dart-report: the collector of the ledger does not take requests any more\n",
		      stderr);
		ret = -ETIMEDOUT;
	}
	session__clear(&session);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	struct dart_error error;
	int status = EXIT_SUCCESS;
	struct options options;

	dart_program__open_streams();
	if (options__parse(&options, argc, argv, &error)) {
		fprintf(stderr, "dart-report: %s\n", error.text);
		status = 2;	/* wrong arguments */
	} else if (options.action == 'h') {
		fputs(options__help, stdout);
	} else if (options.action == 'V') {
		puts("dart-report " DART_VERSION);
	} else {
		status = run(&options);
	}
	options__clear(&options);
	return dart_program__end_output("dart-report", status);
}
