/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection of TCP as a network function sees it (RFC 9293, RFC 5382): the handshake with its
 * sequence numbers, and then only segments with SYN, FIN or RST, and the first ones after a
 * time-out, for the switch passes all others.  So a segment of an open connection has no known
 * window: a RST closes the connection only until its alleged sender sends something else (RFC
 * 7857, section 2.2), and the end systems compare its number (RFC 5961).
 */
#ifndef FLOWS_CONNECTION_H
#define FLOWS_CONNECTION_H

#include "tools/flows/function/function.h"

enum connection_phase {
	CONNECTION_OPENING, /* not both numbers are acknowledged */
	CONNECTION_ESTABLISHED,
	CONNECTION_CLOSING, /* both ends have sent FIN */
	CONNECTION_RESET, /* one end has sent RST */
	CONNECTION_PHASES
};

extern const char *const connection_phase_names[CONNECTION_PHASES];

struct connection {
	enum connection_phase phase;
	/* Of the one that began it, FLOW_OUT, and of the other. */
	struct {
		uint32_t number; /* of its SYN */
		uint32_t length; /* of the data with it (RFC 7413) */
		bool has_sent, is_acknowledged; /* this SYN */
		bool has_finished;
	} sides[FLOW_DIRECTIONS];
	enum flow_direction reset_by;
};

/* How it was closed, for the journal, and a connection of which only that is known. */
enum flow_closure connection__closure(const struct connection *connection);
void connection__restore(struct connection *connection, enum flow_closure closure);

/* Can a segment have these flags?  FIN without ACK, SYN with FIN and others are probes. */
bool connection__are_flags_valid(uint8_t flags);
/*
 * Can a segment with these flags begin a connection that is not tracked yet: SYN, or ACK alone, of a
 * connection that is older than the tracking, as nf_conntrack_tcp_loose of Linux takes it up?
 */
bool connection__may_begin(uint8_t flags);
/* Is it the first one of a connection? */
bool connection__is_first(const struct segment *segment);
/* The connection that this first segment opens. */
void connection__open(struct connection *connection, const struct segment *segment);
/*
 * Takes a segment with valid flags in this direction.  False if it does not belong to the
 * connection: then nothing has changed.
 */
bool connection__take(struct connection *connection, enum flow_direction direction,
		      const struct segment *segment);
/*
 * Follows a connection for a function that compares no numbers, and enters a flow with its first
 * packet: the connection opens, as a structure of zeros says, until both ends have sent SYN or one
 * sends anything else.
 */
void connection__follow(struct connection *connection, enum flow_direction direction,
			const struct segment *segment);

#endif /* FLOWS_CONNECTION_H */
