/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a simulation (fabric.c), for the part below the controller (fabric_network.c). */
#ifndef PAPERS_FABRIC_INTERNAL_H
#define PAPERS_FABRIC_INTERNAL_H

#include "event_heap.h"
#include "fabric.h"
#include "machine.h"
#include "tools/controller/flow/credit_groups.h"

enum event_kind {
	EVENT_DUE, /* a scrape of a host */
	EVENT_POSTED, /* a request is in the adapter here */
	EVENT_AT_HOST, /* it arrives */
	EVENT_ANSWERED, /* the adapter there has the queue pair, and queues the answer */
	EVENT_AT_SWITCH, /* which arrives there */
	EVENT_ARRIVED, /* and here */
	EVENT_LANDED, /* in memory */
	EVENT_LATE, /* no answer: the request is sent again */
	EVENT_DEATH, /* of a host: it answers no more */
	EVENT_LOST, /* the controller gives its queue pair up */
	EVENT_BIRTH,
	/* Of a machine. */
	EVENT_SEND, /* its link is free */
	EVENT_SERVICE, /* a service sends a packet */
};

struct host {
	struct credit_member member; /* first: fabric__post() casts it */
	uint64_t due_ns;
	uint32_t epoch; /* counts its lives */
	uint32_t scrapes; /* that became due */
	struct io_thread *thread;
	uint32_t fragments; /* of a scrape */
	uint32_t missing; /* fragments of the scrape in progress */
	bool is_dead, has_none; /* has_none: no credit for this scrape yet */
};

struct fabric {
	const struct fabric_settings *settings;
	struct fabric_result *result;
	struct credit_groups credits;
	struct credit_group *groups; /* one for each class of a group */
	struct host *hosts;
	struct machine *machines;
	uint32_t machine_count;
	struct adapter adapter; /* the controller's */
	struct io_thread polling, blocking;

	struct event_heap events;

	uint64_t now_ns;
	uint64_t link_free_ns;
	uint64_t pause_ns, pause_end_ns; /* machines are paused between them */
	uint64_t in_flight;
	uint64_t random;
	uint64_t *latencies, *small_latencies;
	uint64_t first_class_scrapes, small_scrapes;
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- fabric_events.c */

/* A random number in [0, 1). */
double fabric__random(struct fabric *fabric);
/* Adds an event of a host, which hits nothing if the host dies before; of a machine. */
void fabric__at(struct fabric *fabric, uint64_t time_ns, enum event_kind kind, uint32_t host);
void fabric__at_machine(struct fabric *fabric, uint64_t time_ns, enum event_kind kind,
			uint32_t machine);

/* ---- fabric_network.c */

/* A request arrives in the machine of @host.  Returns when its adapter has the queue pair. */
uint64_t fabric__request(struct fabric *fabric, uint32_t host);
void fabric__answer(struct fabric *fabric, struct host *host);
/* The link of @machine is free. */
void fabric__send(struct fabric *fabric, struct machine *machine);
/* A service of @machine sends a packet. */
void fabric__serve(struct fabric *fabric, struct machine *machine);
/* A packet of @host is in the switch. */
void fabric__forward(struct fabric *fabric, struct host *host);

#endif /* PAPERS_FABRIC_INTERNAL_H */
