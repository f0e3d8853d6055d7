/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the control socket of a controller is. */
#ifndef CONTROLLER_CONTROL_SOCKET_H
#define CONTROLLER_CONTROL_SOCKET_H

#include <sys/un.h>

#include <libdart/error.h>

/* A request is a line of at most so many bytes, an answer a JSON object and the end. */
#define CONTROL_SOCKET_REQUEST_MAX 64
#define CONTROL_SOCKET_STATUS "status\n"

/*
 * The address of @path; NULL: control.sock in the first directory of RUNTIME_DIRECTORY,
 * which systemd sets, or else in @otherwise.  Returns 1; 0 if both are NULL; or -EINVAL with
 * a sentence in @error.
 */
int control_socket__address(const char *path, const char *otherwise,
			    struct sockaddr_un *address,
			    struct dart_error *error);

#endif /* CONTROLLER_CONTROL_SOCKET_H */
