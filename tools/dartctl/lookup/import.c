// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table import: adds the entries of a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>

#include "batch.h"
#include "entry.h"
#include "input.h"
#include "map.h"
#include "tools/dartctl/cli/command.h"

struct import {
	struct lookup_named named;
	const char *file;
	lookup_parser_next *next;
};

static bool ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name), end_length = strlen(end);

	return length > end_length && !strcmp(name + length - end_length, end);
}

static int take_format(void *member, const char *text)
{
	lookup_parser_next **next = member;

	if (!strcmp(text, "csv"))
		*next = lookup_csv__next;
	else if (!strcmp(text, "json"))
		*next = lookup_json__next;
	else
		return misuse("'%s' is not a format: csv or json", text);
	return EXIT_SUCCESS;
}

static const struct option_row rows[] = { OPTION_OWN("format", struct import, next, take_format),
					  OPTION_WORD("schema", struct import, named.schema),
					  {} };

static int parse(struct options *options, int argc, char **argv, struct import *import)
{
	*import = (struct import){};
	if (options__take(options, argc, argv, rows, import))
		return EXIT_USAGE;
	if (argc - optind != 2)
		return misuse("'table import' needs a table and a file");
	import->named.table = argv[optind];
	import->file = argv[optind + 1];
	if (!import->next)
		import->next = ends_with(import->file, ".json") ? lookup_json__next :
								  lookup_csv__next;
	return EXIT_SUCCESS;
}

static int run(struct lookup_input *input, struct lookup_batch *batch, struct dart_error *error)
{
	int ret;

	while ((ret = lookup_input__next(input, lookup_batch__entry(batch), error)) > 0) {
		if (!lookup_batch__add(batch, DART_REGISTRATION_TABLE_INSERT))
			continue;
		ret = lookup_batch__send(batch, error);
		if (ret)
			return ret;
	}
	return ret ?: lookup_batch__send(batch, error);
}

static int print(const struct options *options, const struct import *import,
		 const struct lookup_outcome *outcome)
{
	int status = EXIT_SUCCESS;

	if (options->json)
		status = print_json(lookup_outcome__pack(outcome), 0);
	else
		printf("%" PRIu64 " inserted (%" PRIu64 " of them stashed), %" PRIu64
		       " changed, %" PRIu64 " foreign, %" PRIu64 " full\n",
		       outcome->inserted, outcome->stashed, outcome->changed, outcome->foreign,
		       outcome->full);
	if (outcome->full && !options->json)
		return fail(ENOSPC,
			    "%" PRIu64
			    " entries found no place in table '%s' (create a larger one)",
			    outcome->full, import->named.table);
	return status ?: outcome->full ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int send(const struct options *options, const struct import *import,
		struct lookup_input *input, const struct lookup_layout *layout)
{
	struct dart_error error;
	struct lookup_batch batch;
	int ret, status;

	if (lookup_batch__open(&batch, options, import->named.table, layout))
		return EXIT_FAILURE;
	ret = run(input, &batch, &error);
	if (ret)
		status = fail(-ret,
			      "%s (%" PRIu64 " entries in front of it were imported, no other one)",
			      error.text, batch.sent);
	else
		status = print(options, import, &batch.outcome);
	lookup_batch__close(&batch);
	return status;
}

int command_table_import(struct options *options, int argc, char **argv)
{
	struct lookup_layout layout;
	struct lookup_input input;
	struct import import;
	struct dart_error error;
	struct lookup_map map;
	int ret, status;

	status = parse(options, argc, argv, &import);
	if (status)
		return status;
	status = lookup_map__open(&map, options, import.named.table);
	if (status)
		return status;
	status = lookup_entry__layout(&import.named, &map.geometry, &layout);
	if (status)
		goto close_map;
	ret = lookup_input__open(&input, import.file, &layout, import.next, &error);
	if (ret) {
		status = fail(-ret, "%s", error.text);
		goto free_layout;
	}
	status = send(options, &import, &input, &layout);
	lookup_input__close(&input);
free_layout:
	lookup_layout__free(&layout);
close_map:
	lookup_map__close(&map);
	return status;
}
