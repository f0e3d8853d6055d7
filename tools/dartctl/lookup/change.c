// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table insert and remove: changes one entry. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>

#include "batch.h"
#include "entry.h"
#include "map.h"
#include "tools/dartctl/cli/command.h"

static const struct option_row insert_rows[] = { OPTION_WORD("schema", struct lookup_named, schema),
						 OPTION_WORD("key", struct lookup_named, key),
						 OPTION_WORD("value", struct lookup_named, value),
						 {} };

static const struct option_row remove_rows[] = { OPTION_WORD("schema", struct lookup_named, schema),
						 OPTION_WORD("key", struct lookup_named, key),
						 {} };

static int parse(struct options *options, int argc, char **argv, const struct option_row *rows,
		 struct lookup_named *named)
{
	*named = (struct lookup_named){};
	if (options__take(options, argc, argv, rows, named))
		return EXIT_USAGE;
	if (optind == argc)
		return misuse("'%s' needs the name of a table", options->path);
	named->table = argv[optind];
	named->fields = argv + optind + 1;
	named->field_count = argc - optind - 1;
	return EXIT_SUCCESS;
}

static int explain(const struct lookup_named *named, const struct lookup_outcome *outcome)
{
	if (outcome->foreign)
		return fail(
			EREMOTE,
			"the key is in the share of another server of table '%s' (see dartctl table show)",
			named->table);
	if (outcome->full)
		return fail(ENOSPC,
			    "table '%s' has no place left for this key (create a larger one)",
			    named->table);
	if (outcome->missing)
		return fail(ENOENT, "table '%s' has no entry with this key", named->table);
	return EXIT_SUCCESS;
}

static int send(const struct options *options, const struct lookup_named *named,
		const struct lookup_layout *layout, uint8_t operation, const uint8_t *entry)
{
	struct dart_error error;
	struct lookup_batch batch;
	int ret, status;

	if (lookup_batch__open(&batch, options, named->table, layout))
		return EXIT_FAILURE;
	memcpy(lookup_batch__entry(&batch), entry, batch.entry_length);
	lookup_batch__add(&batch, operation);
	ret = lookup_batch__send(&batch, &error);
	if (ret)
		status = fail(-ret, "%s", error.text);
	else
		status = explain(named, &batch.outcome);
	if (!status && options->json)
		status = print_json(lookup_outcome__pack(&batch.outcome), 0);
	lookup_batch__close(&batch);
	return status;
}

static int change(struct options *options, const struct lookup_named *named, uint8_t operation)
{
	uint8_t entry[LOOKUP_ENTRY_MAX] = { 0 };
	struct lookup_layout layout;
	struct lookup_map map;
	int status;

	status = lookup_map__open(&map, options, named->table);
	if (status)
		return status;
	status = lookup_entry__layout(named, &map.geometry, &layout);
	if (status)
		goto close_map;
	status = lookup_entry__take(named, &layout, operation == DART_REGISTRATION_TABLE_INSERT,
				    entry);
	if (!status)
		status = send(options, named, &layout, operation, entry);
	lookup_layout__free(&layout);
close_map:
	lookup_map__close(&map);
	return status;
}

int command_table_insert(struct options *options, int argc, char **argv)
{
	struct lookup_named named;

	return parse(options, argc, argv, insert_rows, &named) ?:
		       change(options, &named, DART_REGISTRATION_TABLE_INSERT);
}

int command_table_remove(struct options *options, int argc, char **argv)
{
	struct lookup_named named;

	return parse(options, argc, argv, remove_rows, &named) ?:
		       change(options, &named, DART_REGISTRATION_TABLE_REMOVE);
}
