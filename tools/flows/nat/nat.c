// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a packet, and of the flows when a policy changes: see nat.h. */
#include "nat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "nat_internal.h"

#define MAPPING_OF(link) ((struct mapping *)((char *)(link)-offsetof(struct mapping, outside_link)))

const char *const nat_verdict_names[NAT_VERDICTS] = {
	[NAT_TRANSLATED] = "translated", [NAT_UNRELATED] = "unrelated",
	[NAT_UNKNOWN] = "unknown",	 [NAT_FILTERED] = "filtered",
	[NAT_LIMITED] = "limited",	 [NAT_EXHAUSTED] = "exhausted",
	[NAT_ENDED] = "ended",		 [NAT_CLOSED] = "closed",
};

/* No new flow uses the mapping, and its flows end. */
static void leave_mapping(struct nat *nat, struct mapping *mapping)
{
	struct flow *flow, *next;

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
		nat__end(nat, flow);
	}
}

/* ---- static mappings */

/* Does a mapping stand in the way of this one? */
static int check_static(const struct nat *nat, const struct policy_static *wanted,
			struct dart_error *error)
{
	const struct mapping *taken;
	char address[INET_ADDRSTRLEN];
	struct in_addr in = { htonl(wanted->outside.address) };

	taken = nat__mapping_outside(nat, wanted->protocol, &wanted->outside);
	if (!taken || (end__equal(&taken->inside, &wanted->inside) && !taken->is_leaving))
		return 0;
	return dart_error__set(
		error, EADDRINUSE,
		"the static mapping of %s %s:%u: a flow has this port (dartctl flow end ends it)",
		policy__protocol_name(wanted->protocol),
		inet_ntop(AF_INET, &in, address, sizeof(address)), wanted->outside.port);
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

	for (i = 0; i < nat->policy->static_count; i++)
		if (add_static(nat, &nat->policy->statics[i]))
			return dart_error__no_memory(error);
	return 0;
}

/* ---- life */

int nat__new(const struct policy *policy, const struct nat_handlers *handlers, void *subject,
	     struct nat **made, struct dart_error *error)
{
	struct nat *nat = calloc(1, sizeof(*nat));
	int kind, state;

	if (!nat)
		return dart_error__no_memory(error);
	nat->policy = policy;
	nat->handlers = handlers;
	nat->subject = subject;
	for (kind = 0; kind < POLICY_CLASSES; kind++)
		for (state = 0; state < FLOW_STATES; state++)
			TAILQ_INIT(&nat->queues[kind][state]);
	nat->ports = ports__new(policy);
	if (!nat->ports || index__open(&nat->subscribers, policy->flows) ||
	    index__open(&nat->insides, policy->flows) ||
	    index__open(&nat->outsides, policy->flows) || index__open(&nat->flows, policy->flows) ||
	    add_statics(nat, error)) {
		nat__free(nat);
		return dart_error__no_memory(error);
	}
	*made = nat;
	return 0;
}

static void forget(void *subject, const struct flow *flow)
{
}

void nat__free(struct nat *nat)
{
	static const struct nat_handlers silent = { .ended = forget };
	struct index_link *link;
	struct mapping *mapping;
	uint64_t i;

	if (!nat)
		return;
	nat->handlers = &silent;
	for (i = 0; nat->outsides.chains && i <= nat->outsides.mask; i++)
		while ((link = nat->outsides.chains[i])) {
			mapping = MAPPING_OF(link);
			mapping->is_static = false;
			if (LIST_EMPTY(&mapping->flows))
				nat__remove_mapping(nat, mapping);
			else
				nat__remove_flow(nat, LIST_FIRST(&mapping->flows));
		}
	index__close(&nat->subscribers);
	index__close(&nat->insides);
	index__close(&nat->outsides);
	index__close(&nat->flows);
	ports__free(nat->ports);
	free(nat);
}

void nat__close(struct nat *nat, bool is_closed)
{
	nat->is_closed = is_closed;
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
	if (mapping->has_port && policy__is_inside(nat->policy, mapping->inside.address) &&
	    (!mapping->is_static || is_static_of(nat->policy, mapping)))
		return;
	leave_mapping(nat, mapping);
}

int nat__set_policy(struct nat *nat, const struct policy *policy, struct dart_error *error)
{
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
	nat->policy = policy;
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
	return protocol == IPPROTO_ICMP || policy__find_address(nat->policy, remote->address);
}

static enum nat_verdict begin(struct nat *nat, struct mapping *mapping, const struct end *remote,
			      uint64_t now_ns, struct flow **begun)
{
	struct flow *flow;

	if (nat->is_closed)
		return NAT_CLOSED;
	if (mapping->subscriber->flows >= nat->policy->flows_limit)
		return NAT_LIMITED;
	if (nat->counts.flows >= nat->policy->flows)
		return NAT_EXHAUSTED;
	flow = nat__add_flow(nat, mapping, remote,
			     is_kept(nat, mapping->protocol, remote) ? FLOW_KEPT : FLOW_ENTERING,
			     now_ns);
	if (!flow)
		return NAT_EXHAUSTED;
	flow->is_kept = flow->state == FLOW_KEPT;
	nat->counts.begun++;
	nat->handlers->begun(nat->subject, flow);
	if (!flow->is_kept)
		nat__enter(nat, flow);
	*begun = flow;
	return NAT_TRANSLATED;
}

/* A packet of the flow is here. */
static enum nat_verdict use(struct nat *nat, struct flow *flow, const struct packet *packet,
			    uint64_t now_ns)
{
	switch (flow->state) {
	case FLOW_ENDING:
		return NAT_ENDED;
	case FLOW_KEPT:
		nat__set_state(nat, flow, FLOW_KEPT, now_ns);
		break;
	case FLOW_LEAVING:
	case FLOW_ASKED:
		nat__set_state(nat, flow, FLOW_ENTERING, now_ns);
		nat__enter(nat, flow);
		break;
	default:
		break;
	}
	flow->packets++;
	flow->bytes += packet->length;
	return NAT_TRANSLATED;
}

/* To an address of a pool. */
static enum nat_verdict translate_back(struct nat *nat, struct packet *packet, uint64_t now_ns)
{
	enum nat_verdict verdict = NAT_TRANSLATED;
	struct mapping *mapping;
	struct flow *flow;

	mapping = nat__mapping_outside(nat, packet->protocol, &packet->destination);
	if (!mapping)
		return NAT_UNKNOWN;
	flow = nat__find_flow(nat, mapping, &packet->source);
	if (!flow) {
		if (mapping->is_leaving || (!mapping->is_static && !nat->policy->is_open))
			return NAT_FILTERED;
		verdict = begin(nat, mapping, &packet->source, now_ns, &flow);
	}
	if (verdict == NAT_TRANSLATED)
		verdict = use(nat, flow, packet, now_ns);
	if (verdict == NAT_TRANSLATED)
		packet__set_destination(packet, &mapping->inside);
	return verdict;
}

/* From inside; an echo reply has no port that could be mapped. */
static enum nat_verdict translate_out(struct nat *nat, struct packet *packet, uint64_t now_ns)
{
	enum nat_verdict verdict = NAT_TRANSLATED;
	struct mapping *mapping;
	struct flow *flow = NULL;

	if (packet->is_reply)
		return NAT_UNRELATED;
	mapping = nat__mapping_inside(nat, packet->protocol, &packet->source);
	if (mapping)
		flow = nat__find_flow(nat, mapping, &packet->destination);
	else if (nat->is_closed)
		verdict = NAT_CLOSED;
	else if (nat->counts.flows >= nat->policy->flows)
		verdict = NAT_EXHAUSTED;
	else
		mapping = nat__map(nat, packet->protocol, &packet->source, &verdict);
	if (!mapping)
		return verdict;
	verdict = NAT_TRANSLATED;
	if (!flow)
		verdict = begin(nat, mapping, &packet->destination, now_ns, &flow);
	if (verdict == NAT_TRANSLATED)
		verdict = use(nat, flow, packet, now_ns);
	if (verdict == NAT_TRANSLATED)
		packet__set_source(packet, &mapping->outside);
	else if (LIST_EMPTY(&mapping->flows) && !mapping->is_static)
		nat__remove_mapping(nat, mapping);
	return verdict;
}

static enum nat_verdict translate(struct nat *nat, struct packet *packet, uint64_t now_ns)
{
	const bool is_to_pool = policy__find_address(nat->policy, packet->destination.address);
	enum nat_verdict verdict;

	if (!policy__is_inside(nat->policy, packet->source.address))
		return is_to_pool ? translate_back(nat, packet, now_ns) : NAT_UNRELATED;
	if (policy__is_inside(nat->policy, packet->destination.address))
		return NAT_UNRELATED;
	verdict = translate_out(nat, packet, now_ns);
	if (verdict == NAT_TRANSLATED && is_to_pool)
		verdict = translate_back(nat, packet, now_ns);
	return verdict;
}

enum nat_verdict nat__translate(struct nat *nat, struct packet *packet, uint64_t now_ns)
{
	const enum nat_verdict verdict = translate(nat, packet, now_ns);

	nat->counts.verdicts[verdict]++;
	return verdict;
}

/* ---- flows */

struct flow *nat__find(const struct nat *nat, uint8_t protocol, const struct end *inside,
		       const struct end *remote)
{
	struct mapping *mapping = nat__mapping_inside(nat, protocol, inside) ?:
					  nat__mapping_outside(nat, protocol, inside);

	return mapping ? nat__find_flow(nat, mapping, remote) : NULL;
}

void nat__end(struct nat *nat, struct flow *flow)
{
	switch (flow->state) {
	case FLOW_KEPT:
	case FLOW_ASKED:
		nat__remove_flow(nat, flow);
		break;
	case FLOW_ENTERING:
	case FLOW_ENTERED:
		nat__set_state(nat, flow, FLOW_ENDING, flow->since_ns);
		nat__leave(nat, flow);
		break;
	case FLOW_LEAVING: /* the removal is on its way */
		nat__set_state(nat, flow, FLOW_ENDING, flow->since_ns);
		break;
	default:
		break;
	}
}

struct nat_record flow__record(const struct flow *flow)
{
	return (struct nat_record){
		.protocol = flow->mapping->protocol,
		.inside = flow->mapping->inside,
		.outside = flow->mapping->outside,
		.remote = flow->remote,
	};
}

/* Removes a mapping of the past with all its flows. */
static void forget_mapping(struct nat *nat, struct mapping *mapping)
{
	struct flow *flow, *next;

	for (flow = LIST_FIRST(&mapping->flows); flow; flow = next) {
		next = LIST_NEXT(flow, of_mapping);
		nat__remove_flow(nat, flow); /* the last one takes the mapping with it */
	}
}

/* The mapping of a record, made if necessary; NULL: a static one has its port. */
static struct mapping *restore_mapping(struct nat *nat, const struct nat_record *record)
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
	    !policy__is_inside(nat->policy, record->inside.address)) {
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

int nat__restore(struct nat *nat, const struct nat_record *record, uint64_t now_ns)
{
	const bool kept = is_kept(nat, record->protocol, &record->remote);
	struct mapping *mapping;
	struct flow *flow;

	if (nat->counts.flows >= nat->policy->flows)
		return -ENOSPC;
	mapping = restore_mapping(nat, record);
	if (!mapping || nat__find_flow(nat, mapping, &record->remote))
		return -EEXIST;
	flow = nat__add_flow(nat, mapping, &record->remote,
			     mapping->is_leaving ? FLOW_ENDING :
			     kept		 ? FLOW_KEPT :
						   FLOW_ENTERING,
			     now_ns);
	if (!flow)
		return -ENOMEM;
	flow->is_kept = kept;
	return 0;
}

void nat__forget(struct nat *nat, const struct nat_record *record)
{
	struct mapping *mapping;
	struct flow *flow;

	mapping = nat__mapping_outside(nat, record->protocol, &record->outside);
	flow = mapping && end__equal(&mapping->inside, &record->inside) ?
		       nat__find_flow(nat, mapping, &record->remote) :
		       NULL;
	if (flow)
		nat__remove_flow(nat, flow);
}

void nat__count(const struct nat *nat, struct nat_counts *counts)
{
	size_t i;
	int kind;

	*counts = nat->counts;
	for (kind = 0; kind < POLICY_CLASSES; kind++)
		counts->ports[kind] = ports__taken(nat->ports, kind);
	for (i = 0; i < nat->policy->address_count; i++)
		counts->port_places +=
			nat->policy->addresses[i].last - nat->policy->addresses[i].first + 1;
}
