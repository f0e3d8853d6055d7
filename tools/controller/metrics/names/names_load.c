// SPDX-License-Identifier: GPL-2.0-only
/* Loads names of metrics from YAML files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/files.h>

#include "names_family.h"

/* Bounds the files of a directory, and so the names that a plan looks for in each entry. */
#define FILES_MAX 1000

static int take_family(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return names_family__take(yaml, node, into);
}

/* Copies the path of a file, which must live as long as @loaded; NULL if memory ran out. */
static const char *keep_path(struct loaded_names *loaded, const char *path)
{
	return arena__copy(&loaded->arena, path, strlen(path));
}

static int take_file(struct dart_yaml *yaml, const yaml_node_t *root, struct loaded_names *loaded)
{
	struct names_file file = { .loaded = loaded, .path = yaml->path };
	int ret;

	if (!root)
		return 0;
	ret = dart_yaml__take_list(yaml, root, take_family, &file);
	dart_yaml__close(yaml);
	return ret;
}

int names__parse(const void *bytes, size_t length, const char *path, struct names **names,
		 struct dart_error *error)
{
	struct loaded_names *loaded = loaded_names__new();
	const char *kept = loaded ? keep_path(loaded, path) : NULL;
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret;

	if (!loaded)
		return dart_error__no_memory(error);
	ret = !kept ? dart_error__no_memory(error) :
	      dart_yaml__parse(&yaml, bytes, length, kept, &root, error) ?:
		      take_file(&yaml, root, loaded);
	if (ret)
		loaded_names__free(loaded);
	else
		*names = &loaded->names;
	return ret;
}

static int load_file(struct loaded_names *loaded, const char *path, struct dart_error *error)
{
	FILE *file = fopen(path, "re");
	const yaml_node_t *root;
	struct dart_yaml yaml;
	const char *kept;
	int ret;

	if (!file)
		return dart_error__system(error, errno, "cannot open '%s'", path);
	kept = keep_path(loaded, path);
	ret = !kept ? dart_error__no_memory(error) :
	      dart_yaml__load(&yaml, file, kept, NULL, &root, error) ?:
								       take_file(&yaml, root, loaded);
	fclose(file);
	return ret;
}

static int load_files(struct loaded_names *loaded, const char *directory, struct dirent **entries,
		      int count, struct dart_error *error)
{
	char path[PATH_MAX + NAME_MAX + 2];
	int i, ret = 0;

	if (!count)
		return dart_error__set(error, ENOENT,
				       "'%s' has no file *" DART_FILES_YAML
				       " with names of metrics (name another directory)",
				       directory);
	if (count > FILES_MAX)
		return dart_error__set(error, E2BIG,
				       "'%s' has more than %d files *" DART_FILES_YAML, directory,
				       FILES_MAX);
	for (i = 0; i < count && !ret; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		ret = load_file(loaded, path, error);
	}
	return ret;
}

int names__load(const char *directory, struct names **names, struct dart_error *error)
{
	struct loaded_names *loaded;
	struct dirent **entries;
	int count, ret;

	count = dart_files__list_yaml(directory, &entries);
	if (count < 0)
		return dart_error__system(error, -count,
					  "cannot list '%s', where the names of metrics are",
					  directory);
	loaded = loaded_names__new();
	if (loaded)
		ret = load_files(loaded, directory, entries, count, error);
	else
		ret = dart_error__no_memory(error);
	dart_files__free(entries, count);
	if (ret)
		loaded_names__free(loaded);
	else
		*names = &loaded->names;
	return ret;
}
