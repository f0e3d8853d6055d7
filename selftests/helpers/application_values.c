// SPDX-License-Identifier: GPL-2.0-only
/*
 * application_values PID DIRECTORY: prints the values of a process, by the layout for its build-id
 * in DIRECTORY, as JSON: {"ENTRY": [{"FIELD": value, ...}, ...], ...}, a row each; for each line of
 * standard input once more.
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

#include "agent/application/process.h"
#include "agent/application/reader.h"

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
	int ret = application_process__build_id(pidfd, &id, error);

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

static int print_entry(json_t *entries, const struct dart_application_entry *entry,
		       const struct application_process *process, struct dart_error *error)
{
	const struct dart_schema *schema = entry->schema;
	struct application_reader *reader;
	uint8_t *rows = calloc(entry->rows, schema->length);
	json_t *list = json_array(), *row;
	uint32_t i, j;
	int ret = application_reader__new(&reader, entry, error);

	if (ret)
		return ret;
	ret = application_reader__read(reader, process, rows);
	if (ret)
		return dart_error__system(error, -ret, "entry '%s'", schema->name);
	for (i = 0; i < entry->rows; i++) {
		row = json_object();
		for (j = 0; j < schema->field_count; j++)
			json_object_set_new(row, schema->fields[j].name,
					    value_of(&schema->fields[j],
						     rows + i * schema->length));
		json_array_append_new(list, row);
	}
	json_object_set_new(entries, schema->name, list);
	application_reader__free(reader);
	free(rows);
	return 0;
}

int main(int argc, char **argv)
{
	struct dart_application_layout *layout;
	struct application_process process;
	struct dart_error error;
	char line[16];
	uint32_t i;
	int pidfd;

	if (argc != 3)
		return fail("expected PID DIRECTORY");
	pidfd = syscall(SYS_pidfd_open, atoi(argv[1]), 0);
	if (pidfd < 0)
		return fail(strerror(errno));
	if (load(argv[2], pidfd, &layout, &error) ||
	    application_process__attach(&process, pidfd, layout, &error))
		return fail(error.text);
	while (fgets(line, sizeof(line), stdin)) {
		json_t *entries = json_object();
		char *text;

		for (i = 0; i < layout->entry_count; i++)
			if (print_entry(entries, &layout->entries[i], &process, &error))
				return fail(error.text);
		text = dart_json__dumps(entries, JSON_COMPACT);
		puts(text);
		fflush(stdout);
		free(text);
		json_decref(entries);
	}
	return EXIT_SUCCESS;
}
