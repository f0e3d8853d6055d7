/* SPDX-License-Identifier: GPL-2.0-only */
/* Configuration files in a directory of the test's own. */
#ifndef CONFIGURATION_FILES_H
#define CONFIGURATION_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/configuration/configuration.h>

#include "selftests/unit/unit.h"

/* The directory of write_file(), and the working directory before. */
static struct {
	char directory[64];
	int before;
} files;

static struct dart_configuration configuration;
static struct dart_error error;

static inline int enter_directory(void **state)
{
	strcpy(files.directory, "/tmp/dart.XXXXXX");
	files.before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return files.before < 0 || !mkdtemp(files.directory) ||
	       chdir(files.directory) || mkdir("f.d", 0755);
}

static inline int leave_directory(void **state)
{
	char command[128];

	dart_configuration__close(&configuration);
	snprintf(command, sizeof(command), "rm -r %s", files.directory);
	return fchdir(files.before) || close(files.before) || system(command);
}

static inline void write_file(const char *name, const void *bytes, size_t length)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* Loads f.yaml with @text, and whatever is in f.d. */
static inline int load(const char *text)
{
	write_file("f.yaml", text, strlen(text));
	dart_configuration__close(&configuration);
	return dart_configuration__load(&configuration, "f.yaml", &error);
}

/* The items as lines: request, path. */
static inline char *list_items(void)
{
	struct dart_configuration_item *item;
	char *text, *request;
	size_t length, i;
	FILE *file = open_memstream(&text, &length);

	for (i = 0; i < configuration.item_count; i++) {
		item = &configuration.items[i];
		request = json_dumps(item->request, JSON_COMPACT);
		fprintf(file, "%s %s\n", request, item->path ?: "-");
		free(request);
	}
	fclose(file);
	return text;
}

static inline void assert_items(const char *expected)
{
	char *text = list_items();

	assert_string_equal(text, expected);
	free(text);
}

#endif /* CONFIGURATION_FILES_H */
