/* SPDX-License-Identifier: GPL-2.0-only */
/* The listener: accepts connections of peers through the RDMA CM. */
#ifndef LISTENER_H
#define LISTENER_H

#include <jansson.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/base/changes.h"
#include "agent/base/counts.h"
#include "agent/base/crowd.h"
#include "agent/base/lease.h"
#include "agent/base/peer_kind.h"
#include "agent/base/request.h"
#include "connection.h"
#include "device.h"

/* 0 stands for the default. */
struct listener_limits {
	uint32_t per_address;	/* peers of all kinds from one address */
	uint32_t half_open;	/* connections that are not established yet */
};

struct listener {
	const struct device *device;
	const struct peer_service *services;
	const struct listener_limits *limits;
	const struct changes *changes;
	struct connection_counts *counts;
	struct rdma_event_channel *channel;
	struct rdma_cm_id **ids;	/* one for each address, or family */
	size_t id_count;
	sd_event_source *events;
	sd_event_source *resume;	/* after a pause */
	struct ibv_comp_channel *completions;	/* of queue pairs */
	sd_event_source *completion_events;
	sd_event_source *keepalive;	/* NULL: off */
	uint32_t keepalive_s, keepalive_slack_s;
	sd_event_source *updates;	/* some mirrors may be updated */
	struct handshake_rates rates;
	int64_t probed;		/* ns, when there was no room; 0: never */
	struct leases deadlines;	/* for answers to callers, and for half-open connections */
	/* Connections that wait for their turn; an event of this eventfd serves the first. */
	TAILQ_HEAD(, connection) turns;
	int turns_fd;
	sd_event_source *next_turn;
	struct connections connections;	/* the oldest first */
};

/* Where to listen, and how often to probe peers. */
struct listener_place {
	char **addresses;	/* IPv4 or IPv6 */
	size_t count;		/* of these; 0: all addresses */
	uint16_t port;
	uint32_t keepalive_s;	/* 0: never */
	uint32_t keepalive_slack_s;	/* by how much a probe may be late */
};

/*
 * The caller owns @services and @limits, which outlive the listener.  Without a device it
 * does not listen.
 */
int listener__open(struct listener *listener, sd_event *loop, const struct listener_place *place,
		   const struct device *device, const struct peer_service *services,
		   const struct listener_limits *limits, const struct changes *changes,
		   struct connection_counts *counts, struct dart_error *error);
void listener__close(struct listener *listener);

/* Ends the connections of the peers that read @object. */
void listener__disconnect(struct listener *listener, const struct peer_object *object);
/* After a change of the services: ends connections that they no longer allow. */
void listener__enforce(struct listener *listener);

/* The addresses of the connected peers of a kind; NULL if out of memory. */
json_t *listener__names(const struct listener *listener, const struct peer_kind *kind);

/* listener_place.c: the caller destroys the ids. */
int listener__listen(struct listener *listener, const struct listener_place *place,
		     struct dart_error *error);
void listener__destroy_ids(struct listener *listener);

/*
 * listener_limits.c: checks whether this peer may connect, and may end an older connection to make
 * room.
 */
int listener__admit(struct listener *listener, const struct peer_service *service,
		    struct rdma_cm_id *id, struct dart_error *error);
/* Returns 0 or -errno. */
int listener__open_rates(struct listener *listener);

/* listener_watch.c, which calls none of the other files. */
int listener__open_watch(struct listener *listener, sd_event *loop, struct dart_error *error);
/* After the last connection has ended. */
void listener__close_watch(struct listener *listener);
/*
 * A connect request was accepted: the peer has to establish the connection in time, until
 * listener__end_wait().
 */
void listener__wait_for_peer(struct listener *listener, struct connection *connection);
void listener__end_wait(struct listener *listener, struct connection *connection);
/* Updates the mirror that the controller offers, now and whenever the table changes. */
void listener__follow_table(struct connection *connection, const struct peer_offer *offer);
/* Updates the mirror of a connection, if there is one, now or soon. */
void listener__update(struct listener *listener, struct connection *connection);
/* Logs the reason and frees the connection. */
void listener__end(struct listener *listener, struct connection *connection, const char *reason);
/* The same without a message. */
void listener__drop(struct listener *listener, struct connection *connection);
/* To call when a peer has connected or disconnected: the timer runs while there are peers. */
void listener__keep_alive(const struct listener *listener);

/* The requests about peers; their subject is the listener. */
extern const struct request_type listener_requests[];

#endif /* LISTENER_H */
