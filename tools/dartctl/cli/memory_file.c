// SPDX-License-Identifier: GPL-2.0-only
/* Opens files that are the memory of a store or a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/configuration/object.h>

#include "memory_file.h"
#include "message.h"

int memory_file__open(const char *path, char full[static PATH_MAX], bool *is_new)
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
