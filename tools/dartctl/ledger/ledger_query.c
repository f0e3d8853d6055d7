// SPDX-License-Identifier: GPL-2.0-only
/* dartctl ledger query: prints the sum of a key, here or by READ. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <libdart/json.h>
#include <libdart/ledger/ledger_reader.h>
#include <libdart/rdma/address.h>

#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"
#include "tools/dartctl/cli/key_options.h"
#include "tools/dartctl/cli/schemas.h"

struct query {
	const char *ledger;
	const char *schema_name;
	struct dart_key_schema *schema;
	const char *from; /* NULL: dartd of this host */
	const char *texts[DART_KEY_FIELDS_MAX]; /* of the fields of the key */
	uint8_t key[DART_STORE_KEY_MAX];
	int key_length;
};

/* ---- the command line */

static int take_options(struct query *query, struct options *options, int argc, char **argv)
{
	struct option_row rows[1 + DART_KEY_FIELDS_MAX + 1] = {
		OPTION_WORD("from", struct query, from),
	};

	key_options__rows(query->schema, offsetof(struct query, texts), rows + 1);
	optind = 0;
	if (options__take(options, argc, argv, rows, query))
		return EXIT_USAGE;
	if (optind < argc)
		return misuse("'ledger query' takes a ledger and a schema, not '%s' as well",
			      argv[optind]);
	return key_options__make(query->schema, query->schema_name, query->texts, query->key,
				 &query->key_length);
}

/* ---- the answer */

static double confidence(const struct dart_ledger_geometry *geometry)
{
	return 1 - 1. / (1u << geometry->rows);
}

static int print_json_sum(const struct query *query, const struct dart_ledger_geometry *geometry,
			  const struct dart_ledger_sum *sum)
{
	json_t *words = json_array();
	uint32_t row;

	for (row = 0; words && row < geometry->rows; row++) {
		if (!json_array_append_new(words, dart_json__unsigned(sum->words[row])))
			continue;
		json_decref(words);
		words = NULL;
	}
	return print_json(
		json_pack("{s:s, s:s?, s:{s:o}, s:o, s:f, s:o, s:o}", "ledger", query->ledger,
			  "collector", query->from, "value", query->schema->value.list[0].name,
			  dart_json__unsigned(sum->sum), "epsilon",
			  dart_json__unsigned(sum->epsilon), "probability", confidence(geometry),
			  "total", dart_json__unsigned(sum->total), "words", words),
		0);
}

static int print_text(const struct query *query, const struct dart_ledger_geometry *geometry,
		      const struct dart_ledger_sum *sum)
{
	const struct dart_key_field *field = query->schema->value.list;

	printf("%s: %llu%s%s\n", field->name, (unsigned long long)sum->sum, field->unit ? " " : "",
	       field->unit ?: "");
	printf("too high by at most %llu with probability %g, of a total of %llu\n",
	       (unsigned long long)sum->epsilon, confidence(geometry),
	       (unsigned long long)sum->total);
	return EXIT_SUCCESS;
}

static int ask(const struct query *query, const struct options *options,
	       struct dart_ledger_reader *reader)
{
	const struct dart_ledger_geometry *geometry = dart_ledger_reader__geometry(reader);
	struct dart_ledger_sum sum;
	struct dart_error error;
	int ret;

	ret = dart_ledger_reader__ask(reader, query->key, query->key_length, 1, &sum, &error);
	if (ret)
		return fail(-ret, "cannot read ledger '%s' of %s: %s", query->ledger, query->from,
			    error.text);
	return options->json ? print_json_sum(query, geometry, &sum) :
			       print_text(query, geometry, &sum);
}

/* ---- the memory */

static int read_geometry(json_t *description, struct dart_ledger_geometry *geometry)
{
	json_int_t rows, words_log2;

	if (json_unpack(description, "{s:I, s:I}", "rows", &rows, "words_log2", &words_log2))
		return -EPROTO;
	*geometry = (struct dart_ledger_geometry){ .rows = rows, .words_log2 = words_log2 };
	return dart_ledger_geometry__check(geometry) ? -EPROTO : 0;
}

/* Maps the ledger that dartd described, and asks it. */
static int ask_descriptor(const struct query *query, const struct options *options,
			  json_t *description, int fd)
{
	struct dart_ledger_reader *reader = NULL;
	struct dart_ledger_geometry geometry;
	int ret, status = EXIT_FAILURE;
	void *memory = NULL;
	size_t length;

	ret = read_geometry(description, &geometry);
	if (!ret)
		ret = file__map(fd, dart_ledger_geometry__length(&geometry), &memory, &length);
	if (!ret)
		ret = dart_ledger_reader__map(&geometry, memory, &reader);
	if (ret)
		status = fail(-ret, "cannot map ledger '%s': %s", query->ledger, strerror(-ret));
	else
		status = ask(query, options, reader);
	dart_ledger_reader__close(reader);
	if (memory)
		munmap(memory, length);
	return status;
}

static int ask_here(const struct query *query, const struct options *options)
{
	json_t *description, *reply;
	int fd, status;

	description = client__ask(
		options, json_pack("{s:s, s:s}", "request", "ledger-open", "name", query->ledger),
		-1, "ledger", &reply, &fd);
	if (!description)
		return EXIT_FAILURE;
	status = ask_descriptor(query, options, description, fd);
	if (fd >= 0)
		close(fd);
	json_decref(reply);
	return status;
}

static int ask_there(const struct query *query, const struct options *options)
{
	struct dart_ledger_reader *reader;
	struct dart_error error;
	uint16_t port;
	int ret, status;
	char *host;

	ret = dart_address__parse(query->from, &host, &port);
	if (ret)
		return ret == -ENOMEM ? fail__out_of_memory() :
					misuse("'%s' is not HOST or HOST:PORT", query->from);
	ret = dart_ledger_reader__open(host, port, query->ledger, &reader, &error);
	free(host);
	if (ret)
		return fail(-ret, "cannot read ledger '%s' of %s: %s", query->ledger, query->from,
			    error.text);
	status = ask(query, options, reader);
	dart_ledger_reader__close(reader);
	return status;
}

int command_ledger_query(struct options *options, int argc, char **argv)
{
	struct query query = {};
	int status;

	status = key_options__take_operand(options, &argc, &argv);
	if (status)
		return status;
	if (!argc)
		return misuse("'ledger query' needs the name of a ledger, and a schema");
	query.ledger = argv[0];
	status = key_options__take_operand(options, &argc, &argv);
	if (status)
		return status;
	if (!argc)
		return key_options__refuse("ledger query", query.ledger);
	query.schema_name = argv[0];
	query.schema = schemas__load(query.schema_name);
	if (!query.schema)
		return EXIT_FAILURE;
	status = schemas__check_sum(query.schema, query.schema_name);
	status = status ?: take_options(&query, options, argc, argv);
	if (!status)
		status = query.from ? ask_there(&query, options) : ask_here(&query, options);
	dart_key_schema__free(query.schema);
	return status;
}
