// SPDX-License-Identifier: GPL-2.0-only
/* Prints a line for each target and each source, and one for the controller. */
#include "status_table.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/escape.h>

#define TEXT_MAX 64

enum column_kind {
	COLUMN_TEXT,
	COLUMN_NUMBER,
	COLUMN_AGO, /* nanoseconds of CLOCK_REALTIME, shown as the time since then */
	COLUMN_AGE, /* a duration in ns; an empty cell for 0 */
	COLUMN_US, /* a duration in ns, shown in us */
	COLUMN_S, /* the same in seconds */
};

struct column {
	const char *title;
	const char *member; /* a member of the object, or of the object's member @part */
	const char *part;
	enum column_kind kind;
};

static const struct column target_columns[] = {
	{ "AGENT", "agent", NULL, COLUMN_TEXT },
	{ "TRANSPORT", "transport", NULL, COLUMN_TEXT },
	{ "STATE", "state", NULL, COLUMN_TEXT },
	{ "SINCE", "since_ns", NULL, COLUMN_AGO },
	{ "SCRAPES", "scrapes", NULL, COLUMN_NUMBER },
	{ "FAILED", "failed", NULL, COLUMN_NUMBER },
	{ "READS", "reads", NULL, COLUMN_NUMBER },
	{ "BYTES", "bytes", NULL, COLUMN_NUMBER },
	{ "P50 us", "p50", "landed_ns", COLUMN_US },
	{ "P99 us", "p99", "landed_ns", COLUMN_US },
	{ "SOURCE", "source", NULL, COLUMN_TEXT },
	{ "LAST ERROR", "error", NULL, COLUMN_TEXT },
	{},
};

static const struct column source_columns[] = {
	{ "SOURCE", "source", NULL, COLUMN_TEXT },
	{ "KIND", "kind", NULL, COLUMN_TEXT },
	{ "AGENTS", "targets", NULL, COLUMN_NUMBER },
	{ "LEFT OUT", "left_out", NULL, COLUMN_NUMBER },
	{ "DROPPED", "dropped", NULL, COLUMN_NUMBER },
	{ "HEARD", "heard_ns", NULL, COLUMN_AGO },
	{ "FAILURES", "failures", NULL, COLUMN_NUMBER },
	{ "ERROR", "error", NULL, COLUMN_TEXT },
	{},
};

static const struct column output_columns[] = {
	{ "OUTPUT", "output", NULL, COLUMN_TEXT },
	{ "TO", "to", NULL, COLUMN_TEXT },
	{ "WAITING", "waiting_samples", NULL, COLUMN_NUMBER },
	{ "OLDEST", "oldest_waiting_ns", NULL, COLUMN_AGE },
	{ "SENT", "sent_samples", NULL, COLUMN_NUMBER },
	{ "REFUSED", "refused_samples", NULL, COLUMN_NUMBER },
	{ "DROPPED", "dropped_samples", NULL, COLUMN_NUMBER },
	{ "RETRIES", "retries", NULL, COLUMN_NUMBER },
	{ "QUEUE", "queue_bytes", NULL, COLUMN_NUMBER },
	{ "SPOOL", "spool_bytes", NULL, COLUMN_NUMBER },
	{ "FAILED", "error_ns", NULL, COLUMN_AGO },
	{ "LAST ERROR", "error", NULL, COLUMN_TEXT },
	{},
};

/* Threads that scrape and decode. */
static const struct column thread_columns[] = {
	{ "THREAD", "thread", NULL, COLUMN_TEXT },
	{ "CPU s", "cpu_ns", NULL, COLUMN_S },
	{ "AGENTS", "agents", NULL, COLUMN_NUMBER },
	{ "QUEUED", "queued", NULL, COLUMN_NUMBER },
	{ "DROPPED", "dropped", NULL, COLUMN_NUMBER },
	{},
};

static json_int_t number_of(const json_t *object, const char *member)
{
	return json_integer_value(json_object_get(object, member));
}

/* Prints "12s", "7min", "3h" or "5d". */
static void print_age(json_int_t seconds, char text[static TEXT_MAX])
{
	if (seconds < 0)
		seconds = 0;
	if (seconds < 100)
		snprintf(text, TEXT_MAX, "%llds", (long long)seconds);
	else if (seconds < 100 * 60)
		snprintf(text, TEXT_MAX, "%lldmin", (long long)seconds / 60);
	else if (seconds < 100 * 3600)
		snprintf(text, TEXT_MAX, "%lldh", (long long)seconds / 3600);
	else
		snprintf(text, TEXT_MAX, "%lldd", (long long)seconds / 86400);
}

static void print_ago(json_int_t time_ns, char text[static TEXT_MAX])
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	print_age(now.tv_sec - time_ns / 1000000000, text);
}

static void print_wait(json_int_t age_ns, char text[static TEXT_MAX])
{
	if (age_ns)
		print_age(age_ns / 1000000000, text);
}

/* Errors may quote a peer: escape control characters for the terminal. */
static int set_text(struct libscols_line *line, size_t index, const char *text)
{
	char *escaped = dart_escape__new(text, DART_ESCAPE_SENTENCE);
	int err = escaped ? scols_line_refer_data(line, index, escaped) : -ENOMEM;

	if (err)
		free(escaped);
	return err;
}

static int set_cell(struct libscols_line *line, size_t index, const struct column *column,
		    const json_t *object)
{
	const json_t *value;
	char text[TEXT_MAX] = "";

	if (column->part)
		object = json_object_get(object, column->part);
	value = json_object_get(object, column->member);
	if (column->kind == COLUMN_TEXT)
		return set_text(line, index, json_string_value(value) ?: "");
	if (!json_is_integer(value))
		return 0;
	if (column->kind == COLUMN_AGO)
		print_ago(json_integer_value(value), text);
	else if (column->kind == COLUMN_AGE)
		print_wait(json_integer_value(value), text);
	else if (column->kind == COLUMN_US)
		snprintf(text, sizeof(text), "%.1f", json_integer_value(value) / 1e3);
	else if (column->kind == COLUMN_S)
		snprintf(text, sizeof(text), "%.1f", json_integer_value(value) / 1e9);
	else
		snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
	return scols_line_set_data(line, index, text);
}

/* Returns 0 or -errno. */
static int add_line(struct libscols_table *table, const struct column *columns,
		    const json_t *object)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	size_t i;
	int err = line ? 0 : -ENOMEM;

	for (i = 0; !err && columns[i].title; i++)
		err = set_cell(line, i, &columns[i], object);
	return err;
}

static int print_list(const json_t *objects, const struct column *columns, FILE *out)
{
	struct libscols_table *table = scols_new_table();
	int err = table ? scols_table_set_stream(table, out) ?:
			  scols_table_enable_noencoding(table, 1) :
			  -ENOMEM;
	size_t i;

	for (i = 0; !err && columns[i].title; i++) {
		if (!scols_table_new_column(table, columns[i].title, 0,
					    columns[i].kind == COLUMN_TEXT ? 0 : SCOLS_FL_RIGHT))
			err = -ENOMEM;
	}
	for (i = 0; !err && i < json_array_size(objects); i++)
		err = add_line(table, columns, json_array_get(objects, i));
	if (!err)
		err = scols_print_table(table);
	scols_unref_table(table);
	return err;
}

/* The error of the list of members may quote the file. */
static void print_shard_error(const char *error, FILE *out)
{
	char *escaped = error ? dart_escape__new(error, DART_ESCAPE_SENTENCE) : NULL;

	if (escaped)
		fprintf(out, "the last list of members counts, because its file %s\n", escaped);
	free(escaped);
}

static void print_controller(const json_t *controller, FILE *out)
{
	const json_t *targets = json_object_get(controller, "targets");
	const json_t *output = json_object_get(controller, "output");
	const json_t *shard = json_object_get(controller, "shard");
	char ago[TEXT_MAX];

	if (shard)
		fprintf(out,
			"member %lld of %lld; it scrapes %lld agents, stands by for %lld (%lld of them connected), and leaves %lld to the others\n",
			(long long)number_of(shard, "member"),
			(long long)number_of(shard, "members"), (long long)number_of(shard, "own"),
			(long long)number_of(shard, "standby"),
			(long long)number_of(targets, "standby"),
			(long long)number_of(shard, "left"));
	print_shard_error(json_string_value(json_object_get(shard, "error")), out);
	if (json_is_false(json_object_get(shard, "is_valid")))
		fputs("the list of members is not valid any more, so it scrapes nothing\n", out);
	print_ago(number_of(controller, "started_ns"), ago);
	fprintf(out,
		"up %lld of %lld agents; %lld scrapes, %lld failed, %lld missed, %lld dropped; up for %s, %.1f s of CPU time, %.1f MB\n",
		(long long)number_of(targets, "up"), (long long)number_of(controller, "wanted"),
		(long long)number_of(controller, "scrapes"),
		(long long)number_of(controller, "failed"),
		(long long)number_of(controller, "missed"),
		(long long)(number_of(controller, "dropped") + number_of(output, "dropped")), ago,
		(number_of(controller, "cpu_user_ns") + number_of(controller, "cpu_system_ns")) /
			1e9,
		number_of(controller, "resident_bytes") / 1e6);
}

int status_table__print(const json_t *status, FILE *out, struct dart_error *error)
{
	const json_t *sources = json_object_get(status, "sources");
	const json_t *outputs = json_object_get(status, "outputs");
	const json_t *threads = json_object_get(status, "threads");
	int err;

	err = print_list(json_object_get(status, "targets"), target_columns, out);
	if (!err && json_array_size(sources)) {
		fputc('\n', out);
		err = print_list(sources, source_columns, out);
	}
	if (!err && json_array_size(outputs)) {
		fputc('\n', out);
		err = print_list(outputs, output_columns, out);
	}
	if (!err && json_array_size(threads)) {
		fputc('\n', out);
		err = print_list(threads, thread_columns, out);
	}
	if (err)
		return dart_error__system(error, -err, "cannot print a table");
	fputc('\n', out);
	print_controller(json_object_get(status, "controller"), out);
	return 0;
}
