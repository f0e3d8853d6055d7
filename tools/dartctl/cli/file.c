// SPDX-License-Identifier: GPL-2.0-only
/* Files that commands write, see file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libdart/configuration/object.h>
#include <libdart/files.h>

#include "file.h"
#include "message.h"

/* ---- files that replace others */

static int name_new(char new[static PATH_MAX], const char *path, struct dart_error *error)
{
	if (snprintf(new, PATH_MAX, "%s.new", path) < PATH_MAX)
		return 0;
	return dart_error__system(error, ENAMETOOLONG, "'%s'", path);
}

/*
 * Does another process need the file at @path?  rename() would take the place of a device, a pipe or
 * /dev/stdout for the whole machine.
 */
static bool is_special(const char *path)
{
	char target[sizeof("/proc/")] = "";
	struct stat status;

	if (!stat(path, &status) && !S_ISREG(status.st_mode))
		return true;
	return readlink(path, target, strlen("/proc/")) > 0 && !strcmp(target, "/proc/");
}

/* Creates the file that will replace @path.  Returns a descriptor or -errno. */
static int create_new(char new[static PATH_MAX], const char *path, struct dart_error *error)
{
	int ret = is_special(path) ?
			  dart_error__set(error, EINVAL,
					  "'%s' is not a regular file, and would be replaced",
					  path) :
			  name_new(new, path, error);
	int fd;

	if (ret)
		return ret;
	/* A process that was killed may have left one; O_EXCL does not follow links. */
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? dart_error__system(error, errno, "cannot create '%s'", new) : fd;
}

static int write_all(int fd, const char *text)
{
	int ret = dart_files__write(fd, text, strlen(text));

	/* After a crash of the host, the file must not be empty. */
	return ret ?: fsync(fd) ? -errno : 0;
}

/* Gives @fd the owner, group and mode of @former. */
static int copy_mode(int fd, const struct stat *former)
{
	mode_t mode = former->st_mode & 0777;

	/* Only root may give a file away; a group that is not the same must not get rights. */
	if (fchown(fd, former->st_uid, former->st_gid) && fchown(fd, -1, former->st_gid))
		mode &= ~0070;
	return fchmod(fd, mode) ? -errno : 0;
}

static int replace(const char *path, const char *text, const struct stat *former,
		   struct dart_error *error)
{
	char new[PATH_MAX];
	int fd = create_new(new, path, error), ret;

	if (fd < 0)
		return fd;
	ret = write_all(fd, text) ?: former ? copy_mode(fd, former) : 0;
	close(fd);
	if (!ret && !rename(new, path))
		return 0;
	ret = dart_error__system(error, ret ? -ret : errno, "cannot write '%s'", path);
	unlink(new);
	return ret;
}

int file__replace(const char *path, const char *text, struct dart_error *error)
{
	return replace(path, text, NULL, error);
}

int file__change(const char *path, const char *text, struct dart_error *error)
{
	struct stat former;
	const bool is_there = !lstat(path, &former) && S_ISREG(former.st_mode);

	return replace(path, text, is_there ? &former : NULL, error);
}

int file__create(const char *path, const char *text, struct dart_error *error)
{
	char new[PATH_MAX];
	int fd, ret;

	if (snprintf(new, sizeof(new), "%s.XXXXXX", path) >= PATH_MAX)
		return dart_error__system(error, ENAMETOOLONG, "'%s'", path);
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot create '%s'", path);
	ret = write_all(fd, text);
	close(fd);
	/* link() never replaces. */
	if (!ret && link(new, path))
		ret = -errno;
	unlink(new);
	return ret ? dart_error__system(error, -ret, "cannot create '%s'", path) : 0;
}

int file__begin_output(const char *path, struct dart_error *error)
{
	char new[PATH_MAX];
	int fd = create_new(new, path, error), ret;

	if (fd < 0)
		return fd;
	/* An error in JSON would go into the file, which is removed then. */
	fail__keep_output();
	ret = dup2(fd, STDOUT_FILENO) < 0 ? -errno : 0;
	close(fd);
	if (!ret)
		return 0;
	unlink(new);
	return dart_error__system(error, -ret, "cannot write '%s'", new);
}

int file__end_output(const char *path, bool has_failed, struct dart_error *error)
{
	char new[PATH_MAX];
	int ret = name_new(new, path, error);

	if (ret)
		return ret;
	/* After a crash of the host, the file must not be empty. */
	if (!has_failed && !fflush(stdout) && !ferror(stdout) && !fsync(STDOUT_FILENO) &&
	    !rename(new, path))
		return 0;
	ret = has_failed ? 0 : dart_error__system(error, errno ?: EIO, "cannot write '%s'", path);
	unlink(new);
	return ret;
}

/* ---- memory of stores and lookup tables */

int file__open_memory(const char *path, char full[static PATH_MAX], bool *is_new)
{
	struct dart_error error;
	int fd = dart_object__open_file(path, is_new, &error);

	if (fd < 0) {
		fail(-fd, "%s", error.text);
		return -1;
	}
	if (!realpath(path, full)) {
		fail(errno, "cannot find '%s': %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

int file__map(int fd, uint64_t least, void **memory, size_t *length)
{
	struct stat status;

	if (fd < 0)
		return -EPROTO;
	if (fstat(fd, &status))
		return -errno;
	if (status.st_size < 0 || (uint64_t)status.st_size < least)
		return -EPROTO;
	*length = status.st_size;
	*memory = mmap(NULL, *length, PROT_READ, MAP_SHARED, fd, 0);
	return *memory == MAP_FAILED ? -errno : 0;
}
