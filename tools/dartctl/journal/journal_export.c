// SPDX-License-Identifier: GPL-2.0-only
/* dartctl journal export: prints what appenders to a journal need to know. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/export_watch.h"
#include "tools/dartctl/cli/file.h"

struct wanted {
	const char *appender; /* NULL: all of them */
	const char *watched; /* a file to keep up to date, or NULL */
	const char *output; /* a file to write once, or NULL */
};

static const struct option_row rows[] = { OPTION_WORD("appender", struct wanted, appender),
					  OPTION_WORD("watch", struct wanted, watched),
					  OPTION_WORD("output", struct wanted, output),
					  {} };

/* Makes a file of dart_journals(5), of @appender unless that is NULL; NULL with an errno. */
static json_t *make_file(json_t *journals, const void *appender)
{
	size_t i = json_array_size(journals);
	const char *its;
	json_t *file;

	while (appender && i--) {
		its = json_string_value(json_object_get(json_array_get(journals, i), "reporter"));
		if (!its || strcmp(its, appender))
			json_array_remove(journals, i);
	}
	if (!json_array_size(journals)) {
		errno = ENODATA;
		return NULL;
	}
	file = json_pack("{s:i, s:O}", "dart_journals", 1, "journals", journals);
	if (!file)
		errno = ENOMEM;
	return file;
}

static int keep_up_to_date(const struct options *options, const struct wanted *wanted,
			   const char *journal)
{
	static const struct export_kind kind = {
		.object = "journal",
		.request = "journal-export",
		.member = "journals",
		.part = "appender",
		.remedy = "dartctl appender add",
		.period_ms = -1,
	};
	const struct export_watch watch = {
		.options = options,
		.kind = &kind,
		.name = journal,
		.path = wanted->watched,
		.make = make_file,
		.argument = wanted->appender,
	};

	return export_watch__run(&watch);
}

static int print_journal(const struct options *options, const struct wanted *wanted,
			 const char *journal)
{
	json_t *journals, *reply, *file;
	int status;

	journals = client__ask(
		options, json_pack("{s:s, s:s}", "request", "journal-export", "name", journal), -1,
		"journals", &reply, NULL);
	if (!journals)
		return EXIT_FAILURE;
	file = make_file(journals, wanted->appender);
	if (file || errno == ENOMEM)
		status = print_json(file, 0);
	else if (wanted->appender)
		status = fail(ENOENT, "'%s' is not an appender of journal '%s'", wanted->appender,
			      journal);
	else
		status = fail(ENOENT, "journal '%s' has no appenders (see dartctl appender add)",
			      journal);
	json_decref(reply);
	return status;
}

int command_journal_export(struct options *options, int argc, char **argv)
{
	struct wanted wanted = {};
	struct dart_error error;
	int status;

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'journal export' needs one name");
	if (wanted.watched && wanted.output)
		return misuse("--watch and --output are mutually exclusive");
	if ((wanted.watched && !*wanted.watched) || (wanted.output && !*wanted.output))
		return misuse("--watch and --output need the name of a file");
	if (wanted.watched)
		return keep_up_to_date(options, &wanted, argv[optind]);
	if (wanted.output && file__begin_output(wanted.output, &error))
		return fail(EIO, "%s", error.text);
	status = print_journal(options, &wanted, argv[optind]);
	if (wanted.output && file__end_output(wanted.output, status, &error))
		status = fail(EIO, "%s", error.text);
	return status;
}
