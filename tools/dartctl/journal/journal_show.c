// SPDX-License-Identifier: GPL-2.0-only
/*
 * dartctl journal show: entries and missing batches of each list and appender of a journal.  It
 * reads all of the journal once, as 'journal dump' would.
 */
#include <errno.h>
#include <string.h>

#include "journal_map.h"
#include "tools/dartctl/cli/command.h"

/* The entries of one appender in one list. */
struct tally {
	uint64_t entries;
	uint64_t batches[DART_JOURNAL_OUTCOMES]; /* by outcome; restarts as events */
	uint32_t first, last; /* sequences of entries */
};

struct wanted {
	const char *from; /* NULL: dartd of this host */
};

static void count(void *context, const struct dart_journal_event *event)
{
	struct tally *tally = (struct tally *)context + event->appender;

	tally->batches[event->outcome] += event->outcome >= DART_JOURNAL_RESTARTED ? 1 :
										     event->batches;
	if (event->outcome != DART_JOURNAL_ENTRIES_FOUND)
		return;
	if (!tally->entries)
		tally->first = event->sequence;
	tally->last = event->sequence;
	tally->entries += event->count;
}

static bool is_idle(const struct tally *tally)
{
	static const struct tally none;

	return !memcmp(tally, &none, sizeof(none));
}

static json_t *tally__to_json(const struct tally *tally, uint32_t list, uint32_t part)
{
	json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "list", (json_int_t)list,
				 "part", (json_int_t)part, "entries", (json_int_t)tally->entries,
				 "lost", (json_int_t)tally->batches[DART_JOURNAL_LOST],
				 "overwritten", (json_int_t)tally->batches[DART_JOURNAL_LAPPED],
				 "damaged", (json_int_t)tally->batches[DART_JOURNAL_DAMAGED],
				 "restarts",
				 (json_int_t)(tally->batches[DART_JOURNAL_RESTARTED] +
					      tally->batches[DART_JOURNAL_SET_BACK]));

	if (tally->entries && (json_object_set_new(json, "first", json_integer(tally->first)) |
			       json_object_set_new(json, "last", json_integer(tally->last)))) {
		json_decref(json);
		return NULL;
	}
	return json;
}

/* Adds what @list holds to @rows; an exit status. */
static int add_list(struct dart_journal_reader *reader, const char *name, uint32_t list,
		    json_t *rows)
{
	const uint32_t parts = dart_journal_reader__geometry(reader)->parts;
	struct tally tallies[DART_JOURNAL_PARTS_MAX] = {};
	struct dart_error error;
	uint32_t part;

	if (dart_journal_reader__begin(reader, list, false, &error) ||
	    dart_journal_reader__drain(reader, count, tallies, &error))
		return fail(EIO, "cannot read journal '%s': %s", name, error.text);
	for (part = 0; part < parts; part++)
		if (!is_idle(&tallies[part]) &&
		    json_array_append_new(rows, tally__to_json(&tallies[part], list, part)))
			return fail__out_of_memory();
	return EXIT_SUCCESS;
}

static int print(json_t *rows, bool as_json)
{
	static const struct table_column columns[] = { NUMBER_COLUMN("LIST", "list"),
						       NUMBER_COLUMN("PART", "part"),
						       NUMBER_COLUMN("ENTRIES", "entries"),
						       NUMBER_COLUMN("FIRST", "first"),
						       NUMBER_COLUMN("LAST", "last"),
						       NUMBER_COLUMN("LOST", "lost"),
						       NUMBER_COLUMN("OVERWRITTEN", "overwritten"),
						       NUMBER_COLUMN("DAMAGED", "damaged"),
						       NUMBER_COLUMN("RESTARTS", "restarts"),
						       {} };

	return as_json ? print_json(json_incref(rows), 0) : table__print_objects(rows, columns);
}

static int show(const struct journal_map *map, const char *name, bool as_json)
{
	const struct dart_journal_geometry *geometry = dart_journal_reader__geometry(map->reader);
	json_t *rows = json_array();
	int status = EXIT_SUCCESS;
	uint32_t list;

	for (list = 0; !status && list < 1u << geometry->lists_log2; list++)
		status = add_list(map->reader, name, list, rows);
	if (!status)
		status = print(rows, as_json);
	json_decref(rows);
	return status;
}

int command_journal_show(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = { OPTION_WORD("from", struct wanted, from), {} };
	struct wanted wanted = {};
	struct journal_map map;
	int status;

	if (options__take(options, argc, argv, rows, &wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'%s' needs one name", options->path);
	status = journal_map__open(&map, options, argv[optind], wanted.from);
	if (status)
		return status;
	status = show(&map, argv[optind], options->json);
	journal_map__close(&map);
	return status;
}
