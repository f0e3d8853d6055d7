/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: who connects and writes "status\n" reads the report of
 * status_report.h.  Clients are strangers that may be slow or silent: they are few, and none
 * of them delays a scrape.  For the event loop's thread only.
 */
#ifndef CONTROLLER_STATUS_SERVER_H
#define CONTROLLER_STATUS_SERVER_H

#include <sys/un.h>

#include <libdart/error.h>

#include "tools/controller/fleet/target.h"
#include "tools/controller/outputs/output.h"

/* A request is a line of at most so many bytes, an answer a JSON object and the end. */
#define CONTROL_SOCKET_REQUEST_MAX 64
#define CONTROL_SOCKET_STATUS "status\n"

/*
 * The address of @path; NULL: control.sock in the first directory of RUNTIME_DIRECTORY,
 * which systemd sets, or else in @otherwise.  Returns 1; 0 if both are NULL; or -EINVAL with
 * a sentence in @error.
 */
int control_socket__address(const char *path, const char *otherwise, struct sockaddr_un *address,
			    struct dart_error *error);

struct status_server;

/*
 * Listens at @path, or as control_socket__address() says; without either, @server is NULL.
 * @context has a fleet, which ends after the server.  Returns 0, or -errno with a sentence in
 * @error: -EADDRINUSE if another controller listens there.
 */
int status_server__new(struct target_context *context, const struct output *output,
		       const char *path, struct status_server **server, struct dart_error *error);
/* Removes the socket.  NULL is allowed. */
void status_server__free(struct status_server *server);

#endif /* CONTROLLER_STATUS_SERVER_H */
