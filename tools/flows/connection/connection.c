// SPDX-License-Identifier: GPL-2.0-only
/* The phases of a connection: see connection.h. */
#include "connection.h"

#define WINDOW 65535 /* that a SYN, whose window is not scaled, can offer */

const char *const connection_phase_names[CONNECTION_PHASES] = {
	[CONNECTION_OPENING] = "opening",
	[CONNECTION_ESTABLISHED] = "established",
	[CONNECTION_CLOSING] = "closing",
	[CONNECTION_RESET] = "reset",
};

bool connection__are_flags_valid(uint8_t flags)
{
	const bool is_syn = flags & SEGMENT_SYN, is_fin = flags & SEGMENT_FIN;
	const bool is_rst = flags & SEGMENT_RST, is_ack = flags & SEGMENT_ACK;

	if (is_syn + is_fin + is_rst > 1)
		return false;
	return is_syn || is_rst || is_ack;
}

bool connection__is_first(const struct segment *segment)
{
	return (segment->flags & (SEGMENT_SYN | SEGMENT_ACK)) == SEGMENT_SYN;
}

bool connection__may_begin(uint8_t flags)
{
	flags &= SEGMENT_SYN | SEGMENT_ACK | SEGMENT_FIN | SEGMENT_RST;
	return flags == SEGMENT_SYN || flags == SEGMENT_ACK;
}

void connection__open(struct connection *connection, const struct segment *segment)
{
	*connection = (struct connection){
		.phase = CONNECTION_OPENING,
		.sides[FLOW_OUT] = { .number = segment->sequence,
				     .length = segment->length,
				     .has_sent = true },
	};
}

/* ---- the journal */

enum flow_closure connection__closure(const struct connection *connection)
{
	switch (connection->phase) {
	case CONNECTION_CLOSING:
		return FLOW_CLOSED;
	case CONNECTION_RESET:
		return connection->reset_by == FLOW_OUT ? FLOW_RESET_OUT : FLOW_RESET_BACK;
	default:
		return FLOW_OPEN;
	}
}

void connection__restore(struct connection *connection, enum flow_closure closure)
{
	static const enum connection_phase phases[FLOW_CLOSURES] = {
		[FLOW_OPEN] = CONNECTION_ESTABLISHED,
		[FLOW_CLOSED] = CONNECTION_CLOSING,
		[FLOW_RESET_BACK] = CONNECTION_RESET,
		[FLOW_RESET_OUT] = CONNECTION_RESET,
	};

	*connection = (struct connection){
		.phase = phases[closure],
		.reset_by = closure == FLOW_RESET_OUT ? FLOW_OUT : FLOW_BACK,
	};
}

/* ---- the handshake */

/* Does it acknowledge the SYN of the other side, and at most @more bytes after it? */
static bool acknowledges(const struct connection *connection, enum flow_direction other,
			 const struct segment *segment, uint32_t more)
{
	return segment->flags & SEGMENT_ACK && connection->sides[other].has_sent &&
	       segment->acknowledgement - (connection->sides[other].number + 1) <= more;
}

/* SYN, or SYN with ACK. */
static bool take_syn(struct connection *connection, enum flow_direction direction,
		     const struct segment *segment)
{
	const bool is_other = connection->sides[direction].number != segment->sequence;
	const enum flow_direction other = !direction;

	if (segment->flags & SEGMENT_ACK) {
		if (!acknowledges(connection, other, segment, connection->sides[other].length))
			return false;
		connection->sides[other].is_acknowledged = true;
	} else if (direction == FLOW_BACK && connection->sides[direction].has_sent && is_other) {
		return false;
	}
	/* Another number is another attempt. */
	if (is_other)
		connection->sides[direction].is_acknowledged = false;
	connection->sides[direction].number = segment->sequence;
	connection->sides[direction].length = segment->length;
	connection->sides[direction].has_sent = true;
	return true;
}

static bool take_first_reset(struct connection *connection, enum flow_direction direction,
			     const struct segment *segment)
{
	const enum flow_direction other = !direction;

	/* It answers the SYN of the other side, or has the number after its own SYN. */
	if (acknowledges(connection, other, segment, connection->sides[other].length) ||
	    (connection->sides[direction].has_sent &&
	     segment->sequence - connection->sides[direction].number <= 1)) {
		connection->phase = CONNECTION_RESET;
		connection->reset_by = direction;
		return true;
	}
	/* It may end an old connection with these ports. */
	return direction == FLOW_OUT;
}

static bool take_opening(struct connection *connection, enum flow_direction direction,
			 const struct segment *segment)
{
	const enum flow_direction other = !direction;

	if (segment->flags & SEGMENT_SYN)
		return take_syn(connection, direction, segment);
	if (segment->flags & SEGMENT_RST)
		return take_first_reset(connection, direction, segment);
	/* A host that has an old connection answers a SYN so (RFC 5961), and is answered by RST. */
	if (!connection->sides[direction].has_sent)
		return !(segment->flags & SEGMENT_FIN) && !segment->length;
	if (!acknowledges(connection, other, segment, WINDOW) ||
	    segment->sequence - (connection->sides[direction].number + 1) > WINDOW)
		return false;
	connection->sides[other].is_acknowledged = true;
	return true;
}

/* ---- after it */

static void take_established(struct connection *connection, enum flow_direction direction,
			     const struct segment *segment)
{
	if (segment->flags & SEGMENT_RST) {
		connection->phase = CONNECTION_RESET;
		connection->reset_by = direction;
		return;
	}
	if (!(segment->flags & SEGMENT_FIN))
		return;
	connection->sides[direction].has_finished = true;
	if (connection->sides[!direction].has_finished)
		connection->phase = CONNECTION_CLOSING;
}

static void take_after_reset(struct connection *connection, enum flow_direction direction,
			     const struct segment *segment)
{
	/* The RST was not from this side: it was forged. */
	if (direction == connection->reset_by && !connection__is_first(segment) &&
	    !(segment->flags & SEGMENT_RST)) {
		connection->phase = CONNECTION_ESTABLISHED;
		take_established(connection, direction, segment);
	}
}

bool connection__take(struct connection *connection, enum flow_direction direction,
		      const struct segment *segment)
{
	const bool is_first = connection__is_first(segment);

	switch (connection->phase) {
	case CONNECTION_OPENING:
		if (!take_opening(connection, direction, segment))
			return false;
		if (connection->phase == CONNECTION_RESET ||
		    !connection->sides[FLOW_OUT].is_acknowledged ||
		    !connection->sides[FLOW_BACK].is_acknowledged)
			return true;
		connection->phase = CONNECTION_ESTABLISHED;
		take_established(connection, direction, segment);
		return true;
	case CONNECTION_RESET:
		take_after_reset(connection, direction, segment);
		return true;
	case CONNECTION_ESTABLISHED:
		/* The side that began may have started anew; the other one begins none. */
		if (is_first && direction == FLOW_BACK)
			return false;
		take_established(connection, direction, segment);
		return true;
	default:
		return true;
	}
}

void connection__follow(struct connection *connection, enum flow_direction direction,
			const struct segment *segment)
{
	switch (connection->phase) {
	case CONNECTION_OPENING:
		if (segment->flags & SEGMENT_SYN) {
			connection->sides[direction].has_sent = true;
			if (!connection->sides[!direction].has_sent)
				return;
		}
		connection->phase = CONNECTION_ESTABLISHED;
		take_established(connection, direction, segment);
		return;
	case CONNECTION_ESTABLISHED:
		take_established(connection, direction, segment);
		return;
	case CONNECTION_RESET:
		take_after_reset(connection, direction, segment);
		return;
	default:
		return;
	}
}
