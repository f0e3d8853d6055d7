// SPDX-License-Identifier: GPL-2.0-only
/* Finds the paths of descriptors, and opens objects again. */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <libdart/configuration/object.h>

#include "object.h"

char *object__path(int fd)
{
	static const char deleted[] = " (deleted)";
	char link[32], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path));
	if (length <= 0 || length == sizeof(path) || *path != '/')
		return NULL;
	path[length] = '\0';
	if (length >= (ssize_t)sizeof(deleted) &&
	    !strcmp(path + length + 1 - sizeof(deleted), deleted))
		return NULL;
	return strdup(path);
}

static int open_map(const json_t *map_id, bool is_same_boot, int *fd, struct dart_error *error)
{
	if (!is_same_boot)
		return dart_error__set(error, ENOENT,
				       "the map was not pinned: it ended when the host went down");
	*fd = bpf_map_get_fd_by_id(json_integer_value(map_id));
	if (*fd >= 0)
		return 0;
	return dart_error__set(error, -*fd,
			       "map %" JSON_INTEGER_FORMAT " no longer exists (register it again)",
			       json_integer_value(map_id));
}

int object__open(const struct registration *registration, bool is_same_boot,
		 int *fd, struct dart_error *error)
{
	const json_t *map_id = json_object_get(registration->kept, "map_id");
	const char *netns = json_string_value(json_object_get(registration->request, "netns"));
	int ret;

	*fd = -1;
	/* dartd finds the file system among the mounts of PID 1, and opens no file. */
	if (json_object_get(registration->request, "filesystem"))
		return 0;
	if (registration->path) {
		ret = dart_configuration__open_object(
			registration->request, registration->path, fd, error);
		if (!ret || !map_id || !is_same_boot)
			return ret;
	}
	if (map_id)
		return open_map(map_id, is_same_boot, fd, error);
	if (netns && !strncmp(netns, "net:", 4) && !is_same_boot)
		return dart_error__set(
			error, ENOENT,
			"the network namespace belonged to a process that ended when the host went down");
	return 0;
}
