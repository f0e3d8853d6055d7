// SPDX-License-Identifier: GPL-2.0-only
/* The entries of flows in the table, and ageing, which needs the table: see nat.h. */
#include <netinet/in.h>
#include <string.h>

#include "nat_internal.h"

#define REWRITES_SOURCE 1

/* Flows of a class that are asked, or end, in one call. */
#define TICK_FLOWS 1000

/* ---- entries */

static uint8_t *put_address(uint8_t *bytes, uint32_t address)
{
	bytes[0] = address >> 24;
	bytes[1] = address >> 16;
	bytes[2] = address >> 8;
	bytes[3] = address;
	return bytes + 4;
}

static uint8_t *put_port(uint8_t *bytes, uint16_t port)
{
	bytes[0] = port >> 8;
	bytes[1] = port;
	return bytes + 2;
}

static struct end get_end(const uint8_t *address, const uint8_t *port)
{
	return (struct end){ (uint32_t)address[0] << 24 | address[1] << 16 | address[2] << 8 |
				     address[3],
			     port[0] << 8 | port[1] };
}

void flow__entry(const struct flow *flow, enum nat_direction direction,
		 uint8_t key[static NAT_KEY_LENGTH], uint8_t value[static NAT_VALUE_LENGTH])
{
	const struct mapping *mapping = flow->mapping;
	const bool is_out = direction == NAT_OUT;
	const struct end *source = is_out ? &mapping->inside : &flow->remote;
	const struct end *destination = is_out ? &flow->remote : &mapping->outside;
	const struct end *other = is_out ? &mapping->outside : &mapping->inside;

	key = put_address(key, source->address);
	key = put_address(key, destination->address);
	key = put_port(key, source->port);
	key = put_port(key, destination->port);
	*key = mapping->protocol;
	value = put_port(put_address(value, other->address), other->port);
	*value = is_out ? REWRITES_SOURCE : 0;
}

/* The flow that an entry with this key would belong to; NULL: none. */
static struct flow *flow_of(const struct nat *nat, const uint8_t *key, bool is_out)
{
	const struct end source = get_end(key, key + 8), destination = get_end(key + 4, key + 10);
	struct mapping *mapping;

	/* A mapping that leaves is found by its port only. */
	mapping = is_out ? nat__mapping_inside(nat, key[12], &source) :
			   nat__mapping_outside(nat, key[12], &destination);
	return mapping ? nat__find_flow(nat, mapping, is_out ? &destination : &source) : NULL;
}

bool nat__see(struct nat *nat, const uint8_t key[static NAT_KEY_LENGTH],
	      const uint8_t value[static NAT_VALUE_LENGTH])
{
	const bool is_out = value[6] & REWRITES_SOURCE;
	const enum nat_direction direction = is_out ? NAT_OUT : NAT_BACK;
	uint8_t right_key[NAT_KEY_LENGTH], right[NAT_VALUE_LENGTH];
	struct flow *flow = flow_of(nat, key, is_out);
	const struct end outside = is_out ? get_end(value, value + 4) : get_end(key + 4, key + 10);

	/* Somebody else's, unless an address of a pool stands in it. */
	if (!flow)
		return !policy__find_address(nat->policy, outside.address);
	flow__entry(flow, direction, right_key, right);
	if (memcmp(value, right, NAT_VALUE_LENGTH) || flow->state == FLOW_KEPT ||
	    flow->state == FLOW_ASKED)
		return false;
	flow->seen |= 1 << direction;
	return true;
}

/* ---- changes */

void nat__enter(struct nat *nat, struct flow *flow)
{
	flow->changes++;
	nat->handlers->enter(nat->subject, flow);
}

void nat__leave(struct nat *nat, struct flow *flow)
{
	flow->changes++;
	nat->handlers->leave(nat->subject, flow);
}

/* Lets the flow leave, or enters it, as its state says. */
static void compare_flow(struct nat *nat, struct flow *flow, bool enters)
{
	const bool is_there = flow->seen == (1 << NAT_BACK | 1 << NAT_OUT);

	/* Changes from before the comparison were forgotten. */
	if (!enters)
		flow->changes = 0;
	switch (flow->state) {
	case FLOW_ENTERING:
	case FLOW_ENTERED:
		if (!enters || (is_there && flow->state == FLOW_ENTERED))
			break;
		nat__set_state(nat, flow, FLOW_ENTERING, flow->since_ns);
		nat__enter(nat, flow);
		break;
	case FLOW_LEAVING:
	case FLOW_ENDING:
		if (!enters)
			nat__leave(nat, flow);
		break;
	default:
		break;
	}
	if (enters)
		flow->seen = 0;
}

void nat__compare(struct nat *nat)
{
	struct index_link *link;
	uint64_t i;
	int enters;

	/* A flow that ends may have an entry with the key of another flow of its host. */
	for (enters = 0; enters < 2; enters++)
		for (i = 0; i <= nat->flows.mask; i++)
			for (link = nat->flows.chains[i]; link; link = link->next)
				compare_flow(
					nat,
					(struct flow *)((char *)link - offsetof(struct flow, link)),
					enters);
}

void nat__entered(struct nat *nat, struct flow *flow, bool is_there, uint64_t now_ns)
{
	flow->changes--;
	if (flow->state != FLOW_ENTERING)
		return;
	if (!is_there) {
		flow->is_kept = true;
		nat->counts.refused++;
	}
	nat__set_state(nat, flow, is_there ? FLOW_ENTERED : FLOW_KEPT, now_ns);
}

void nat__left(struct nat *nat, struct flow *flow, uint64_t now_ns)
{
	flow->changes--;
	/* The answers to later changes of the flow still name it. */
	if (flow->state == FLOW_ENDING && !flow->changes)
		nat__remove_flow(nat, flow);
	else if (flow->state == FLOW_LEAVING)
		nat__set_state(nat, flow, FLOW_ASKED, now_ns);
}

/* ---- ageing */

/* The first flow in this state, if it has waited for the time-out of its class. */
static struct flow *due(const struct nat *nat, enum policy_class kind, enum flow_state state,
			uint64_t now_ns)
{
	struct flow *flow = TAILQ_FIRST(&nat->queues[kind][state]);

	if (!flow || now_ns < flow->since_ns + nat->policy->timeout_ns[kind])
		return NULL;
	return flow;
}

static bool tick_class(struct nat *nat, enum policy_class kind, uint64_t now_ns, bool has_table)
{
	struct flow *flow;
	int i;

	for (i = 0; i < TICK_FLOWS; i++) {
		flow = due(nat, kind, FLOW_ASKED, now_ns) ?: due(nat, kind, FLOW_KEPT, now_ns);
		if (flow) {
			nat__remove_flow(nat, flow);
			continue;
		}
		flow = has_table ? due(nat, kind, FLOW_ENTERED, now_ns) : NULL;
		if (!flow)
			return false;
		nat__set_state(nat, flow, FLOW_LEAVING, now_ns);
		nat__leave(nat, flow);
	}
	return true;
}

bool nat__tick(struct nat *nat, uint64_t now_ns, bool has_table)
{
	bool has_more = false;
	int kind;

	for (kind = 0; kind < POLICY_CLASSES; kind++)
		has_more |= tick_class(nat, kind, now_ns, has_table);
	return has_more;
}
