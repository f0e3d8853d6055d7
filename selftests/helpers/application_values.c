// SPDX-License-Identifier: GPL-2.0-only
/*
 * application_values PID DIRECTORY NAMES: prints the values of a process, by the layout for its
 * build-id in DIRECTORY, or by the memory that describes itself if DIRECTORY is "-", as JSON:
 * {"ENTRY": [{"FIELD": value, ...}, ...], ...}, a row each; and the series that dart-controller makes
 * of the entries "ENTRY@test", by the names in NAMES: "series": {"FAMILY{LABELS}": value, ...}.
 * Prints them for each line of standard input once more.  An entry with an instance is called
 * "ENTRY@test[INSTANCE]".
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <libdart/json.h>
#include <libdart/table/value.h>

#include "agent/application/mapped.h"
#include "agent/application/process.h"
#include "agent/application/reader.h"
#include "tools/controller/metrics/plan/plan_make.h"
#include "tools/controller/metrics/plan/points.h"

#define ENTRIES_MAX DART_VARNISH_SEGMENTS_MAX

/* What one pass has read: the entries as a controller has them after a scrape. */
struct pass {
	char names[ENTRIES_MAX][2 * DART_CONTROL_NAME_MAX];
	struct dart_entry entries[ENTRIES_MAX];
	struct sample_entry values[ENTRIES_MAX];
	struct dart_table table;
	struct sample sample;
};

static int fail(const char *why)
{
	fprintf(stderr, "application_values: %s\n", why);
	return EXIT_FAILURE;
}

static int load(const char *directory, int pidfd, struct dart_application_layout **layout,
		struct dart_error *error)
{
	char text[2 * DART_APPLICATION_BUILD_ID_MAX + 1], path[PATH_MAX];
	struct dart_application_build_id id;
	FILE *file;
	int ret = application_process__build_id(pidfd, &id, NULL, error);

	if (ret)
		return ret;
	dart_application_build_id__print(&id, text);
	snprintf(path, sizeof(path), "%s/%s.yaml", directory, text);
	file = fopen(path, "re");
	if (!file)
		return dart_error__system(error, errno, "no layout '%s'", path);
	ret = dart_application_layout__load(file, path, layout, error);
	fclose(file);
	return ret;
}

static json_t *value_of(const struct dart_field *field, const void *row)
{
	json_t *array;
	uint32_t i;

	if (field->kind == DART_CONTROL_FIELD_TEXT)
		return dart_text__to_json((const uint8_t *)row + field->offset, field->width);
	array = json_array();
	for (i = 0; i < field->count; i++) {
		const uint64_t value = dart_field__get(field, row, i);

		json_array_append_new(array, field->is_signed ? json_integer(value) :
								dart_json__unsigned(value));
	}
	if (field->count == 1) {
		json_t *only = json_incref(json_array_get(array, 0));

		json_decref(array);
		return only;
	}
	return array;
}

static int read_entry(struct pass *pass, uint32_t index, const struct dart_application_entry *entry,
		      const struct application_process *process, struct dart_error *error)
{
	const struct dart_schema *schema = entry->schema;
	struct application_reader *reader;
	uint8_t *rows = calloc(entry->rows, schema->length);
	int ret = application_reader__new(&reader, entry, error);

	if (ret)
		return ret;
	ret = application_reader__read(reader, process, rows, NULL, 0);
	application_reader__free(reader);
	if (ret)
		return dart_error__system(error, -ret, "entry '%s'", schema->name);
	snprintf(pass->names[index], sizeof(pass->names[index]),
		 entry->instance ? "%s@test[%s]" : "%s@test", schema->name, entry->instance);
	pass->entries[index] = (struct dart_entry){
		.name = pass->names[index],
		.schema = schema,
		.kind = DART_CONTROL_ENTRY_SOURCE,
		.copies_are = entry->rows > 1 ? DART_CONTROL_COPIES_ROW : DART_CONTROL_COPIES_SUM,
		.copies = entry->rows,
	};
	pass->values[index] =
		(struct sample_entry){ .entry = &pass->entries[index], .copies = rows };
	return 0;
}

static int pass__read(struct pass *pass, const struct dart_application_layout *layout,
		      const struct application_process *process, struct dart_error *error)
{
	uint32_t i;
	int ret = 0;

	*pass = (struct pass){
		.table = { .entries = pass->entries, .entry_count = layout->entry_count },
		.sample = { .table = &pass->table,
			    .entries = pass->values,
			    .entry_count = layout->entry_count,
			    .head = { .sequence = 1, .time_ns = 1, .start_ns = 1, .landed_ns = 1 } },
	};
	for (i = 0; !ret && i < layout->entry_count; i++)
		ret = read_entry(pass, i, &layout->entries[i], process, error);
	return ret;
}

static json_t *rows_of(const struct sample_entry *values)
{
	const struct dart_schema *schema = values->entry->schema;
	json_t *list = json_array(), *row;
	uint32_t i, j;

	for (i = 0; i < values->entry->copies; i++) {
		row = json_object();
		for (j = 0; j < schema->field_count; j++)
			json_object_set_new(
				row, schema->fields[j].name,
				value_of(&schema->fields[j],
					 (uint8_t *)values->copies + i * schema->length));
		json_array_append_new(list, row);
	}
	return list;
}

/* The series that have a value. */
static json_t *series_of(const struct pass *pass, struct names *names)
{
	struct metric_plan *plan;
	struct points points = {};
	json_t *all = json_object();
	char text[4096];
	uint32_t i;

	if (metric_plan__new(names, &pass->sample, &plan) ||
	    points__prepare(&points, plan, &pass->sample))
		exit(fail("no memory"));
	points__evaluate(&points, plan, &pass->sample);
	for (i = 0; i < plan->series_count; i++) {
		snprintf(text, sizeof(text), "%s{%s}", plan->series[i].name, plan->series[i].text);
		if (points.points[i].time_ns)
			json_object_set_new(all, text, json_real(points.points[i].value));
	}
	points__free(&points);
	metric_plan__put(plan);
	return all;
}

/* "ENTRY", or "ENTRY@test[INSTANCE]" */
static const char *pass__key(const struct pass *pass, uint32_t index)
{
	return strchr(pass->names[index], '[') ? pass->names[index] :
						 pass->entries[index].schema->name;
}

static void pass__print(const struct pass *pass, struct names *names)
{
	json_t *all = json_object();
	char *text;
	uint32_t i;

	for (i = 0; i < pass->sample.entry_count; i++)
		json_object_set_new(all, pass__key(pass, i), rows_of(&pass->values[i]));
	json_object_set_new(all, "series", series_of(pass, names));
	text = dart_json__dumps(all, JSON_COMPACT);
	puts(text);
	fflush(stdout);
	free(text);
	json_decref(all);
	for (i = 0; i < pass->sample.entry_count; i++)
		free(pass->values[i].copies);
}

int main(int argc, char **argv)
{
	struct dart_application_layout *layout;
	struct application_process process;
	struct dart_error error;
	static struct pass pass;
	struct names *names;
	char line[16];
	int pidfd;

	if (argc != 4)
		return fail("expected PID DIRECTORY NAMES");
	pidfd = syscall(SYS_pidfd_open, atoi(argv[1]), 0);
	if (pidfd < 0)
		return fail(strerror(errno));
	if (strcmp(argv[2], "-") ?
		    load(argv[2], pidfd, &layout, &error) :
		    application_mapped__describe(pidfd, APPLICATION_FORMAT_ANY, &layout, &error))
		return fail(error.text);
	if (names__load(argv[3], &names, &error) ||
	    application_process__attach(&process, pidfd, layout, &error))
		return fail(error.text);
	while (fgets(line, sizeof(line), stdin)) {
		if (pass__read(&pass, layout, &process, &error))
			return fail(error.text);
		pass__print(&pass, names);
	}
	return EXIT_SUCCESS;
}
