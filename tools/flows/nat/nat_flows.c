// SPDX-License-Identifier: GPL-2.0-only
/* Subscribers, mappings and flows: found, made and removed. */
#include <stdlib.h>
#include <string.h>

#include "nat_internal.h"

#define OF(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

/* ---- subscribers */

static struct subscriber *find_subscriber(const struct nat *nat, address_t address)
{
	const uint64_t hash = index__hash(&nat->subscribers, &address, sizeof(address));
	struct index_link *link = index__chain(&nat->subscribers, hash);

	while (link && OF(link, struct subscriber, link)->address != address)
		link = link->next;
	return link ? OF(link, struct subscriber, link) : NULL;
}

static struct subscriber *need_subscriber(struct nat *nat, address_t address)
{
	struct subscriber *subscriber = find_subscriber(nat, address);

	if (subscriber)
		return subscriber;
	subscriber = calloc(1, sizeof(*subscriber));
	if (!subscriber)
		return NULL;
	subscriber->address = address;
	index__add(&nat->subscribers, &subscriber->link,
		   index__hash(&nat->subscribers, &address, sizeof(address)));
	nat->subscriber_count++;
	return subscriber;
}

static void drop_subscriber(struct nat *nat, struct subscriber *subscriber)
{
	if (subscriber->mappings)
		return;
	index__remove(&nat->subscribers, &subscriber->link);
	nat->subscriber_count--;
	free(subscriber);
}

/* ---- mappings */

struct end_key {
	struct end end;
	uint8_t protocol;
};

static uint64_t hash_end(const struct index *index, uint8_t protocol, const struct end *end)
{
	struct end_key key;

	memset(&key, 0, sizeof(key)); /* padding, too */
	key.end.address = end->address;
	key.end.port = end->port;
	key.protocol = protocol;
	return index__hash(index, &key, sizeof(key));
}

struct mapping *nat__mapping_inside(const struct nat *nat, uint8_t protocol,
				    const struct end *inside)
{
	const uint64_t hash = hash_end(&nat->insides, protocol, inside);
	struct index_link *link;

	for (link = index__chain(&nat->insides, hash); link; link = link->next) {
		struct mapping *mapping = OF(link, struct mapping, inside_link);

		if (mapping->protocol == protocol && end__equal(&mapping->inside, inside))
			return mapping;
	}
	return NULL;
}

struct mapping *nat__mapping_outside(const struct nat *nat, uint8_t protocol,
				     const struct end *outside)
{
	const uint64_t hash = hash_end(&nat->outsides, protocol, outside);
	struct index_link *link;

	for (link = index__chain(&nat->outsides, hash); link; link = link->next) {
		struct mapping *mapping = OF(link, struct mapping, outside_link);

		if (mapping->protocol == protocol && end__equal(&mapping->outside, outside))
			return mapping;
	}
	return NULL;
}

struct mapping *nat__add_mapping(struct nat *nat, uint8_t protocol, const struct end *inside,
				 const struct end *outside)
{
	struct subscriber *subscriber = need_subscriber(nat, inside->address);
	struct mapping *mapping = calloc(1, sizeof(*mapping));

	if (!subscriber || !mapping) {
		if (subscriber)
			drop_subscriber(nat, subscriber);
		free(mapping);
		return NULL;
	}
	*mapping = (struct mapping){
		.subscriber = subscriber,
		.inside = *inside,
		.outside = *outside,
		.protocol = protocol,
	};
	LIST_INIT(&mapping->flows);
	index__add(&nat->insides, &mapping->inside_link, hash_end(&nat->insides, protocol, inside));
	index__add(&nat->outsides, &mapping->outside_link,
		   hash_end(&nat->outsides, protocol, outside));
	subscriber->mappings++;
	nat->mapping_count++;
	return mapping;
}

void nat__remove_mapping(struct nat *nat, struct mapping *mapping)
{
	if (!mapping->is_leaving)
		index__remove(&nat->insides, &mapping->inside_link);
	index__remove(&nat->outsides, &mapping->outside_link);
	if (mapping->has_port)
		ports__release(nat->ports, policy__class(mapping->protocol), &mapping->outside);
	if (mapping->is_counted)
		mapping->subscriber->ports--;
	mapping->subscriber->mappings--;
	drop_subscriber(nat, mapping->subscriber);
	nat->mapping_count--;
	free(mapping);
}

/*
 * All mappings of a subscriber have the same address (RFC 4787, REQ-2).  A new subscriber gets the
 * next address that has a port left.
 */
static int allocate(struct nat *nat, uint8_t protocol, const struct end *inside,
		    struct subscriber *subscriber, struct end *outside)
{
	const enum policy_class kind = policy__class(protocol);
	const size_t count = nat->function.policy->address_count;
	const struct policy_address *address;
	size_t first, i;
	int port;

	address = policy__find_address(nat->function.policy, subscriber->pool_address);
	first = address ?
			(size_t)(address - nat->function.policy->addresses) :
			index__hash(&nat->subscribers, &inside->address, sizeof(inside->address)) %
				count;
	for (i = 0; i < (address ? 1 : count); i++) {
		const size_t number = (first + i) % count;

		port = ports__allocate(nat->ports, kind, number, inside->port);
		if (port < 0)
			continue;
		*outside = (struct end){ nat->function.policy->addresses[number].address, port };
		return 0;
	}
	return -1;
}

struct mapping *nat__map(struct nat *nat, uint8_t protocol, const struct end *inside,
			 enum nat_verdict *verdict)
{
	struct subscriber *subscriber = need_subscriber(nat, inside->address);
	struct mapping *mapping = NULL;
	struct end outside;

	*verdict = NAT_EXHAUSTED;
	if (!subscriber)
		return NULL;
	if (subscriber->ports >= nat->function.policy->ports_limit) {
		*verdict = NAT_LIMITED;
	} else if (!allocate(nat, protocol, inside, subscriber, &outside)) {
		mapping = nat__add_mapping(nat, protocol, inside, &outside);
		if (!mapping)
			ports__release(nat->ports, policy__class(protocol), &outside);
	}
	if (!mapping) {
		drop_subscriber(nat, subscriber);
		return NULL;
	}
	mapping->has_port = true;
	mapping->is_counted = true;
	subscriber->ports++;
	subscriber->pool_address = outside.address;
	return mapping;
}

/* ---- flows */

struct flow_key {
	const struct mapping *mapping;
	struct end remote;
};

static uint64_t hash_flow(const struct nat *nat, const struct mapping *mapping,
			  const struct end *remote)
{
	struct flow_key key;

	memset(&key, 0, sizeof(key)); /* padding, too */
	key.mapping = mapping;
	key.remote.address = remote->address;
	key.remote.port = remote->port;
	return index__hash(&nat->function.flows, &key, sizeof(key));
}

struct nat_flow *nat__find_flow(const struct nat *nat, const struct mapping *mapping,
				const struct end *remote)
{
	struct index_link *link =
		index__chain(&nat->function.flows, hash_flow(nat, mapping, remote));

	for (; link; link = link->next) {
		struct nat_flow *flow = OF(link, struct nat_flow, flow.link);

		if (flow->mapping == mapping && end__equal(&flow->remote, remote))
			return flow;
	}
	return NULL;
}

struct nat_flow *nat__add_flow(struct nat *nat, struct mapping *mapping, const struct end *remote,
			       enum flow_state state, uint64_t now_ns)
{
	struct nat_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->mapping = mapping;
	flow->remote = *remote;
	LIST_INSERT_HEAD(&mapping->flows, flow, of_mapping);
	mapping->subscriber->flows++;
	function__add(&nat->function, &flow->flow, hash_flow(nat, mapping, remote),
		      policy__class(mapping->protocol), state, now_ns);
	return flow;
}

void nat__free_flow(struct function *function, struct flow *flow)
{
	struct nat_flow *nat_flow = (struct nat_flow *)flow;
	struct mapping *mapping = nat_flow->mapping;

	LIST_REMOVE(nat_flow, of_mapping);
	mapping->subscriber->flows--;
	free(nat_flow);
	if (LIST_EMPTY(&mapping->flows) && (!mapping->is_static || mapping->is_leaving))
		nat__remove_mapping((struct nat *)function, mapping);
}
