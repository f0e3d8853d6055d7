/* SPDX-License-Identifier: GPL-2.0-only */
/* The registration socket: its mode says who may connect. */
#ifndef REGISTRATION_SOCKET_H
#define REGISTRATION_SOCKET_H

#include <sys/un.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/base/request.h"
#include "client.h"

struct registration_socket {
	struct sockaddr_un address;
	int lock;	/* held while this dartd uses the path */
	int fd;
	int spare;	/* closed to turn a client away without a descriptor */
	sd_event_source *events;
	sd_event_source *resume;	/* after a pause */
	struct clients clients;
	uint32_t most;		/* clients at a time */
};

/*
 * Replaces the socket that a dead agent left; -EADDRINUSE if it is alive.  The list of @tables
 * stays the caller's.
 */
int registration_socket__open(struct registration_socket *socket, sd_event *loop, const char *path,
			      const struct request_table *tables, struct request_recorder *recorder,
			      struct changes *changes, struct client_counts *counts,
			      struct dart_error *error);
/* From now on clients, and requests of each user but root; 0 for the default. */
void registration_socket__limit(struct registration_socket *socket,
				uint32_t most, uint32_t requests_per_second);
void registration_socket__close(struct registration_socket *socket);

#endif /* REGISTRATION_SOCKET_H */
