// SPDX-License-Identifier: GPL-2.0-only
/* Prints into a new file that replaces the named file at the end. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "output_file.h"

static int name_new(char new[static PATH_MAX], const char *path, struct dart_error *error)
{
	if (snprintf(new, PATH_MAX, "%s.new", path) < PATH_MAX)
		return 0;
	return dart_error__system(error, ENAMETOOLONG, "'%s'", path);
}

int output_file__begin(const char *path, struct dart_error *error)
{
	char new[PATH_MAX];
	int ret = name_new(new, path, error), fd;

	if (ret)
		return ret;
	/* Left by a process that was killed; O_EXCL does not follow links. */
	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot create '%s'", new);
	ret = dup2(fd, STDOUT_FILENO) < 0 ? -errno : 0;
	close(fd);
	if (!ret)
		return 0;
	unlink(new);
	return dart_error__system(error, -ret, "cannot write '%s'", new);
}

int output_file__end(const char *path, bool has_failed, struct dart_error *error)
{
	char new[PATH_MAX];
	int ret = name_new(new, path, error);

	if (ret)
		return ret;
	/* A crash of the host must not leave an empty file behind. */
	if (!has_failed && !fflush(stdout) && !ferror(stdout) &&
	    !fsync(STDOUT_FILENO) && !rename(new, path))
		return 0;
	ret = has_failed ? 0 :
			   dart_error__system(error, errno ?: EIO,
					      "cannot write '%s'", path);
	unlink(new);
	return ret;
}
