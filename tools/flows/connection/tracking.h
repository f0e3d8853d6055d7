/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flows of a function that tracks connections of TCP.  A connection is a flow from its SYN on, and
 * is kept out of table and journal until both ends have acknowledged each other, so packets with
 * forged addresses change neither.  A closed connection leaves the table, and is forgotten after
 * the time-out of connections that open or close.  Other protocols make pseudo-connections, which
 * begin with their first packet.
 */
#ifndef FLOWS_TRACKING_H
#define FLOWS_TRACKING_H

#include "connection.h"
#include "tools/flows/function/function_type.h"

/* The first member of the flows of such a function. */
struct tracked {
	struct flow flow;
	struct connection connection; /* of TCP */
	uint8_t protocol;
};

/* The first member of its state. */
struct tracking {
	struct function function;
	uint64_t opening; /* connections */
};

/*
 * Takes in a flow, which is zero but for its own members and its protocol: one that begins now, or
 * one of an earlier process, with this state; of TCP, an
 * established connection, unless tracking__restore_closure() follows.
 */
void tracking__add(struct tracking *tracking, struct tracked *tracked, uint64_t hash,
		   uint64_t now_ns);
void tracking__restore(struct tracking *tracking, struct tracked *tracked, uint64_t hash,
		       enum flow_state state, uint64_t now_ns);
void tracking__restore_closure(struct flow *flow, enum flow_closure closure);
/* Its first packet, and @segment of it over TCP, after tracking__add(). */
void tracking__begin(struct tracking *tracking, struct tracked *tracked,
		     const struct packet *packet, const struct segment *segment, uint64_t now_ns);
/* The flow is about to be freed. */
void tracking__forget(struct tracking *tracking, const struct tracked *tracked);
/* At the limit, a new connection replaces the opening one that has waited longest. */
void tracking__make_place(struct tracking *tracking);

enum tracking_outcome {
	TRACKING_PASSES,
	TRACKING_AGAIN, /* the flow is gone: the segment begins another one */
	TRACKING_INVALID, /* no host can have sent it in the state of its connection */
	TRACKING_ENDED, /* the flow is being ended */
	TRACKING_CLOSED, /* the connection cannot be entered: the journal cannot be written */
};

/*
 * Takes a packet of the flow, and @segment of it over TCP, with valid flags; @direction: FLOW_OUT
 * from the host that began the flow.
 */
enum tracking_outcome tracking__take(struct tracking *tracking, struct tracked *tracked,
				     enum flow_direction direction, const struct packet *packet,
				     const struct segment *segment, uint64_t now_ns);
/*
 * May the sender of a packet whose flow is being ended be refused?  A connection that goes on has
 * ended for its sender, too; but a SYN comes again, when the flow may be gone.
 */
bool tracking__may_refuse(const struct packet *packet);
/* The phase of its connection; NULL: it has none. */
const char *tracking__connection(const struct flow *flow);

#endif /* FLOWS_TRACKING_H */
