/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: a client that connects and writes "status\n" reads the report of
 * status_report.h.  Clients are strangers that may be slow or silent, so their number is limited
 * and no scrape waits for them.  Call all functions in the thread of the event loop.
 */
#ifndef CONTROLLER_STATUS_SERVER_H
#define CONTROLLER_STATUS_SERVER_H

#include <sys/un.h>

#include <libdart/error.h>

#include "tools/controller/fleet/target.h"
#include "tools/controller/outputs/output.h"

/*
 * A request is a line of at most so many bytes.  The answer is a JSON object, and then the server
 * closes the connection.
 */
#define CONTROL_SOCKET_REQUEST_MAX 64
#define CONTROL_SOCKET_STATUS "status\n"
/* The answer is the member "shard" of the controller alone, or null if it has no shard. */
#define CONTROL_SOCKET_SHARD "shard\n"

/*
 * Makes the address of @path.  NULL stands for control.sock in the first directory of
 * RUNTIME_DIRECTORY, which systemd sets, or in @otherwise without that.  Returns 1; 0 if there is
 * neither; or -EINVAL with a sentence in @error.
 */
int control_socket__address(const char *path, const char *otherwise, struct sockaddr_un *address,
			    struct dart_error *error);

struct status_server;

/*
 * Listens at the address that control_socket__address() makes of @path; without an address @server
 * is NULL.  The fleet of @context outlives the server.  Returns 0, or -errno with a sentence in
 * @error: -EADDRINUSE if another controller listens there.
 */
int status_server__new(struct target_context *context, const struct output *output,
		       const char *path, struct status_server **server, struct dart_error *error);
/* Removes the socket.  NULL is allowed. */
void status_server__free(struct status_server *server);

#endif /* CONTROLLER_STATUS_SERVER_H */
