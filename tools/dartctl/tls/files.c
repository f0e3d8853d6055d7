// SPDX-License-Identifier: GPL-2.0-only
/* Writes files of certificates and keys: see files.h. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/files.h>

static int path_of(char path[static PATH_MAX], const char *directory, const char *name,
		   const char *suffix, struct dart_error *error)
{
	if (snprintf(path, PATH_MAX, "%s/%s%s", directory, name, suffix) < PATH_MAX)
		return 0;
	return dart_error__set(error, ENAMETOOLONG, "the path of '%s' is too long", name);
}

int tls_files__make_directory(const char *directory, mode_t mode, struct dart_error *error)
{
	if (!mkdir(directory, mode) || errno == EEXIST)
		return 0;
	return dart_error__system(error, errno, "cannot create '%s'", directory);
}

bool tls_files__exist(const char *directory, const char *name)
{
	struct dart_error error;
	struct stat status;
	char path[PATH_MAX];

	return !path_of(path, directory, name, "", &error) && !lstat(path, &status);
}

int tls_files__check_group(const char *group, struct dart_error *error)
{
	if (geteuid() || getgrnam(group))
		return 0;
	return dart_error__set(
		error, ENOENT,
		"there is no group '%s', which shall read the key (install %s first, or choose a --directory of your own)",
		group, strcmp(group, "dart") ? group : "dartd");
}

static int give_to_group(int fd, const char *group, struct dart_error *error)
{
	struct group *found;
	int ret = tls_files__check_group(group, error);

	if (ret || geteuid())
		return ret;
	found = getgrnam(group);
	if (!found || fchown(fd, 0, found->gr_gid) || fchmod(fd, 0640))
		return dart_error__system(error, errno, "cannot give the key to group '%s'", group);
	return 0;
}

/* Mode 0600 from the first byte: only this user can open the file while it is written. */
static int write_new(const char *path, const struct tls_file *file, struct dart_error *error)
{
	int fd, ret;

	/* A process that was killed may have left one; O_EXCL does not follow links. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot create '%s'", path);
	ret = dart_files__write(fd, file->text->data, file->text->size);
	if (!ret && fsync(fd))
		ret = -errno;
	if (!ret && !file->is_private && fchmod(fd, 0644))
		ret = -errno;
	if (ret)
		dart_error__system(error, -ret, "cannot write '%s'", path);
	else if (file->group)
		ret = give_to_group(fd, file->group, error);
	close(fd);
	if (ret)
		unlink(path);
	return ret;
}

static int put_in_place(const char *from, const char *to, bool may_replace,
			struct dart_error *error)
{
	int ret = 0;

	/* link() never replaces, rename() does. */
	if (may_replace ? rename(from, to) : link(from, to))
		ret = dart_error__system(error, errno, "cannot create '%s'", to);
	if (!may_replace || ret)
		unlink(from);
	return ret;
}

static int write_all(const char *directory, const struct tls_file *files, size_t count,
		     bool may_replace, struct dart_error *error)
{
	char from[PATH_MAX], to[PATH_MAX];
	size_t i, written;
	int ret = 0;

	for (i = 0; i < count && !may_replace; i++)
		if (tls_files__exist(directory, files[i].name))
			return dart_error__set(error, EEXIST,
					       "'%s/%s' is there already (--replace replaces it)",
					       directory, files[i].name);
	for (written = 0; written < count && !ret; written++)
		ret = path_of(from, directory, files[written].name, ".new", error) ?:
			      write_new(from, &files[written], error);
	for (i = 0; i < count && !ret; i++)
		ret = path_of(from, directory, files[i].name, ".new", error) ?:
			      path_of(to, directory, files[i].name, "", error) ?:
			      put_in_place(from, to, may_replace, error);
	/* After a failure, remove the files that were not renamed. */
	for (i = 0; i < written && ret; i++)
		if (!path_of(from, directory, files[i].name, ".new", &(struct dart_error){}))
			unlink(from);
	return ret;
}

int tls_files__write(const char *directory, const struct tls_file *files,
		     size_t count, bool may_replace, struct dart_error *error)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	/* Commands that run at once would use the same names of files that are not complete. */
	if (fd < 0 || flock(fd, LOCK_EX)) {
		ret = dart_error__system(error, errno, "cannot lock '%s'", directory);
	} else {
		ret = write_all(directory, files, count, may_replace, error);
		if (!ret && fsync(fd))
			ret = dart_error__system(error, errno, "cannot write to '%s'", directory);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

int tls_files__read(const char *directory, const char *name,
		    gnutls_datum_t *text, struct dart_error *error)
{
	char path[PATH_MAX];
	int ret = path_of(path, directory, name, "", error);

	if (ret)
		return ret;
	errno = 0;
	ret = gnutls_load_file(path, text);
	if (ret >= 0)
		return 0;
	return dart_error__system(error, errno ?: EIO, "cannot read '%s'", path);
}
