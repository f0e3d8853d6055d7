/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a NAT, for the files nat*.c. */
#ifndef FLOWS_NAT_INTERNAL_H
#define FLOWS_NAT_INTERNAL_H

#include "nat.h"

TAILQ_HEAD(flow_queue, flow);

struct nat {
	const struct policy *policy;
	struct ports *ports;
	const struct nat_handlers *handlers;
	void *subject;
	struct index subscribers, insides, outsides, flows;
	/* By class and state: the flow that waits longest is first. */
	struct flow_queue queues[POLICY_CLASSES][FLOW_STATES];
	struct nat_counts counts;
	bool is_closed;
};

struct mapping *nat__mapping_inside(const struct nat *nat, uint8_t protocol,
				    const struct end *inside);
struct mapping *nat__mapping_outside(const struct nat *nat, uint8_t protocol,
				     const struct end *outside);
/* The mapping with these ends, whose port is taken already; NULL: out of memory. */
struct mapping *nat__add_mapping(struct nat *nat, uint8_t protocol, const struct end *inside,
				 const struct end *outside);
/* Allocates a port; NULL and a verdict if that is not possible. */
struct mapping *nat__map(struct nat *nat, uint8_t protocol, const struct end *inside,
			 enum nat_verdict *verdict);
void nat__remove_mapping(struct nat *nat, struct mapping *mapping);

struct flow *nat__find_flow(const struct nat *nat, const struct mapping *mapping,
			    const struct end *remote);
/* NULL: out of memory */
struct flow *nat__add_flow(struct nat *nat, struct mapping *mapping, const struct end *remote,
			   enum flow_state state, uint64_t now_ns);
/* The flow is over: its mapping, if it was the last one, too. */
void nat__remove_flow(struct nat *nat, struct flow *flow);
/* Changes the table; see struct nat_handlers. */
void nat__enter(struct nat *nat, struct flow *flow);
void nat__leave(struct nat *nat, struct flow *flow);
void nat__set_state(struct nat *nat, struct flow *flow, enum flow_state state, uint64_t now_ns);

#endif /* FLOWS_NAT_INTERNAL_H */
