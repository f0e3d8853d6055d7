// SPDX-License-Identifier: GPL-2.0-only
/*
 * dartctl journal dump and tail: prints the entries of one list, and events that say which entries
 * are missing.  If entries have a time, those of all appenders that were read together are printed
 * in its order; otherwise one appender comes after the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/settings/quantity.h>

#include "journal_map.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/schemas.h"

#define INTERVAL_MIN_NS UINT64_C(1000000)
#define INTERVAL_MAX_NS UINT64_C(3600000000000)
#define INTERVAL_NS UINT64_C(100000000)
#define NS_PER_S 1000000000

/* The field of an entry by which entries are ordered. */
#define TIME_FIELD "time"

/* The command line. */
struct wanted {
	const char *journal;
	const char *schema_name; /* NULL: print bytes */
	const char *from; /* NULL: dartd of this host */
	long long list;
	uint64_t interval_ns;
	bool is_all; /* begin with the oldest entry */
};

/* An event, or one of the entries that it is about, in the order of printing. */
struct line {
	uint64_t time; /* or that of the line before, of the same part */
	uint64_t number; /* in the order of reading */
	enum dart_journal_outcome outcome;
	uint32_t part, sequence, index;
	uint64_t batches;
	uint8_t entry[DART_JOURNAL_ENTRY_MAX];
};

struct printer {
	struct dart_key_schema *schema; /* NULL: bytes */
	uint32_t entry_length;
	int time_offset; /* in an entry, -1: none */
	bool as_json;
	uint64_t times[DART_JOURNAL_PARTS_MAX]; /* of the last lines */
	struct line *lines;
	size_t count, room;
	int status;
};

/* ---- collecting lines */

/* Entries are ordered by a number of 8 bytes called "time". */
static int find_time(const struct dart_key_schema *schema)
{
	uint32_t i, offset = 0;

	for (i = 0; i < schema->value.count; i++) {
		const struct dart_key_field *field = &schema->value.list[i];

		if (!strcmp(field->name, TIME_FIELD) && field->type->kind == DART_KEY_NUMBER &&
		    field->type->width_max == sizeof(uint64_t) && field->count == 1)
			return offset;
		offset += dart_key_field__length(field);
	}
	return -1;
}

static uint64_t time_of(const struct printer *printer, const uint8_t *entry)
{
	uint64_t time = 0;
	size_t i;

	for (i = 0; i < sizeof(time); i++)
		time = time << 8 | entry[printer->time_offset + i];
	return time;
}

/* Returns room for one more line, NULL if out of memory. */
static struct line *add_line(struct printer *printer)
{
	struct line *lines;

	if (printer->count == printer->room) {
		size_t room = printer->room ? 2 * printer->room : 1024;

		lines = reallocarray(printer->lines, room, sizeof(*lines));
		if (!lines) {
			if (!printer->status)
				printer->status = fail__out_of_memory();
			return NULL;
		}
		printer->lines = lines;
		printer->room = room;
	}
	return &printer->lines[printer->count++];
}

static void collect(struct printer *printer, const struct dart_journal_event *event, uint32_t index)
{
	struct line *line = add_line(printer);

	if (!line)
		return;
	*line = (struct line){
		.number = printer->count,
		.outcome = event->outcome,
		.part = event->appender,
		.sequence = event->sequence,
		.batches = event->batches,
		.index = event->first + index,
	};
	if (event->outcome == DART_JOURNAL_ENTRIES_FOUND) {
		memcpy(line->entry, event->entries + index * printer->entry_length,
		       printer->entry_length);
		if (printer->time_offset >= 0)
			printer->times[line->part] = time_of(printer, line->entry);
	}
	line->time = printer->times[line->part];
}

/* ---- printing */

static const char *const outcomes[] = {
	[DART_JOURNAL_ENTRIES_FOUND] = "found", [DART_JOURNAL_LOST] = "lost",
	[DART_JOURNAL_LAPPED] = "overwritten",	[DART_JOURNAL_DAMAGED] = "damaged",
	[DART_JOURNAL_RESTARTED] = "restarted", [DART_JOURNAL_SET_BACK] = "set-back",
};

static json_t *digits(const struct printer *printer, const uint8_t *entry)
{
	char text[2 * DART_JOURNAL_ENTRY_MAX + 1] = "";
	uint32_t i;

	for (i = 0; i < printer->entry_length; i++)
		sprintf(text + 2 * i, "%02x", entry[i]);
	return json_string(text);
}

static json_t *entry_of(const struct printer *printer, const struct line *line)
{
	return printer->schema ? dart_key_schema__value(printer->schema, line->entry) :
				 digits(printer, line->entry);
}

static int print_line_as_json(const struct printer *printer, const struct line *line)
{
	const bool is_entry = line->outcome == DART_JOURNAL_ENTRIES_FOUND;
	json_t *json = json_pack("{s:s, s:i, s:I}", "outcome", outcomes[line->outcome], "part",
				 (int)line->part, "sequence", (json_int_t)line->sequence);
	int ret;

	if (is_entry)
		ret = json_object_set_new(json, "index", json_integer(line->index)) |
		      json_object_set_new(json, "entry", entry_of(printer, line));
	else
		ret = json_object_set_new(json, "batches", json_integer(line->batches));
	if (ret) {
		json_decref(json);
		return fail__out_of_memory();
	}
	return print_json(json, JSON_COMPACT);
}

/* "name=1,2,3" */
static int print_field(const char *name, const json_t *value)
{
	json_t *element;
	int ret = 0;
	size_t i;

	printf(" %s=", name);
	if (!json_is_array(value))
		return print_scalar(value);
	json_array_foreach(value, i, element) {
		if (i)
			putchar(',');
		ret |= print_scalar(element);
	}
	return ret;
}

static int print_entry(const struct printer *printer, const struct line *line)
{
	json_t *entry = entry_of(printer, line), *value;
	int ret = entry ? 0 : -1;
	const char *name;

	printf("%u %u.%u", line->part, line->sequence, line->index);
	if (json_is_string(entry))
		printf(" %s", json_string_value(entry));
	json_object_foreach(entry, name, value)
		ret |= print_field(name, value);
	putchar('\n');
	json_decref(entry);
	return ret ? fail__out_of_memory() : EXIT_SUCCESS;
}

static int print_line(const struct printer *printer, const struct line *line)
{
	if (printer->as_json)
		return print_line_as_json(printer, line);
	if (line->outcome == DART_JOURNAL_ENTRIES_FOUND)
		return print_entry(printer, line);
	printf("%u %u %s", line->part, line->sequence, outcomes[line->outcome]);
	if (line->batches)
		printf(": %" PRIu64 " batch%s", line->batches, line->batches == 1 ? "" : "es");
	putchar('\n');
	return EXIT_SUCCESS;
}

static int compare_lines(const void *one, const void *two)
{
	const struct line *a = one, *b = two;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int print_lines(struct printer *printer)
{
	size_t i;

	if (printer->time_offset >= 0)
		qsort(printer->lines, printer->count, sizeof(*printer->lines), compare_lines);
	for (i = 0; i < printer->count && !printer->status; i++)
		printer->status = print_line(printer, &printer->lines[i]);
	printer->count = 0;
	fflush(stdout);
	return printer->status;
}

static void on_event(void *context, const struct dart_journal_event *event)
{
	struct printer *printer = context;
	uint32_t i = 0;

	do {
		collect(printer, event, i);
	} while (++i < event->count);
	/* Lines that are not ordered need not wait. */
	if (printer->time_offset < 0)
		print_lines(printer);
}

/* ---- the commands */

static int take_interval(void *interval_ns, const char *text)
{
	return dart_quantity__parse(DART_QUANTITY_TIME, text, INTERVAL_MIN_NS, INTERVAL_MAX_NS,
				    interval_ns) ?
		       EXIT_USAGE :
		       EXIT_SUCCESS;
}

static const struct option_row dump_rows[] = {
	OPTION_WORD("schema", struct wanted, schema_name),
	OPTION_WORD("from", struct wanted, from),
	OPTION_NUMBER("list", struct wanted, list, 0, (1 << DART_JOURNAL_LISTS_LOG2_MAX) - 1),
	{}
};

static const struct option_row tail_rows[] = {
	OPTION_WORD("schema", struct wanted, schema_name),
	OPTION_WORD("from", struct wanted, from),
	OPTION_NUMBER("list", struct wanted, list, 0, (1 << DART_JOURNAL_LISTS_LOG2_MAX) - 1),
	OPTION_OWN("interval", struct wanted, interval_ns, take_interval,
		   .form = "is a time from 1ms to 60min"),
	OPTION_FLAG("all", struct wanted, is_all),
	{}
};

static int dump(struct dart_journal_reader *reader, struct printer *printer,
		struct dart_error *error)
{
	int ret = dart_journal_reader__drain(reader, on_event, printer, error);

	print_lines(printer);
	return ret;
}

/* Until the output or the reader fails. */
static int tail(struct dart_journal_reader *reader, const struct wanted *wanted,
		struct printer *printer, struct dart_error *error)
{
	const struct timespec interval = {
		.tv_sec = wanted->interval_ns / NS_PER_S,
		.tv_nsec = wanted->interval_ns % NS_PER_S,
	};
	int ret = 0;

	while (ret >= 0 && !printer->status && !ferror(stdout)) {
		ret = dart_journal_reader__poll(reader, on_event, printer, error);
		print_lines(printer);
		/* Nothing tells when the memory changes. */
		if (!ret)
			nanosleep(&interval, NULL);
	}
	return ret < 0 ? ret : 0;
}

static int read_journal(const struct journal_map *map, const struct wanted *wanted,
			struct printer *printer, bool is_tail)
{
	struct dart_journal_reader *reader = map->reader;
	const struct dart_journal_geometry *geometry = dart_journal_reader__geometry(reader);
	struct dart_error error;
	int ret;

	if (wanted->list >> geometry->lists_log2)
		return fail(EINVAL, "journal '%s' has no list %lld, only %u", wanted->journal,
			    wanted->list, 1u << geometry->lists_log2);
	printer->entry_length = geometry->entry_length;
	if (printer->schema && printer->schema->value.length > geometry->entry_length)
		return fail(EINVAL,
			    "entries of '%s' have %u bytes, but entries of journal '%s' have %u",
			    wanted->schema_name, printer->schema->value.length, wanted->journal,
			    geometry->entry_length);
	ret = dart_journal_reader__begin(reader, wanted->list, !wanted->is_all, &error);
	if (!ret)
		ret = is_tail ? tail(reader, wanted, printer, &error) :
				dump(reader, printer, &error);
	if (ret)
		return fail(-ret, "cannot read journal '%s': %s", wanted->journal, error.text);
	return printer->status;
}

static int run(struct options *options, int argc, char **argv, const struct option_row *rows,
	       struct wanted *wanted, bool is_tail)
{
	struct printer printer = { .time_offset = -1 };
	struct journal_map map;
	int status;

	if (options__take(options, argc, argv, rows, wanted))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'%s' needs one name", options->path);
	wanted->journal = argv[optind];
	printer.as_json = options->json;
	if (wanted->schema_name) {
		printer.schema = schemas__load(wanted->schema_name);
		if (!printer.schema)
			return EXIT_FAILURE;
		printer.time_offset = find_time(printer.schema);
	}
	status = journal_map__open(&map, options, wanted->journal, wanted->from);
	if (!status) {
		status = read_journal(&map, wanted, &printer, is_tail);
		journal_map__close(&map);
	}
	free(printer.lines);
	dart_key_schema__free(printer.schema);
	return status;
}

int command_journal_dump(struct options *options, int argc, char **argv)
{
	struct wanted wanted = { .is_all = true };

	return run(options, argc, argv, dump_rows, &wanted, false);
}

int command_journal_tail(struct options *options, int argc, char **argv)
{
	struct wanted wanted = { .interval_ns = INTERVAL_NS };

	return run(options, argc, argv, tail_rows, &wanted, true);
}
