// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the files of a configuration. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/configuration/configuration_loader_internal.h>
#include <libdart/files.h>

#define FILES_MAX 4096

/* Refuses a file that every user may change. */
static int check_mode(const char *path, const struct stat *status, struct dart_error *error)
{
	if (!(status->st_mode & S_IWOTH))
		return 0;
	return dart_error__set(
		error, EPERM,
		"%s: every user may write to it (chmod o-w %s, after a look at what is in it)",
		path, path);
}

static int open_file(const char *path, struct dart_error *error)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	int ret;

	if (fd < 0 || fstat(fd, &status))
		ret = dart_error__system(error, errno, "%s: cannot read it", path);
	else if (!S_ISREG(status.st_mode))
		ret = dart_error__set(error, EINVAL, "%s: not a regular file", path);
	else
		ret = check_mode(path, &status, error);
	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	return ret;
}

/*
 * Tells a mistake of a whole file, and returns @ret.  A missing file is not told: it may be
 * optional.
 */
static int tell(const struct dart_configuration_loader *loader, int ret,
		const struct dart_error *error)
{
	const struct dart_yaml_mistakes *mistakes = loader->mistakes;

	if (ret && ret != -ENOENT && mistakes)
		mistakes->tell(mistakes->subject, error->text);
	return ret;
}

/* Should loading go on after a file returned @ret? */
static bool goes_on(const struct dart_configuration_loader *loader, int ret)
{
	return !ret || (ret != -ENOMEM && loader->mistakes);
}

static int load(struct dart_configuration_loader *loader, const char *path,
		struct dart_error *error)
{
	int fd = open_file(path, error), ret;
	const yaml_node_t *root;
	struct dart_yaml yaml;
	FILE *file;

	if (fd < 0)
		return tell(loader, fd, error);
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return dart_error__no_memory(error);
	}
	ret = dart_yaml__load(&yaml, file, path, NULL, &root, error);
	if (!ret) {
		yaml.mistakes = loader->mistakes;
		if (root)
			ret = dart_configuration__take(&yaml, root, loader);
		dart_yaml__close(&yaml);
	} else {
		tell(loader, ret, error);
	}
	fclose(file);
	return ret;
}

/* Names the files in @directory; none if there is no such directory. */
static int list_files(const char *directory, struct dirent ***entries, struct dart_error *error)
{
	struct stat status;
	int count, ret;

	*entries = NULL;
	count = dart_files__list_yaml(directory, entries);
	if (count == -ENOENT)
		return 0;
	if (count < 0)
		return dart_error__system(error, -count, "%s: cannot read it", directory);
	if (stat(directory, &status))
		ret = dart_error__system(error, errno, "%s: cannot read it", directory);
	else if (count > FILES_MAX)
		ret = dart_error__set(error, E2BIG, "%s: more than %d files (merge some)",
				      directory, FILES_MAX);
	else
		ret = check_mode(directory, &status, error);
	if (!ret)
		return count;
	dart_files__free(*entries, count);
	return ret;
}

static int load_named(struct dart_configuration_loader *loader, const char *directory,
		      const char *name, struct dart_error *error)
{
	char path[PATH_MAX];
	int ret;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return tell(loader,
			    dart_error__set(error, ENAMETOOLONG, "%s: its path is too long", name),
			    error);
	ret = load(loader, path, error);
	/* The directory listed this file, so a dangling link is a mistake. */
	if (ret == -ENOENT && loader->mistakes)
		ret = tell(loader, -EIO, error);
	return ret;
}

/* Returns the number of files, or -errno. */
static int load_directory(struct dart_configuration_loader *loader,
			  const char *directory, struct dart_error *error)
{
	struct dirent **entries;
	int i, count, ret = 0;

	count = list_files(directory, &entries, error);
	if (count < 0)
		return count == -ENOENT ? count : tell(loader, count, error);
	for (i = 0; i < count && goes_on(loader, ret); i++)
		ret = load_named(loader, directory, entries[i]->d_name, error) ?: ret;
	dart_files__free(entries, count);
	return ret ?: count;
}

/* Loads the files of the directory that belongs to @file.  Returns their number, or -errno. */
static int load_beside(struct dart_configuration_loader *loader,
		       const char *file, struct dart_error *error)
{
	int length = strlen(file) - strlen(DART_FILES_YAML);
	char directory[PATH_MAX];

	if (length <= 0 || strcmp(file + length, DART_FILES_YAML))
		return 0;
	if (snprintf(directory, sizeof(directory), "%.*s.d", length, file) >=
	    (int)sizeof(directory))
		return dart_error__set(error, ENAMETOOLONG, "%s: its path is too long", file);
	return load_directory(loader, directory, error);
}

static int load_all(struct dart_configuration_loader *loader, const char *file,
		    struct dart_error *error)
{
	struct dart_error beside;
	int ret, count;

	ret = load(loader, file, error);
	if (ret != -ENOENT && !goes_on(loader, ret))
		return ret;
	count = load_beside(loader, file, &beside);
	if (count < 0) {
		*error = beside;
		/* A dangling link is a mistake, not a missing configuration. */
		return count == -ENOENT ? -EIO : count;
	}
	return count && ret == -ENOENT ? 0 : ret;
}

/* @take: load() or load_all() */
static int read_with(struct dart_configuration *configuration,
		     int (*take)(struct dart_configuration_loader *loader,
				 const char *file, struct dart_error *error),
		     const char *file, const struct dart_yaml_mistakes *mistakes,
		     struct dart_error *error)
{
	struct dart_configuration_loader loader = {
		.configuration = configuration,
		.places = json_object(),
		.mistakes = mistakes,
	};
	int ret;

	*configuration = (struct dart_configuration){};
	ret = loader.places ? take(&loader, file, error) : dart_error__no_memory(error);
	json_decref(loader.places);
	return ret;
}

int dart_configuration__load(struct dart_configuration *configuration,
			     const char *file, struct dart_error *error)
{
	int ret = read_with(configuration, load_all, file, NULL, error);

	if (ret)
		dart_configuration__close(configuration);
	return ret;
}

int dart_configuration__load_file(struct dart_configuration *configuration,
				  const char *file, struct dart_error *error)
{
	int ret = read_with(configuration, load, file, NULL, error);

	if (ret)
		dart_configuration__close(configuration);
	return ret;
}

int dart_configuration__check(struct dart_configuration *configuration, const char *file,
			      void (*tell)(void *subject, const char *sentence), void *subject,
			      struct dart_error *error)
{
	const struct dart_yaml_mistakes mistakes = { .tell = tell, .subject = subject };

	return read_with(configuration, load_all, file, &mistakes, error);
}
