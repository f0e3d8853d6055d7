// SPDX-License-Identifier: GPL-2.0-only
/* dartctl ledger export: prints what adders to a ledger need to know. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/export_watch.h"
#include "tools/dartctl/cli/file.h"
#include "tools/dartctl/cli/renewals.h"

#define PERIOD_MS 1000 /* dartd announces no queue pairs that fail */

struct wanted {
	const char *adder; /* NULL: all of them */
	const char *watched; /* a file to keep up to date, or NULL */
	const char *output; /* a file to write once, or NULL */
};

static const struct option_row rows[] = { OPTION_WORD("adder", struct wanted, adder),
					  OPTION_WORD("watch", struct wanted, watched),
					  OPTION_WORD("output", struct wanted, output),
					  {} };

/* Makes a file of dart_ledgers(5), of @adder unless that is NULL; NULL with an errno. */
static json_t *make_file(json_t *ledgers, const void *adder)
{
	size_t i = json_array_size(ledgers);
	const char *its;
	json_t *file;

	while (adder && i--) {
		its = json_string_value(json_object_get(json_array_get(ledgers, i), "reporter"));
		if (!its || strcmp(its, adder))
			json_array_remove(ledgers, i);
	}
	if (!json_array_size(ledgers)) {
		errno = ENODATA;
		return NULL;
	}
	file = json_pack("{s:i, s:O}", "dart_ledgers", 1, "ledgers", ledgers);
	if (!file)
		errno = ENOMEM;
	return file;
}

/* An invalid request brings a queue pair into the error state. */
static int renew_failed(struct dart_registration_client *client, const char *ledger,
			struct dart_error *error)
{
	return renewals__make(client, "ledger", "adder", ledger, error);
}

static int keep_up_to_date(const struct options *options, const struct wanted *wanted,
			   const char *ledger)
{
	static const struct export_kind kind = {
		.object = "ledger",
		.request = "ledger-export",
		.member = "ledgers",
		.part = "adder",
		.remedy = "dartctl adder add",
		.period_ms = PERIOD_MS,
		.mend = renew_failed,
	};
	const struct export_watch watch = {
		.options = options,
		.kind = &kind,
		.name = ledger,
		.path = wanted->watched,
		.make = make_file,
		.argument = wanted->adder,
	};

	return export_watch__run(&watch);
}

static int print_ledger(const struct options *options, const struct wanted *wanted,
			const char *ledger)
{
	json_t *ledgers, *reply, *file;
	int status;

	ledgers = client__ask(options,
			      json_pack("{s:s, s:s}", "request", "ledger-export", "name", ledger),
			      -1, "ledgers", &reply, NULL);
	if (!ledgers)
		return EXIT_FAILURE;
	file = make_file(ledgers, wanted->adder);
	if (file || errno == ENOMEM)
		status = print_json(file, 0);
	else if (wanted->adder)
		status = fail(ENOENT, "'%s' is not an adder of ledger '%s'", wanted->adder, ledger);
	else
		status = fail(ENOENT, "ledger '%s' has no adders (see dartctl adder add)", ledger);
	json_decref(reply);
	return status;
}

int command_ledger_export(struct options *options, int argc, char **argv)
{
	struct wanted wanted = {};
	struct dart_error error;
	int status;

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'ledger export' needs one name");
	if (wanted.watched && wanted.output)
		return misuse("--watch and --output are mutually exclusive");
	if ((wanted.watched && !*wanted.watched) || (wanted.output && !*wanted.output))
		return misuse("--watch and --output need the name of a file");
	if (wanted.watched)
		return keep_up_to_date(options, &wanted, argv[optind]);
	if (wanted.output && file__begin_output(wanted.output, &error))
		return fail(EIO, "%s", error.text);
	status = print_ledger(options, &wanted, argv[optind]);
	if (wanted.output && file__end_output(wanted.output, status, &error))
		status = fail(EIO, "%s", error.text);
	return status;
}
