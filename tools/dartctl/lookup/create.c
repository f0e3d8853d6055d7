// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table create: reserves memory of dartd for a lookup table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/settings/quantity.h>

#include "layout.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/schemas.h"

/* The part of the cells that --entries may fill, so that few entries are stashed. */
#define LOAD_PERCENT 75

/* From the command line; numbers are -1 unless given. */
struct wanted {
	const char *name;
	long long entries, rows_log2, cells, key, value, packet;
	struct shares {
		long long first, last;
	} shares;
	const char *schema, *file, *user;
};

static int take_rows(void *rows_log2, const char *text)
{
	const int value = dart_quantity__logarithm(text, DART_TEA_ROWS_LOG2_MAX);

	*(long long *)rows_log2 = value;
	if (value < 0)
		return misuse("--rows is a power of two up to 2^%d, such as 2^17, not '%s'",
			      DART_TEA_ROWS_LOG2_MAX, text);
	return EXIT_SUCCESS;
}

static int take_shares(void *member, const char *text)
{
	struct shares *shares = member;
	char first[32], *dash;

	snprintf(first, sizeof(first), "%s", text);
	dash = strchr(first, '-');
	if (dash) {
		*dash = '\0';
		shares->first = options__number(first, DART_TEA_SHARES - 1);
		shares->last = options__number(dash + 1, DART_TEA_SHARES - 1);
	}
	if (!dash || shares->first < 0 || shares->last < shares->first)
		return misuse("--shares is a range within 0-%d, not '%s'", DART_TEA_SHARES - 1,
			      text);
	return EXIT_SUCCESS;
}

static const struct option_row rows[] = {
	OPTION_NUMBER("entries", struct wanted, entries, 1,
		      (1LL << DART_TEA_ROWS_LOG2_MAX) * DART_TEA_CELLS_MAX * LOAD_PERCENT / 100),
	OPTION_OWN("rows", struct wanted, rows_log2, take_rows),
	OPTION_NUMBER("cells", struct wanted, cells, 1, DART_TEA_CELLS_MAX),
	OPTION_NUMBER("key", struct wanted, key, 1, DART_TEA_KEY_MAX),
	OPTION_NUMBER("value", struct wanted, value, 1, DART_TEA_VALUE_MAX),
	OPTION_WORD("schema", struct wanted, schema),
	OPTION_NUMBER("packet", struct wanted, packet, DART_TEA_PACKET_MIN,
		      1 << DART_TEA_ROW_LOG2_MAX),
	OPTION_OWN("shares", struct wanted, shares, take_shares),
	OPTION_WORD("file", struct wanted, file),
	OPTION_WORD("user", struct wanted, user),
	{}
};

static int parse(struct options *options, int argc, char **argv, struct wanted *wanted)
{
	*wanted = (struct wanted){ NULL, -1, -1, -1, -1, -1, -1, { -1, -1 }, NULL, NULL, NULL };
	if (options__take(options, argc, argv, rows, wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'table create' needs one name");
	wanted->name = argv[optind];
	if ((wanted->entries < 0) == (wanted->rows_log2 < 0))
		return misuse("'table create' needs --entries or --rows");
	if ((wanted->key < 0) != (wanted->value < 0))
		return misuse("--key and --value go together");
	if (wanted->key >= 0 && wanted->schema)
		return misuse("--schema has the lengths of key and value: --key excludes it");
	return EXIT_SUCCESS;
}

/* Takes the lengths from the schema unless the command line gives them. */
static int find_lengths(struct wanted *wanted)
{
	struct dart_key_schema *schema;
	struct lookup_layout layout;
	struct dart_error error;
	int ret;

	if (wanted->key >= 0)
		return EXIT_SUCCESS;
	if (!wanted->schema && !schemas__has(wanted->name))
		return misuse(
			"'table create' needs --schema, or --key and --value, because no schema is called '%s'",
			wanted->name);
	schema = schemas__load(wanted->schema ?: wanted->name);
	if (!schema)
		return EXIT_FAILURE;
	ret = lookup_layout__init(&layout, schema, &error);
	if (ret) {
		dart_key_schema__free(schema);
		return fail(-ret, "schema '%s': %s", wanted->schema ?: wanted->name, error.text);
	}
	wanted->key = layout.key_length;
	wanted->value = layout.value_length;
	lookup_layout__free(&layout);
	return EXIT_SUCCESS;
}

/* How many entries fill 2^@rows_log2 rows up to this load. */
static long long capacity(long long cells, long long rows_log2)
{
	return (cells << rows_log2) * LOAD_PERCENT / 100;
}

static int size(struct wanted *wanted)
{
	const long long cells = wanted->cells < 0 ? DART_TEA_CELLS : wanted->cells;

	if (wanted->rows_log2 >= 0)
		return EXIT_SUCCESS;
	wanted->rows_log2 = 0;
	while (capacity(cells, wanted->rows_log2) < wanted->entries)
		if (++wanted->rows_log2 > DART_TEA_ROWS_LOG2_MAX)
			return misuse(
				"a table has at most 2^%d rows: %lld entries need more than %lld cells in each",
				DART_TEA_ROWS_LOG2_MAX, wanted->entries, cells);
	return EXIT_SUCCESS;
}

static void say_size(const struct wanted *wanted)
{
	const long long cells = wanted->cells < 0 ? DART_TEA_CELLS : wanted->cells;

	printf("2^%lld rows of %lld cells: at %d %% load they have %lld entries\n",
	       wanted->rows_log2, cells, LOAD_PERCENT, capacity(cells, wanted->rows_log2));
}

static int request(const struct options *options, const struct wanted *wanted)
{
	json_t *shares = wanted->shares.first < 0 ?
				 NULL :
				 json_pack("[I, I]", (json_int_t)wanted->shares.first,
					   (json_int_t)wanted->shares.last);

	return client__create(options,
			      json_pack("{s:s, s:s, s:I, s:I, s:I, s:o*, s:o*, s:o*, s:s*}", "request",
					"table-create", "name", wanted->name, "rows_log2",
					(json_int_t)wanted->rows_log2, "key_length",
					(json_int_t)wanted->key, "value_length",
					(json_int_t)wanted->value, "cells",
					client__optional(wanted->cells), "packet_length",
					client__optional(wanted->packet), "shares", shares, "user",
					wanted->user),
			      wanted->file, "table");
}

int command_table_create(struct options *options, int argc, char **argv)
{
	struct wanted wanted;
	int status;

	status = parse(options, argc, argv, &wanted);
	status = status ?: find_lengths(&wanted);
	status = status ?: size(&wanted);
	if (status)
		return status;
	status = request(options, &wanted);
	if (!status && !options->json && wanted.entries >= 0)
		say_size(&wanted);
	return status;
}
