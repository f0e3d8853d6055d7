// SPDX-License-Identifier: GPL-2.0-only
/* Finds schemas of keys: dart_schema(5). */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/files.h>

#include "command.h"
#include "schemas.h"

#define OWN_DIRECTORY	"/etc/dart/schemas"
/* Relative to the directory of the program, both installed and in the build tree. */
#define THEIR_DIRECTORY	"../share/dart/schemas"

/* The user's own schemas come first. */
static FILE *open_file(const char *name, char *path, size_t size)
{
	char theirs[PATH_MAX];
	FILE *file;

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		return fopen(path, "re");
	}
	snprintf(path, size, OWN_DIRECTORY "/%s" DART_FILES_YAML, name);
	file = fopen(path, "re");
	if (file || errno != ENOENT)
		return file;
	dart_files__beside_program(THEIR_DIRECTORY, theirs);
	snprintf(path, size, "%s/%s" DART_FILES_YAML, theirs, name);
	return fopen(path, "re");
}

struct dart_key_schema *schemas__load(const char *name)
{
	struct dart_key_schema *schema = NULL;
	struct dart_error error;
	char path[PATH_MAX + NAME_MAX];
	char *names = NULL;
	FILE *file;
	int ret;

	file = open_file(name, path, sizeof(path));
	if (!file && errno == ENOENT && !strchr(name, '/')) {
		names = schemas__names();
		fail(ENOENT, "there is no schema '%s' (there are: %s)", name, names ? names : "?");
		free(names);
	} else if (!file) {
		fail(errno, "cannot open '%s': %s", path, strerror(errno));
	} else {
		ret = dart_key_schema__load(file, path, &schema, &error);
		if (ret)
			fail(-ret, "%s", error.text);
		fclose(file);
	}
	return schema;
}

bool schemas__has(const char *name)
{
	char path[PATH_MAX + NAME_MAX];
	FILE *file;

	if (strchr(name, '/'))
		return false;
	file = open_file(name, path, sizeof(path));
	if (file)
		fclose(file);
	return file;
}

int schemas__check_sum(const struct dart_key_schema *schema, const char *name)
{
	const struct dart_key_fields *value = &schema->value;
	const struct dart_key_field *field = value->list;

	if (value->count == 1 && field->type->kind == DART_KEY_NUMBER && field->count == 1 &&
	    field->type->width_max == sizeof(uint64_t) && !field->name_count)
		return EXIT_SUCCESS;
	return fail(EINVAL, "values of '%s' are no sums: one field of type u64", name);
}

/* Adds the names in @directory to @names, which it frees; returns a new string. */
static char *add_names(char *names, const char *directory)
{
	struct dirent **entries;
	int count, i;
	char *more;

	count = dart_files__list_yaml(directory, &entries);
	for (i = 0; i < count; i++) {
		more = NULL;
		if (names && asprintf(&more, "%s%s%.*s", names, *names ? " " : "",
				      (int)(strlen(entries[i]->d_name) - strlen(DART_FILES_YAML)),
				      entries[i]->d_name) < 0)
			more = NULL;
		free(names);
		names = more;
	}
	dart_files__free(entries, count);
	return names;
}

char *schemas__names(void)
{
	char theirs[PATH_MAX];
	char *names;

	names = add_names(strdup(""), OWN_DIRECTORY);
	dart_files__beside_program(THEIR_DIRECTORY, theirs);
	return add_names(names, theirs);
}
