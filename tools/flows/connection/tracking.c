// SPDX-License-Identifier: GPL-2.0-only
/* Flows in the phases of their connections: see tracking.h. */
#include "tracking.h"

#include <netinet/in.h>

void tracking__add(struct tracking *tracking, struct tracked *tracked, uint64_t hash,
		   uint64_t now_ns)
{
	const bool is_tcp = tracked->protocol == IPPROTO_TCP;

	tracked->flow.is_kept = tracked->protocol == IPPROTO_ICMP;
	function__add(&tracking->function, &tracked->flow, hash,
		      is_tcp ? POLICY_TRANSITORY : policy__class(tracked->protocol),
		      tracked->protocol == IPPROTO_UDP ? FLOW_ENTERING : FLOW_KEPT, now_ns);
}

void tracking__restore(struct tracking *tracking, struct tracked *tracked, uint64_t hash,
		       enum flow_state state, uint64_t now_ns)
{
	tracked->flow.is_kept = tracked->protocol == IPPROTO_ICMP;
	tracked->flow.is_recorded = true;
	tracked->flow.was_entered = true;
	connection__restore(&tracked->connection, FLOW_OPEN);
	function__add(&tracking->function, &tracked->flow, hash, policy__class(tracked->protocol),
		      state, now_ns);
}

void tracking__restore_closure(struct flow *flow, enum flow_closure closure)
{
	connection__restore(&((struct tracked *)flow)->connection, closure);
}

void tracking__begin(struct tracking *tracking, struct tracked *tracked,
		     const struct packet *packet, const struct segment *segment, uint64_t now_ns)
{
	struct function *function = &tracking->function;

	if (tracked->protocol == IPPROTO_TCP) {
		connection__open(&tracked->connection, segment);
		tracking->opening++;
	} else {
		function__begin(function, &tracked->flow);
	}
	if (tracked->flow.state == FLOW_ENTERING)
		function__enter(function, &tracked->flow, now_ns);
	function__use(function, &tracked->flow, packet, now_ns);
}

void tracking__forget(struct tracking *tracking, const struct tracked *tracked)
{
	if (tracked->protocol == IPPROTO_TCP)
		tracking->opening -= tracked->connection.phase == CONNECTION_OPENING;
}

void tracking__make_place(struct tracking *tracking)
{
	struct function *function = &tracking->function;
	struct flow_queue *waiting = &function->queues[POLICY_TRANSITORY][FLOW_KEPT];

	while (tracking->opening >= function->policy->opening_limit && !TAILQ_EMPTY(waiting))
		function__remove(function, TAILQ_FIRST(waiting));
}

/* The connection has left one phase for another. */
static void change_phase(struct tracking *tracking, struct tracked *tracked,
			 enum connection_phase before, uint64_t now_ns)
{
	const enum connection_phase phase = tracked->connection.phase;
	struct function *function = &tracking->function;
	struct flow *flow = &tracked->flow;

	tracking->opening -= before == CONNECTION_OPENING;
	if (before == CONNECTION_OPENING && phase == CONNECTION_RESET) {
		function__remove(function, flow);
		return;
	}
	if (before == CONNECTION_OPENING)
		function__begin(function, flow);
	function__set_closure(function, flow, connection__closure(&tracked->connection));
	flow->is_over = phase != CONNECTION_ESTABLISHED;
	function__set_timeout(function, flow, flow->is_over ? POLICY_TRANSITORY : POLICY_TCP,
			      now_ns);
	if (flow->is_over)
		function__ask(function, flow, now_ns);
	else if (flow->state != FLOW_ENTERING && !flow->is_kept)
		function__enter(function, flow, now_ns);
}

static enum tracking_outcome take_segment(struct tracking *tracking, struct tracked *tracked,
					  enum flow_direction direction,
					  const struct packet *packet,
					  const struct segment *segment, uint64_t now_ns)
{
	const enum connection_phase before = tracked->connection.phase;
	struct function *function = &tracking->function;

	if (function__is_ending(&tracked->flow))
		return TRACKING_ENDED;
	if (tracked->flow.is_over && connection__is_first(segment)) {
		/* The same ports again; while its entries are being removed, the next SYN. */
		if (tracked->flow.state == FLOW_LEAVING)
			return TRACKING_ENDED;
		function__remove(function, &tracked->flow);
		return TRACKING_AGAIN;
	}
	if (before == CONNECTION_OPENING && function->is_closed)
		return TRACKING_CLOSED;
	if (!connection__take(&tracked->connection, direction, segment))
		return TRACKING_INVALID;
	function__use(function, &tracked->flow, packet, now_ns);
	if (tracked->connection.phase != before)
		change_phase(tracking, tracked, before, now_ns);
	return TRACKING_PASSES;
}

enum tracking_outcome tracking__take(struct tracking *tracking, struct tracked *tracked,
				     enum flow_direction direction, const struct packet *packet,
				     const struct segment *segment, uint64_t now_ns)
{
	if (tracked->protocol == IPPROTO_TCP)
		return take_segment(tracking, tracked, direction, packet, segment, now_ns);
	return function__use(&tracking->function, &tracked->flow, packet, now_ns) ?
		       TRACKING_PASSES :
		       TRACKING_ENDED;
}

bool tracking__may_refuse(const struct packet *packet)
{
	return packet->protocol == IPPROTO_TCP && !(packet__flags(packet) & SEGMENT_SYN);
}

const char *tracking__connection(const struct flow *flow)
{
	const struct tracked *tracked = (const struct tracked *)flow;

	return tracked->protocol == IPPROTO_TCP ?
		       connection_phase_names[tracked->connection.phase] :
		       NULL;
}
