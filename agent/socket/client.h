/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client of the registration socket.  Its next request is read when it has
 * taken the reply to the one before: who does not read is not served.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include <dart/registration.h>

struct registration_socket;

struct client {
	TAILQ_ENTRY(client) link;
	struct registration_socket *socket;
	int fd;
	uid_t uid;
	sd_event_source *events;

	/* The request that is coming in, and what came with it. */
	char request[DART_REGISTRATION_REQUEST_MAX];
	size_t request_length;
	bool is_too_long;	/* its first bytes are dropped already */
	int passed_fd;
	bool has_extra_fd;

	/* The reply that is going out, NULL if there is none. */
	char *reply;
	size_t reply_length;
	size_t reply_sent;
	int reply_fd;		/* goes with its first byte, or -1 */
};

TAILQ_HEAD(clients, client);

/* Takes @fd, a connected socket, also if it fails. */
int client__new(struct registration_socket *socket, sd_event *loop, int fd,
		struct client **client);
void client__free(struct client *client);

#endif /* CLIENT_H */
