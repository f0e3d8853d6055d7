// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a packet, and of the flows when a policy changes: see nat.h. */
#include "nat.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "nat_internal.h"

#define MAPPING_OF(link) ((struct mapping *)((char *)(link)-offsetof(struct mapping, outside_link)))

static const char *const verdict_names[NAT_VERDICTS] = {
	[NAT_TRANSLATED] = "translated", [NAT_RELATED] = "related",   [NAT_UNRELATED] = "unrelated",
	[NAT_UNKNOWN] = "unknown",	 [NAT_FILTERED] = "filtered", [NAT_LIMITED] = "limited",
	[NAT_EXHAUSTED] = "exhausted",	 [NAT_ENDED] = "ended",	      [NAT_CLOSED] = "closed",
	[NAT_INVALID] = "invalid",	 [NAT_SPOOFED] = "spoofed",
};

/* No new flow uses the mapping, and its flows end. */
static void leave_mapping(struct nat *nat, struct mapping *mapping)
{
	struct nat_flow *flow, *next;

	if (!mapping->is_leaving)
		index__remove(&nat->insides, &mapping->inside_link);
	mapping->is_leaving = true;
	if (LIST_EMPTY(&mapping->flows)) {
		nat__remove_mapping(nat, mapping);
		return;
	}
	/* The last one takes the mapping with it. */
	for (flow = LIST_FIRST(&mapping->flows); flow; flow = next) {
		next = LIST_NEXT(flow, of_mapping);
		function__end(&nat->function, &flow->flow);
	}
}

/* ---- static mappings */

/* Does a mapping stand in the way of this one? */
static int check_static(const struct nat *nat, const struct policy_static *wanted,
			struct dart_error *error)
{
	const struct mapping *taken;
	char text[END_TEXT];

	taken = nat__mapping_outside(nat, wanted->protocol, &wanted->outside);
	if (!taken || (end__equal(&taken->inside, &wanted->inside) && !taken->is_leaving))
		return 0;
	return dart_error__set(
		error, EADDRINUSE,
		"the static mapping of %s %s: a flow has this port (dartctl flow end ends it)",
		policy__protocol_name(wanted->protocol), end__print(&wanted->outside, text));
}

static int add_static(struct nat *nat, const struct policy_static *wanted)
{
	struct mapping *mapping;

	mapping = nat__mapping_outside(nat, wanted->protocol, &wanted->outside);
	if (!mapping) {
		/* The port that this host has so far. */
		mapping = nat__mapping_inside(nat, wanted->protocol, &wanted->inside);
		if (mapping)
			leave_mapping(nat, mapping);
		mapping =
			nat__add_mapping(nat, wanted->protocol, &wanted->inside, &wanted->outside);
		if (!mapping)
			return -ENOMEM;
		mapping->has_port =
			!ports__take(nat->ports, policy__class(wanted->protocol), &wanted->outside);
	}
	mapping->is_static = true;
	if (mapping->is_counted)
		mapping->subscriber->ports--;
	mapping->is_counted = false;
	return 0;
}

static int add_statics(struct nat *nat, struct dart_error *error)
{
	size_t i;

	for (i = 0; i < nat->function.policy->static_count; i++)
		if (add_static(nat, &nat->function.policy->statics[i]))
			return dart_error__no_memory(error);
	return 0;
}

/* ---- life */

static int open_nat(struct function *function, struct dart_error *error)
{
	const struct policy *policy = function->policy;
	struct nat *nat = (struct nat *)function;

	nat->ports = ports__new(policy);
	if (!nat->ports || index__open(&nat->subscribers, policy->flows) ||
	    index__open(&nat->insides, policy->flows) || index__open(&nat->outsides, policy->flows))
		return dart_error__no_memory(error);
	return add_statics(nat, error);
}

static void close_nat(struct function *function)
{
	struct nat *nat = (struct nat *)function;
	struct index_link *link;
	struct mapping *mapping;
	uint64_t i;

	for (i = 0; nat->outsides.chains && i <= nat->outsides.mask; i++)
		while ((link = nat->outsides.chains[i])) {
			mapping = MAPPING_OF(link);
			mapping->is_static = false;
			if (LIST_EMPTY(&mapping->flows))
				nat__remove_mapping(nat, mapping);
			else
				function__remove(function, &LIST_FIRST(&mapping->flows)->flow);
		}
	index__close(&nat->subscribers);
	index__close(&nat->insides);
	index__close(&nat->outsides);
	ports__free(nat->ports);
}

static bool is_static_of(const struct policy *policy, const struct mapping *mapping)
{
	size_t i;

	for (i = 0; i < policy->static_count; i++)
		if (policy->statics[i].protocol == mapping->protocol &&
		    end__equal(&policy->statics[i].outside, &mapping->outside) &&
		    end__equal(&policy->statics[i].inside, &mapping->inside))
			return true;
	return false;
}

/* Gives the mapping its port of the present pools, or lets it leave. */
static void fit(struct nat *nat, struct mapping *mapping)
{
	mapping->has_port =
		!ports__take(nat->ports, policy__class(mapping->protocol), &mapping->outside);
	if (mapping->is_leaving)
		return;
	if (mapping->has_port && policy__is_inside(nat->function.policy, mapping->inside.address) &&
	    (!mapping->is_static || is_static_of(nat->function.policy, mapping)))
		return;
	leave_mapping(nat, mapping);
}

static int set_policy(struct function *function, const struct policy *policy,
		      struct dart_error *error)
{
	struct nat *nat = (struct nat *)function;
	struct index_link *link, *next;
	struct ports *ports;
	uint64_t i;

	for (i = 0; i < policy->static_count; i++)
		if (check_static(nat, &policy->statics[i], error))
			return -EADDRINUSE;
	ports = ports__new(policy);
	if (!ports)
		return dart_error__no_memory(error);
	ports__free(nat->ports);
	nat->ports = ports;
	nat->function.policy = policy;
	for (i = 0; i <= nat->outsides.mask; i++)
		for (link = nat->outsides.chains[i]; link; link = next) {
			next = link->next;
			fit(nat, MAPPING_OF(link));
		}
	return add_statics(nat, error) ? 1 : 0;
}

/* ---- packets */

static bool is_kept(const struct nat *nat, uint8_t protocol, const struct end *remote)
{
	return protocol == IPPROTO_ICMP ||
	       policy__find_address(nat->function.policy, remote->address);
}

static enum nat_verdict begin(struct nat *nat, struct mapping *mapping, const struct end *remote,
			      const struct packet *packet, uint64_t now_ns, struct nat_flow **begun)
{
	struct nat_flow *flow;

	/* Damaged ports would get a mapping without a use. */
	if (!packet__is_sound(packet))
		return NAT_INVALID;
	if (packet->protocol == IPPROTO_TCP && !connection__may_begin(packet__flags(packet)))
		return NAT_UNKNOWN;
	if (nat->function.is_closed)
		return NAT_CLOSED;
	if (mapping->subscriber->flows >= nat->function.policy->flows_limit)
		return NAT_LIMITED;
	if (nat->function.counts.flows >= nat->function.policy->flows)
		return NAT_EXHAUSTED;
	flow = nat__add_flow(nat, mapping, remote,
			     is_kept(nat, mapping->protocol, remote) ? FLOW_KEPT : FLOW_ENTERING,
			     now_ns);
	if (!flow)
		return NAT_EXHAUSTED;
	flow->flow.is_kept = flow->flow.state == FLOW_KEPT;
	if (mapping->protocol == IPPROTO_TCP)
		function__set_timeout(&nat->function, &flow->flow, POLICY_TRANSITORY, now_ns);
	function__begin(&nat->function, &flow->flow);
	if (!flow->flow.is_kept)
		function__enter(&nat->function, &flow->flow, now_ns);
	*begun = flow;
	return NAT_TRANSLATED;
}

/*
 * Follows the connection of a flow.  One that is over leaves the table, and has its port for
 * another time-out of connections that open or close (RFC 5382, REQ-5).
 */
static void follow(struct nat *nat, struct nat_flow *flow, enum flow_direction direction,
		   const struct packet *packet, uint64_t now_ns)
{
	const enum connection_phase before = flow->connection.phase;
	struct segment segment;
	bool is_over;

	/* The receiver would not take a damaged one, so it says nothing about the connection. */
	if (packet->protocol != IPPROTO_TCP || packet->is_fragment || !packet__is_sound(packet))
		return;
	segment = packet__segment(packet);
	if (!connection__are_flags_valid(segment.flags))
		return;
	/* The same ports again. */
	if (flow->flow.is_over && connection__is_first(&segment))
		flow->connection = (struct connection){ .phase = CONNECTION_OPENING };
	connection__follow(&flow->connection, direction, &segment);
	if (flow->connection.phase == before)
		return;
	function__set_closure(&nat->function, &flow->flow, connection__closure(&flow->connection));
	is_over = flow->connection.phase == CONNECTION_CLOSING ||
		  flow->connection.phase == CONNECTION_RESET;
	flow->flow.is_over = is_over;
	function__set_timeout(&nat->function, &flow->flow,
			      flow->connection.phase == CONNECTION_ESTABLISHED ? POLICY_TCP :
										 POLICY_TRANSITORY,
			      now_ns);
	if (is_over)
		function__ask(&nat->function, &flow->flow, now_ns);
}

/* A packet of the flow is here; FLOW_OUT: from inside. */
static enum nat_verdict use(struct nat *nat, struct nat_flow *flow, enum flow_direction direction,
			    const struct packet *packet, uint64_t now_ns)
{
	if (!function__is_ending(&flow->flow))
		follow(nat, flow, direction, packet, now_ns);
	return function__use(&nat->function, &flow->flow, packet, now_ns) ? NAT_TRANSLATED :
									    NAT_ENDED;
}

/* To an address of a pool. */
static enum nat_verdict translate_back(struct nat *nat, struct packet *packet, uint64_t now_ns)
{
	enum nat_verdict verdict = NAT_TRANSLATED;
	struct mapping *mapping;
	struct nat_flow *flow;

	mapping = nat__mapping_outside(nat, packet->protocol, &packet->destination);
	if (!mapping)
		return NAT_UNKNOWN;
	flow = nat__find_flow(nat, mapping, &packet->source);
	if (!flow) {
		if (mapping->is_leaving || (!mapping->is_static && !nat->function.policy->is_open))
			return NAT_FILTERED;
		verdict = begin(nat, mapping, &packet->source, packet, now_ns, &flow);
	}
	if (verdict == NAT_TRANSLATED)
		verdict = use(nat, flow, FLOW_BACK, packet, now_ns);
	if (verdict == NAT_TRANSLATED)
		packet__set_destination(packet, &mapping->inside);
	return verdict;
}

/* From inside; an echo reply has no port that could be mapped. */
static enum nat_verdict translate_out(struct nat *nat, struct packet *packet, uint64_t now_ns)
{
	enum nat_verdict verdict;
	struct mapping *mapping;
	struct nat_flow *flow = NULL;

	if (packet->is_reply)
		return NAT_UNRELATED;
	mapping = nat__mapping_inside(nat, packet->protocol, &packet->source);
	if (mapping)
		flow = nat__find_flow(nat, mapping, &packet->destination);
	/* A stranger would take ports in the name of a host inside. */
	if (!flow && policy__is_spoofed(nat->function.policy, packet))
		return NAT_SPOOFED;
	if (!mapping && nat->function.is_closed)
		return NAT_CLOSED;
	if (!mapping && nat->function.counts.flows >= nat->function.policy->flows)
		return NAT_EXHAUSTED;
	if (!mapping) {
		mapping = nat__map(nat, packet->protocol, &packet->source, &verdict);
		if (!mapping)
			return verdict;
	}
	verdict = NAT_TRANSLATED;
	if (!flow)
		verdict = begin(nat, mapping, &packet->destination, packet, now_ns, &flow);
	if (verdict == NAT_TRANSLATED)
		verdict = use(nat, flow, FLOW_OUT, packet, now_ns);
	if (verdict == NAT_TRANSLATED)
		packet__set_source(packet, &mapping->outside);
	else if (LIST_EMPTY(&mapping->flows) && !mapping->is_static)
		nat__remove_mapping(nat, mapping);
	return verdict;
}

static enum nat_verdict translate(struct nat *nat, struct packet *packet, uint64_t now_ns)
{
	const bool is_to_pool =
		policy__find_address(nat->function.policy, packet->destination.address);
	enum nat_verdict verdict;

	if (packet->is_error)
		return nat__translate_error(nat, packet);
	if (!policy__is_inside(nat->function.policy, packet->source.address))
		return is_to_pool ? translate_back(nat, packet, now_ns) : NAT_UNRELATED;
	if (policy__is_inside(nat->function.policy, packet->destination.address))
		return NAT_UNRELATED;
	verdict = translate_out(nat, packet, now_ns);
	if (verdict == NAT_TRANSLATED && is_to_pool)
		verdict = translate_back(nat, packet, now_ns);
	return verdict;
}

static enum function_action take(struct function *function, struct packet *packet, uint64_t now_ns,
				 unsigned int *verdict)
{
	*verdict = translate((struct nat *)function, packet, now_ns);
	return *verdict == NAT_TRANSLATED || *verdict == NAT_RELATED ? FUNCTION_PASSES :
								       FUNCTION_DROPS;
}

/* ---- flows */

static struct flow *find(const struct function *function, uint8_t protocol,
			 const struct end *inside, const struct end *remote)
{
	const struct nat *nat = (const struct nat *)function;
	struct mapping *mapping = nat__mapping_inside(nat, protocol, inside) ?:
					  nat__mapping_outside(nat, protocol, inside);

	return mapping ? (struct flow *)nat__find_flow(nat, mapping, remote) : NULL;
}

static struct flow_record record_of(const struct flow *flow)
{
	const struct nat_flow *nat_flow = (const struct nat_flow *)flow;

	return (struct flow_record){
		.protocol = nat_flow->mapping->protocol,
		.inside = nat_flow->mapping->inside,
		.outside = nat_flow->mapping->outside,
		.remote = nat_flow->remote,
	};
}

static const char *connection_of(const struct flow *flow)
{
	const struct nat_flow *nat_flow = (const struct nat_flow *)flow;

	return nat_flow->mapping->protocol == IPPROTO_TCP ?
		       connection_phase_names[nat_flow->connection.phase] :
		       NULL;
}

static bool is_static(const struct flow *flow)
{
	return ((const struct nat_flow *)flow)->mapping->is_static;
}

/* Removes a mapping of the past with all its flows. */
static void forget_mapping(struct nat *nat, struct mapping *mapping)
{
	struct nat_flow *flow, *next;

	for (flow = LIST_FIRST(&mapping->flows); flow; flow = next) {
		next = LIST_NEXT(flow, of_mapping);
		function__remove(&nat->function,
				 &flow->flow); /* the last one takes the mapping with it */
	}
}

/* The mapping of a record, made if necessary; NULL: a static one has its port. */
static struct mapping *restore_mapping(struct nat *nat, const struct flow_record *record)
{
	struct mapping *mapping, *other;

	mapping = nat__mapping_outside(nat, record->protocol, &record->outside);
	if (mapping && end__equal(&mapping->inside, &record->inside))
		return mapping;
	if (mapping && mapping->is_static)
		return NULL;
	if (mapping)
		forget_mapping(nat, mapping);
	other = nat__mapping_inside(nat, record->protocol, &record->inside);
	if (other && !other->is_static) {
		forget_mapping(nat, other);
		other = NULL;
	}
	mapping = nat__add_mapping(nat, record->protocol, &record->inside, &record->outside);
	if (!mapping)
		return NULL;
	mapping->has_port =
		!ports__take(nat->ports, policy__class(record->protocol), &record->outside);
	if (other || !mapping->has_port ||
	    !policy__is_inside(nat->function.policy, record->inside.address)) {
		/* The host has a static mapping now, or the policy has no place for this one. */
		index__remove(&nat->insides, &mapping->inside_link);
		mapping->is_leaving = true;
		return mapping;
	}
	mapping->is_counted = true;
	mapping->subscriber->ports++;
	mapping->subscriber->pool_address = record->outside.address;
	return mapping;
}

/* Otherwise it is of another function, whose journal this was. */
static bool is_of_nat(const struct flow_record *record)
{
	return address__is_ipv4(record->inside.address) &&
	       address__is_ipv4(record->outside.address) &&
	       address__is_ipv4(record->remote.address) &&
	       (record->protocol == IPPROTO_TCP || record->protocol == IPPROTO_UDP ||
		record->protocol == IPPROTO_ICMP);
}

static int restore(struct function *function, const struct flow_record *record, uint64_t now_ns)
{
	struct nat *nat = (struct nat *)function;
	const bool kept = is_kept(nat, record->protocol, &record->remote);
	enum flow_state state = kept ? FLOW_KEPT : FLOW_ENTERING;
	struct mapping *mapping;
	struct nat_flow *flow;

	if (!is_of_nat(record))
		return -EINVAL;
	mapping = restore_mapping(nat, record);
	if (!mapping || nat__find_flow(nat, mapping, &record->remote))
		return -EEXIST;
	if (mapping->is_leaving)
		state = FLOW_ENDING;
	flow = nat__add_flow(nat, mapping, &record->remote, state, now_ns);
	if (!flow)
		return -ENOMEM;
	flow->flow.is_kept = kept;
	flow->flow.is_recorded = true;
	flow->flow.was_entered = true;
	connection__restore(&flow->connection, FLOW_OPEN);
	return 0;
}

static void restore_closure(struct flow *flow, enum flow_closure closure)
{
	connection__restore(&((struct nat_flow *)flow)->connection, closure);
}

/* ---- entries */

static void value_of(const struct function *function, const struct flow *flow,
		     enum flow_direction direction, uint8_t *value)
{
	const struct mapping *mapping = ((const struct nat_flow *)flow)->mapping;
	const uint8_t tracked = mapping->protocol == IPPROTO_TCP ? VALUE_TRACKED : 0;

	if (direction == FLOW_OUT)
		function__put_value(function, value, &mapping->outside, VALUE_SOURCE | tracked);
	else
		function__put_value(function, value, &mapping->inside, tracked);
}

static struct flow *flow_of_entry(const struct function *function, uint8_t protocol,
				  const struct end *source, const struct end *destination,
				  const uint8_t *value, enum flow_direction *direction)
{
	const struct nat *nat = (const struct nat *)function;
	struct end given;
	const bool is_out = function__get_value(function, value, &given) & VALUE_SOURCE;
	struct mapping *mapping;

	*direction = is_out ? FLOW_OUT : FLOW_BACK;
	/* A mapping that leaves is found by its port only. */
	mapping = is_out ? nat__mapping_inside(nat, protocol, source) :
			   nat__mapping_outside(nat, protocol, destination);
	if (!mapping)
		return NULL;
	return (struct flow *)nat__find_flow(nat, mapping, is_out ? destination : source);
}

/* Somebody else's, unless an address of a pool stands in it. */
static bool is_stray(const struct function *function, uint8_t protocol,
		     const struct end *destination, const uint8_t *value)
{
	struct end given;
	const uint8_t flags = function__get_value(function, value, &given);

	return policy__find_address(function->policy,
				    flags & VALUE_SOURCE ? given.address : destination->address);
}

void nat__count(const struct function *function, struct nat_counts *counts)
{
	const struct nat *nat = (const struct nat *)function;
	const struct policy *policy = function->policy;
	size_t i, kind;

	*counts = (struct nat_counts){
		.mappings = nat->mapping_count,
		.subscribers = nat->subscriber_count,
	};
	for (kind = 0; kind < POLICY_CLASSES; kind++)
		counts->ports[kind] = ports__taken(nat->ports, kind);
	for (i = 0; i < policy->address_count; i++)
		counts->port_places += policy->addresses[i].last - policy->addresses[i].first + 1;
}

static void tell_counts(const struct function *function,
			void (*tell)(void *subject, const char *group, const char *name,
				     uint64_t count),
			void *subject)
{
	struct nat_counts counts;

	nat__count(function, &counts);
	tell(subject, "flows", "mappings", counts.mappings);
	tell(subject, "flows", "subscribers", counts.subscribers);
	tell(subject, "ports", "of_each", counts.port_places);
	tell(subject, "ports", "tcp", counts.ports[POLICY_TCP]);
	tell(subject, "ports", "udp", counts.ports[POLICY_UDP]);
	tell(subject, "ports", "icmp", counts.ports[POLICY_ICMP]);
}

const struct function_type nat_type = {
	.size = sizeof(struct nat),
	.value_length = FLOW_NAT_LENGTH,
	.verdict_names = verdict_names,
	.verdicts = NAT_VERDICTS,
	.open = open_nat,
	.close = close_nat,
	.set_policy = set_policy,
	.take = take,
	.find = find,
	.free_flow = nat__free_flow,
	.record = record_of,
	.restore = restore,
	.restore_closure = restore_closure,
	.value = value_of,
	.flow_of_entry = flow_of_entry,
	.is_stray = is_stray,
	.connection = connection_of,
	.is_static = is_static,
	.tell_counts = tell_counts,
};
