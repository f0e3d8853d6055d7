// SPDX-License-Identifier: GPL-2.0-only
/* The place of the control socket. */
#include "control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int control_socket__address(const char *path, const char *otherwise,
			    struct sockaddr_un *address,
			    struct dart_error *error)
{
	const char *directory = getenv("RUNTIME_DIRECTORY");
	int length;

	if (!directory || !*directory)
		directory = otherwise;
	if (!path && !directory)
		return 0;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (path)
		length = snprintf(address->sun_path, sizeof(address->sun_path),
				  "%s", path);
	else
		length = snprintf(address->sun_path, sizeof(address->sun_path),
				  "%.*s/control.sock",
				  (int)strcspn(directory, ":"), directory);
	if (length && length < (int)sizeof(address->sun_path))
		return 1;
	return dart_error__set(
		error, EINVAL,
		"'%.200s' is not the path of a socket (expected 1 to %zu characters)",
		path ?: directory, sizeof(address->sun_path) - 1);
}
