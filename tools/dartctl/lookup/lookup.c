// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table lookup: prints the value of a key. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/tea/tea_reader.h>

#include "entry.h"
#include "map.h"
#include "text.h"
#include "tools/dartctl/cli/command.h"

/* Exit status if the key has no entry, like that of query without a value. */
#define EXIT_ABSENT 3

struct lookup {
	struct lookup_named named;
	const char *host; /* NULL: dartd of this host */
	long long port; /* -1: not given */
	struct lookup_layout layout;
	uint8_t entry[LOOKUP_ENTRY_MAX]; /* the key, and the value that was found */
	uint32_t share;
};

static int take_port(void *member, const char *text)
{
	long long *port = member;

	*port = options__number(text, UINT16_MAX);
	return *port < 1 ? misuse("'%s' is not a port", text) : EXIT_SUCCESS;
}

static const struct option_row rows[] = { OPTION_WORD("schema", struct lookup, named.schema),
					  OPTION_WORD("key", struct lookup, named.key),
					  OPTION_WORD("host", struct lookup, host),
					  OPTION_OWN("port", struct lookup, port, take_port),
					  {} };

static int parse(struct options *options, int argc, char **argv, struct lookup *lookup)
{
	*lookup = (struct lookup){ .port = -1 };
	if (options__take(options, argc, argv, rows, lookup))
		return EXIT_USAGE;
	if (optind == argc)
		return misuse("'table lookup' needs the name of a table");
	if (lookup->port >= 0 && !lookup->host)
		return misuse("--port needs --host");
	lookup->named.table = argv[optind];
	lookup->named.fields = argv + optind + 1;
	lookup->named.field_count = argc - optind - 1;
	return EXIT_SUCCESS;
}

/* Reads the key by the schema of the table. */
static int take_key(struct lookup *lookup, const struct dart_tea_geometry *geometry,
		    const struct dart_tea_hash *hash)
{
	struct dart_tea_place place;
	int status;

	status = lookup_entry__layout(&lookup->named, geometry, &lookup->layout);
	if (status)
		return status;
	status = lookup_entry__take(&lookup->named, &lookup->layout, false, lookup->entry);
	if (status) {
		lookup_layout__free(&lookup->layout);
		return status;
	}
	dart_tea_hash__place(hash, lookup->entry, &place);
	lookup->share = place.share;
	return EXIT_SUCCESS;
}

static json_t *pack_value(const struct lookup *lookup)
{
	return dart_key_schema__value(lookup->layout.schema,
				      lookup->entry + lookup->layout.key_length);
}

static int print_json_answer(const struct lookup *lookup, bool is_found)
{
	json_t *value = is_found ? pack_value(lookup) : NULL;

	if (is_found && !value)
		return fail__out_of_memory();
	return print_json(json_pack("{s:s, s:i, s:s?, s:o?}", "outcome",
				    is_found ? "found" : "absent", "share", (int)lookup->share,
				    "host", lookup->host, "value", value),
			  0);
}

static void print_value(const struct lookup *lookup)
{
	const struct lookup_layout *layout = &lookup->layout;
	const struct lookup_field *field;
	char text[LOOKUP_TEXT_MAX];
	size_t length;
	uint32_t i;

	for (i = layout->key_count; i < layout->count; i++) {
		field = &layout->fields[i];
		length = lookup_text__print(field->is, lookup->entry + field->offset, text);
		printf("%s: %.*s%s%s\n", field->is->name, (int)length, text,
		       field->is->unit ? " " : "", field->is->unit ? field->is->unit : "");
	}
}

/* Prints the answer; @ret: result of the lookup. */
static int answer(const struct lookup *lookup, const struct options *options, int ret)
{
	int status = EXIT_SUCCESS;

	if (ret == -EAGAIN)
		return fail(
			EAGAIN,
			"the row of this key was being changed each time: did dartd end during a change? (a restart of dartd mends the table)");
	if (options->json)
		status = print_json_answer(lookup, !ret);
	else if (!ret)
		print_value(lookup);
	else
		fail(ENODATA, "absent: table '%s' has no entry with this key", lookup->named.table);
	return status ?: ret ? EXIT_ABSENT : EXIT_SUCCESS;
}

static int ask_here(struct lookup *lookup, const struct options *options)
{
	struct lookup_map map;
	int ret, status;

	status = lookup_map__open(&map, options, lookup->named.table);
	if (status)
		return status;
	status = take_key(lookup, &map.geometry, map.hash);
	if (!status) {
		ret = dart_tea_lookup__memory(map.hash, map.epoch, map.memory, lookup->entry,
					      lookup->entry + lookup->layout.key_length);
		status = answer(lookup, options, ret);
		lookup_layout__free(&lookup->layout);
	}
	lookup_map__close(&map);
	return status;
}

static int refuse_reading(const struct lookup *lookup, int ret, const struct dart_error *error)
{
	return fail(-ret, "cannot read table '%s' of %s: %s",
		    lookup->named.table, lookup->host, error->text);
}

static int ask_there(struct lookup *lookup, const struct options *options)
{
	struct dart_tea_reader *reader;
	struct dart_error error = { "" };
	int ret, status;

	ret = dart_tea_reader__open(lookup->host,
				    lookup->port < 0 ? DART_CONTROL_PORT : lookup->port,
				    lookup->named.table, &reader, &error);
	if (ret)
		return refuse_reading(lookup, ret, &error);
	status = take_key(lookup, dart_tea_reader__geometry(reader), dart_tea_reader__hash(reader));
	if (!status) {
		ret = dart_tea__lookup(reader, lookup->entry,
				       lookup->entry + lookup->layout.key_length, &error);
		if (!ret || ret == -ENOENT || ret == -EAGAIN)
			status = answer(lookup, options, ret);
		else
			status = refuse_reading(lookup, ret, &error);
		lookup_layout__free(&lookup->layout);
	}
	dart_tea_reader__close(reader);
	return status;
}

int command_table_lookup(struct options *options, int argc, char **argv)
{
	struct lookup lookup;
	int status;

	status = parse(options, argc, argv, &lookup);
	if (status)
		return status;
	return lookup.host ? ask_there(&lookup, options) : ask_here(&lookup, options);
}
