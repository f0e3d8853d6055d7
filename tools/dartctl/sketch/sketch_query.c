// SPDX-License-Identifier: GPL-2.0-only
/* dartctl sketch query, top and show: counts of keys in a period, here or by READ. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>

#include "sketch_map.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/key_options.h"
#include "tools/dartctl/cli/schemas.h"

#define COUNT_MAX 1000000
#define COUNT 10
#define BLANKS " \t\r\n"

/* The command line. */
struct query {
	struct sketch_wanted wanted;
	const char *schema_name;
	struct dart_key_schema *schema;
	const char *texts[DART_KEY_FIELDS_MAX]; /* of the fields of the key */
	uint8_t key[DART_STORE_KEY_MAX];
	int key_length;
	const char *keys; /* the file of a list */
	long long count; /* of keys to print */
};

#define WANTED_ROWS                                     \
	OPTION_WORD("from", struct query, wanted.from), \
		OPTION_NUMBER("period", struct query, wanted.period, 1, UINT32_MAX)

/* Takes "@command SKETCH SCHEMA", and the options in @rows; those of a key too if it is wanted. */
static int take(struct query *query, const char *command, struct options *options, int argc,
		char **argv, struct option_row *rows, size_t count, bool with_key)
{
	int status = key_options__take_operand(options, &argc, &argv);

	if (status)
		return status;
	if (!argc)
		return misuse("'%s' needs the name of a sketch, and a schema", command);
	query->wanted.name = argv[0];
	status = key_options__take_operand(options, &argc, &argv);
	if (status)
		return status;
	if (!argc)
		return key_options__refuse(command, query->wanted.name);
	query->schema_name = argv[0];
	query->schema = schemas__load(query->schema_name);
	if (!query->schema)
		return EXIT_FAILURE;
	status = schemas__check_sum(query->schema, query->schema_name);
	if (status)
		return status;
	if (with_key)
		key_options__rows(query->schema, offsetof(struct query, texts), rows + count);
	optind = 0;
	if (options__take(options, argc, argv, rows, query))
		return EXIT_USAGE;
	return optind < argc ? misuse("'%s' takes a sketch and a schema, not '%s' as well", command,
				      argv[optind]) :
			       EXIT_SUCCESS;
}

/* ---- answers */

static const char *const outcomes[] = {
	[DART_SKETCH_COUNTED] = "counted",
	[DART_SKETCH_HOLE] = "hole",
	[DART_SKETCH_SATURATED] = "saturated",
};

static const char *const reasons[] = {
	[DART_SKETCH_HOLE] = "each row has a hole",
	[DART_SKETCH_SATURATED] = "each row is saturated",
};

/* Adds the answer for a key to @json, whose reference it takes; NULL if out of memory. */
static json_t *add_estimate(json_t *json, const struct query *query,
			    const struct dart_sketch_estimate *estimate)
{
	const bool is_counted = estimate->outcome == DART_SKETCH_COUNTED;
	int ret = json_object_set_new(json, "outcome", json_string(outcomes[estimate->outcome]));

	if (is_counted)
		ret |= json_object_set_new(json, "value",
					   json_pack("{s:I}", query->schema->value.list[0].name,
						     (json_int_t)estimate->count)) |
		       json_object_set_new(json, "probability", json_real(estimate->probability));
	ret |= json_object_set_new(json, "rows", json_integer(estimate->rows));
	if (ret) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static void print_bound(const struct query *query, const struct sketch_map *map,
			const struct dart_sketch_estimate *estimate)
{
	const struct dart_sketch_summary *summary = dart_sketch_merge__summary(map->merge);

	if (map->geometry.kind == DART_SKETCH_COUNT_MIN)
		printf("too high by at most %" PRIu64 " with probability %g, of a total of %" PRIu64
		       "\n",
		       summary->epsilon, estimate->probability, summary->total);
	else
		printf("off by at most %" PRIu64 " with probability %g\n", summary->epsilon,
		       estimate->probability);
}

static int print_answer(const struct query *query, const struct sketch_map *map,
			const struct dart_sketch_estimate *estimate)
{
	const struct dart_key_field *field = query->schema->value.list;

	if (estimate->outcome == DART_SKETCH_COUNTED) {
		printf("%s: %" PRId64 "%s%s\n", field->name, estimate->count,
		       field->unit ? " " : "", field->unit ?: "");
		print_bound(query, map, estimate);
	} else {
		printf("%s: unknown, %s\n", field->name, reasons[estimate->outcome]);
	}
	sketch_map__print_period(map);
	sketch_map__print_gaps(map);
	return estimate->outcome == DART_SKETCH_COUNTED ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int answer(const struct query *query, const struct options *options)
{
	struct dart_sketch_estimate estimate;
	struct sketch_map map;
	int status = sketch_map__read(&map, options, &query->wanted);

	if (status)
		return status;
	dart_sketch_merge__ask(map.merge, query->key, query->key_length, &estimate);
	if (options->json)
		status =
			print_json(add_estimate(sketch_map__to_json(&map, &query->wanted), query, &estimate), 0) ?:
				(estimate.outcome != DART_SKETCH_COUNTED ? EXIT_FAILURE :
									   EXIT_SUCCESS);
	else
		status = print_answer(query, &map, &estimate);
	dart_sketch_merge__free(map.merge);
	return status;
}

int command_sketch_query(struct options *options, int argc, char **argv)
{
	struct option_row rows[2 + DART_KEY_FIELDS_MAX + 1] = { WANTED_ROWS };
	struct query query = {};
	int status = take(&query, "sketch query", options, argc, argv, rows, 2, true);

	status = status ?:
			  key_options__make(query.schema, query.schema_name, query.texts, query.key,
					    &query.key_length);
	status = status ?: answer(&query, options);
	dart_key_schema__free(query.schema);
	return status;
}

/* ---- the greatest counts of a list of keys */

/* A key of the list, as its line says it. */
struct line {
	char *text;
	struct dart_sketch_estimate estimate;
};

struct list {
	struct line *lines;
	size_t count, room;
	uint64_t unknown; /* keys without a count */
};

static void list__free(struct list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free(list->lines[i].text);
	free(list->lines);
}

/* Takes the @text of a key and its answer; -ENOMEM. */
static int list__add(struct list *list, const char *text,
		     const struct dart_sketch_estimate *estimate)
{
	struct line *lines;

	if (estimate->outcome != DART_SKETCH_COUNTED) {
		list->unknown++;
		return 0;
	}
	if (list->count == list->room) {
		const size_t room = list->room ? 2 * list->room : 1024;

		lines = reallocarray(list->lines, room, sizeof(*lines));
		if (!lines)
			return -ENOMEM;
		list->lines = lines;
		list->room = room;
	}
	list->lines[list->count] = (struct line){ strdup(text), *estimate };
	if (!list->lines[list->count].text)
		return -ENOMEM;
	list->count++;
	return 0;
}

/* Splits a line into the values of the fields of the key; false if it has too few or too many. */
static bool split(const struct dart_key_schema *schema, char *line, const char **texts)
{
	uint32_t count = 0;
	char *rest, *word;

	for (word = strtok_r(line, BLANKS, &rest); word; word = strtok_r(NULL, BLANKS, &rest)) {
		if (count == schema->key.count)
			return false;
		texts[count++] = word;
	}
	return count == schema->key.count;
}

/* Asks for the key of a line; a line without words, or that begins with #, is none. */
static int take_line(struct list *list, const struct query *query,
		     const struct dart_sketch_merge *merge, char *line, unsigned int number)
{
	const char *texts[DART_KEY_FIELDS_MAX];
	struct dart_sketch_estimate estimate;
	uint8_t key[DART_STORE_KEY_MAX];
	struct dart_error error;
	char *copy;
	int length;

	line += strspn(line, BLANKS);
	if (!*line || *line == '#')
		return EXIT_SUCCESS;
	line[strcspn(line, "\r\n")] = '\0';
	copy = strdup(line);
	if (!copy)
		return fail__out_of_memory();
	if (!split(query->schema, copy, texts)) {
		free(copy);
		return fail(EINVAL, "%s:%u: a key of '%s' has %u values", query->keys, number,
			    query->schema_name, query->schema->key.count);
	}
	length = dart_key_schema__key(query->schema, texts, key, &error);
	free(copy);
	if (length < 0)
		return fail(EINVAL, "%s:%u: %s", query->keys, number, error.text);
	dart_sketch_merge__ask(merge, key, length, &estimate);
	return list__add(list, line, &estimate) ? fail__out_of_memory() : EXIT_SUCCESS;
}

static int take_lines(struct list *list, const struct query *query,
		      const struct dart_sketch_merge *merge, FILE *file)
{
	unsigned int number = 0;
	int status = EXIT_SUCCESS;
	size_t room = 0;
	char *line = NULL;

	while (!status && getline(&line, &room, file) >= 0)
		status = take_line(list, query, merge, line, ++number);
	free(line);
	if (!status && ferror(file))
		status = fail(EIO, "cannot read '%s'", query->keys);
	return status;
}

static int compare(const void *a, const void *b)
{
	const struct line *left = a, *right = b;

	if (left->estimate.count != right->estimate.count)
		return left->estimate.count < right->estimate.count ? 1 : -1;
	return strcmp(left->text, right->text);
}

static int print_list_as_json(const struct query *query, const struct sketch_map *map,
			      const struct list *list)
{
	json_t *json = sketch_map__to_json(map, &query->wanted), *keys = json_array();
	size_t i;

	for (i = 0; i < list->count && i < (size_t)query->count; i++)
		if (json_array_append_new(
			    keys, add_estimate(json_pack("{s:s}", "key", list->lines[i].text),
					       query, &list->lines[i].estimate))) {
			json_decref(keys);
			json_decref(json);
			return fail__out_of_memory();
		}
	if (json_object_set_new(json, "unknown", json_integer(list->unknown)) |
	    json_object_set_new(json, "keys", keys)) {
		json_decref(json);
		json = NULL;
	}
	return print_json(json, 0);
}

static int print_list(const struct query *query, const struct sketch_map *map,
		      const struct list *list)
{
	const struct dart_key_field *field = query->schema->value.list;
	size_t i;

	printf("%s KEY\n", field->name);
	for (i = 0; i < list->count && i < (size_t)query->count; i++)
		printf("%" PRId64 " %s\n", list->lines[i].estimate.count, list->lines[i].text);
	if (list->unknown)
		printf("%" PRIu64 " keys have no count\n", list->unknown);
	sketch_map__print_period(map);
	sketch_map__print_gaps(map);
	return EXIT_SUCCESS;
}

static int print_top(const struct query *query, const struct options *options, FILE *file)
{
	struct list list = {};
	struct sketch_map map;
	int status = sketch_map__read(&map, options, &query->wanted);

	status = status ?: take_lines(&list, query, map.merge, file);
	if (!status) {
		if (list.count)
			qsort(list.lines, list.count, sizeof(*list.lines), compare);
		status = options->json ? print_list_as_json(query, &map, &list) :
					 print_list(query, &map, &list);
	}
	list__free(&list);
	dart_sketch_merge__free(map.merge);
	return status;
}

static int open_list(const struct query *query, const struct options *options)
{
	FILE *file;
	int status;

	if (!query->keys)
		return misuse("'sketch top' needs --keys FILE");
	if (!strcmp(query->keys, "-"))
		return print_top(query, options, stdin);
	file = fopen(query->keys, "re");
	if (!file)
		return fail(errno, "cannot open '%s': %s", query->keys, strerror(errno));
	status = print_top(query, options, file);
	fclose(file);
	return status;
}

int command_sketch_top(struct options *options, int argc, char **argv)
{
	struct option_row rows[] = { WANTED_ROWS,
				     OPTION_WORD("keys", struct query, keys),
				     OPTION_NUMBER("count", struct query, count, 1, COUNT_MAX),
				     {} };
	struct query query = { .count = COUNT };
	int status = take(&query, "sketch top", options, argc, argv, rows, 0, false);

	status = status ?: open_list(&query, options);
	dart_key_schema__free(query.schema);
	return status;
}

/* ---- what is there */

int command_sketch_show(struct options *options, int argc, char **argv)
{
	static const struct option_row rows[] = { WANTED_ROWS, {} };
	struct query query = {};
	struct sketch_map map;
	int status;

	if (options__take(options, argc, argv, rows, &query))
		return EXIT_USAGE;
	if (argc - optind != 1)
		return misuse("'sketch show' needs one name");
	query.wanted.name = argv[optind];
	status = sketch_map__read(&map, options, &query.wanted);
	if (status)
		return status;
	if (options->json) {
		status = print_json(sketch_map__to_json(&map, &query.wanted), 0);
	} else {
		sketch_map__print_period(&map);
		printf("%u sketchers of %u parts, %u strips\n",
		       dart_sketch_merge__summary(map.merge)->present, map.geometry.parts,
		       dart_sketch_merge__summary(map.merge)->strips);
		sketch_map__print_gaps(&map);
	}
	dart_sketch_merge__free(map.merge);
	return status;
}
