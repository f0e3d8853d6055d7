/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host of the invented fleet at its port: the connections of controllers to it, its answers, and
 * the moments at which it misbehaves, as its kind does.
 *
 * The host writes to the log of the fleet:
 *
 *   "answer HOST EPOCH UPDATE TIME": the answer with the values of this update was sent whole;
 *	TIME is CLOCK_REALTIME in ns when they were written.
 *   "event HOST KIND WHAT": the host misbehaved as its kind does.
 *
 * An error of this machine, or a request that no controller sends, ends the process with a
 * message.
 */
#ifndef FLEET_PLACE_H
#define FLEET_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libdart/rpc/tls.h>

#include "fleet_host.h"

#define FLEET_TICK_MS 100

/* State that all hosts of a process share.  The caller owns it with all that it points to. */
struct fleet {
	int epoll; /* the data of its events are watches */
	uint16_t port; /* of host 0; host 1 listens at the next port, and so on */
	struct dart_tls *tls;
	FILE *log;
	bool is_held; /* no host answers any more */
};

/* Each structure whose descriptor epoll reports begins with a watch. */
struct fleet_watch {
	void (*on_ready)(struct fleet_watch *watch);
	int fd;
	uint32_t events; /* 0: epoll does not know @fd yet */
};

/* epoll reports these events of watch->fd from now on. */
void fleet_watch__set(const struct fleet *fleet, struct fleet_watch *watch, uint32_t events);

struct fleet_connection;

/* The caller sets @fleet and opens @host; all else is 0 before fleet_place__listen(). */
struct fleet_place {
	struct fleet_watch watch;
	struct fleet *fleet;
	struct fleet_host host;
	struct fleet_connection *connections;
	uint32_t away; /* ticks until it listens again */
};

void fleet_place__listen(struct fleet_place *place);
/* The caller calls it each FLEET_TICK_MS. */
void fleet_place__tick(struct fleet_place *place);

#endif /* FLEET_PLACE_H */
