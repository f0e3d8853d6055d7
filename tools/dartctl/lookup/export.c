// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table export: prints the configuration of a lookup table for switches. */
#include <errno.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/export_watch.h"
#include "tools/dartctl/cli/file.h"
#include "tools/dartctl/cli/renewals.h"

#define PERIOD_MS	1000	/* dartd announces no changes of the stash and of queue pairs */

/* Makes a file of dart_tables(5); NULL if out of memory. */
static json_t *pack_file(json_t *tables)
{
	return json_pack("{s:O}", "tables", tables);
}

static json_t *make_file(json_t *tables, const void *argument)
{
	json_t *file = pack_file(tables);

	if (!file)
		errno = ENOMEM;
	return file;
}

/* A switch can bring its own queue pair into the error state. */
static int renew_failed(struct dart_registration_client *client, const char *table,
			struct dart_error *error)
{
	return renewals__make(client, "table", "requester", table, error);
}

static const struct export_kind kind = {
	.object = "table",
	.request = "table-export",
	.member = "tables",
	.part = "requester",
	.remedy = "dartctl requester add",
	.period_ms = PERIOD_MS,
	.mend = renew_failed,
};

static int print(const struct options *options, const char *table)
{
	json_t *tables, *reply;
	int status;

	tables = client__ask(options,
			     json_pack("{s:s, s:s}", "request", "table-export", "name", table), -1,
			     "tables", &reply, NULL);
	if (!tables)
		return EXIT_FAILURE;
	status = print_json(pack_file(tables), 0);
	json_decref(reply);
	return status;
}

/* Takes the name of a file. */
static int take_file(void *path, const char *text)
{
	*(const char **)path = text;
	return *text ? 0 : misuse("--watch and --output need the name of a file");
}

struct request {
	const char *watched, *output;
};

static const struct option_row rows[] = {
	OPTION_OWN("watch", struct request, watched, take_file),
	OPTION_OWN("output", struct request, output, take_file),
	{}
};

int command_table_export(struct options *options, int argc, char **argv)
{
	struct export_watch watch = {
		.options = options,
		.kind = &kind,
		.make = make_file,
	};
	struct request request = {};
	const char *output;
	struct dart_error error;
	int status;

	if (options__take(options, argc, argv, rows, &request))
		return EXIT_USAGE;
	watch.path = request.watched;
	output = request.output;
	if (argc - optind != 1)
		return misuse("'table export' needs one name");
	watch.name = argv[optind];
	if (watch.path && output)
		return misuse("--watch and --output are mutually exclusive");
	if (watch.path)
		return export_watch__run(&watch);
	if (output && file__begin_output(output, &error))
		return fail(EIO, "%s", error.text);
	status = print(options, watch.name);
	if (output && file__end_output(output, status, &error))
		status = fail(EIO, "%s", error.text);
	return status;
}
