/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clients of the registration socket. dartd reads the next request of a client after the client
 * has read the reply to the last one.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include <dart/registration.h>

#include "agent/base/changes.h"
#include "agent/base/counts.h"
#include "agent/base/request.h"
#include "request_rate.h"

struct clients {
	const struct request_table *tables;
	struct request_recorder *recorder;
	struct changes *changes;
	TAILQ_HEAD(, client) list;
	struct client_counts *counts;
	struct request_rates rates;
	sd_event_source *resume;	/* on while clients wait; NULL at first */
};

struct client {
	TAILQ_ENTRY(client) link;
	struct clients *clients;
	int fd;
	uid_t uid;
	int64_t active;		/* ns, CLOCK_BOOTTIME: its last request */
	sd_event_source *events;
	bool is_waiting;	/* its user makes too many requests */
	sd_event_source *again;	/* on while its request waits; NULL at first */
	int64_t arrived;	/* of that request, as @active; or 0 */

	/* The request that is coming in, and the descriptor that came with it. */
	char request[DART_REGISTRATION_REQUEST_MAX];
	size_t request_length;
	bool is_too_long;	/* its first bytes are dropped already */
	int passed_fd;
	bool has_extra_fd;

	uint64_t slice;		/* see struct request */

	/* The reply and changes that are going out, NULL if there are none. */
	char *output;
	size_t output_length;
	size_t output_sent;
	bool is_monitor;	/* no request is read any more */
	struct change_subscriber subscriber;
	int reply_fd;		/* goes with its first byte, or -1 */
};

/* Serves @fd, a connected socket, which it takes also if it fails. */
int client__new(struct clients *clients, sd_event *loop, int fd);
void client__free(struct client *client);
/*
 * There are @most clients, and one of user @uid wants to connect.  Returns the client that makes
 * room, NULL if all stay: of the user with the most clients, the client without a request for the
 * longest time.  Clients of root make room only for root; monitors make room for root, and if their
 * user occupies more than half of the places.
 */
struct client *clients__choose_victim(const struct clients *clients, uid_t uid, uint32_t most);
/* Frees all clients, the timer and the rates that they share. */
void clients__close(struct clients *clients);

/* client_wait.c, which calls nothing of client.c; ints: 0, or -errno to disconnect the client. */

/* May a client of @uid make a request at @now (ns, CLOCK_BOOTTIME)? */
bool clients__allow(const struct clients *clients, uid_t uid, int64_t now);
/* Stops reading from the client for now; its socket fills. */
int client__wait(struct client *client);
/*
 * True for a second after the first attempt to handle a request that cannot succeed yet; for ten
 * seconds while work for it is under way.
 */
bool client__may_wait_for(struct client *client, bool is_under_way);
/* Keeps the request, reads nothing meanwhile, and soon calls @again with the client. */
int client__wait_for(struct client *client, sd_event_time_handler_t again);

/* The request to monitor changes, without a subject. */
extern const struct request_type client_requests[];

#endif /* CLIENT_H */
