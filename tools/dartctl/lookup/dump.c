// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table dump: prints all entries of a lookup table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "map.h"
#include "printer.h"
#include "tools/dartctl/cli/command.h"

struct dump {
	struct lookup_named named;
	const char *format;
	const struct lookup_printer *printer;
};

static const struct option_row rows[] = { OPTION_WORD("format", struct dump, format),
					  OPTION_WORD("schema", struct dump, named.schema),
					  {} };

static int parse(struct options *options, int argc, char **argv, struct dump *dump)
{
	*dump = (struct dump){};
	if (options__take(options, argc, argv, rows, dump))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'table dump' needs one table");
	dump->named.table = argv[optind];
	dump->format = dump->format ?: options->json ? "json" : "csv";
	dump->printer = lookup_printer__find(dump->format);
	if (!dump->printer)
		return misuse("'%s' is not a format: csv, json or table", dump->format);
	return EXIT_SUCCESS;
}

/*
 * Warns of torn cells, which are not printed.  If dartd ended during a change, it mends them when
 * it starts.
 */
static void warn(const struct lookup_named *named, const struct dart_tea_walk *walk)
{
	if (walk->torn)
		fprintf(stderr,
			"dartctl: warning: table '%s' was changing: %llu of its cells were not whole\n",
			named->table, (unsigned long long)walk->torn);
}

static int print(const struct dump *dump, const struct lookup_map *map,
		 const struct lookup_layout *layout)
{
	struct dart_tea_walk walk = { 0 };
	uint8_t entry[LOOKUP_ENTRY_MAX];
	bool stashed;

	if (dump->printer->begin)
		dump->printer->begin(stdout, layout);
	while (dart_tea_lookup__next(map->hash, map->memory, &walk, entry, &stashed)) {
		dump->printer->entry(stdout, layout, entry);
		/* The reader of the output has gone. */
		if (ferror(stdout))
			return EXIT_FAILURE;
	}
	warn(&dump->named, &walk);
	return EXIT_SUCCESS;
}

int command_table_dump(struct options *options, int argc, char **argv)
{
	struct lookup_layout layout;
	struct lookup_map map;
	struct dump dump;
	int status;

	status = parse(options, argc, argv, &dump);
	if (status)
		return status;
	status = lookup_map__open(&map, options, dump.named.table);
	if (status)
		return status;
	status = lookup_entry__layout(&dump.named, &map.geometry, &layout);
	if (!status) {
		status = print(&dump, &map, &layout);
		lookup_layout__free(&layout);
	}
	lookup_map__close(&map);
	return status;
}
