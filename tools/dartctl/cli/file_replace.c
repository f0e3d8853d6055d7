// SPDX-License-Identifier: GPL-2.0-only
/* Replaces a file in one step. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file_replace.h"

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);
	ssize_t written;

	while (left) {
		written = write(fd, text, left);
		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			text += written;
			left -= written;
		}
	}
	/* A crash of the host must not leave an empty file behind. */
	return fsync(fd) ? -errno : 0;
}

int file_replace(const char *path, const char *text, struct dart_error *error)
{
	char other[PATH_MAX];
	int fd, ret;

	if (snprintf(other, sizeof(other), "%s.new", path) >= (int)sizeof(other))
		return dart_error__system(error, ENAMETOOLONG, "'%s'", path);
	/* Left by a process that was killed; O_EXCL does not follow links. */
	unlink(other);
	fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot create '%s'", other);
	ret = write_all(fd, text);
	close(fd);
	if (!ret && !rename(other, path))
		return 0;
	ret = dart_error__system(error, ret ? -ret : errno, "cannot write '%s'", path);
	unlink(other);
	return ret;
}
