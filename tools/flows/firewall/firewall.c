// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a packet, and of the flows when a policy changes: see firewall.h. */
#include "firewall.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flows/connection/tracking.h"
#include "tools/flows/function/hosts.h"

/* Values of entries: schemas/firewall.yaml. */
#define STATE_ESTABLISHED 2
#define STATE_TRACKED 4

#define FLOW_OF(link) ((struct firewall_flow *)((char *)(link)-offsetof(struct flow, link)))

struct firewall_flow {
	struct tracked tracked;
	struct host *host; /* that began it */
	struct end inside, remote;
};

struct firewall {
	struct tracking tracking;
	struct hosts hosts;
};

static const char *const verdict_names[FIREWALL_VERDICTS] = {
	[FIREWALL_PASSED] = "passed",	[FIREWALL_RELATED] = "related",
	[FIREWALL_DROPPED] = "dropped", [FIREWALL_REJECTED] = "rejected",
	[FIREWALL_UNKNOWN] = "unknown", [FIREWALL_INVALID] = "invalid",
	[FIREWALL_LIMITED] = "limited", [FIREWALL_EXHAUSTED] = "exhausted",
	[FIREWALL_ENDED] = "ended",	[FIREWALL_CLOSED] = "closed",
	[FIREWALL_SPOOFED] = "spoofed",
};

/* ---- flows */

/* The same for both directions. */
static uint64_t hash_of(const struct function *function, uint8_t protocol, const struct end *one,
			const struct end *other)
{
	const bool is_less = end__compare(one, other) < 0;
	const struct end *low = is_less ? one : other, *high = is_less ? other : one;
	const address_t key[] = { low->address, high->address,
				  (uint64_t)low->port << 24 | high->port << 8 | protocol };

	return index__hash(&function->flows, key, sizeof(key));
}

static struct firewall_flow *find_flow(const struct function *function, uint8_t protocol,
				       const struct end *source, const struct end *destination,
				       enum flow_direction *direction)
{
	struct index_link *link =
		index__chain(&function->flows, hash_of(function, protocol, source, destination));

	for (; link; link = link->next) {
		struct firewall_flow *flow = FLOW_OF(link);

		*direction = end__equal(&flow->inside, source) ? FLOW_OUT : FLOW_BACK;
		if (flow->tracked.protocol == protocol &&
		    end__equal(*direction == FLOW_OUT ? &flow->remote : &flow->inside,
			       destination) &&
		    end__equal(*direction == FLOW_OUT ? &flow->inside : &flow->remote, source))
			return flow;
	}
	return NULL;
}

/* A flow that is not taken in yet; NULL: out of memory. */
static struct firewall_flow *new_flow(struct firewall *firewall, uint8_t protocol,
				      const struct end *inside, const struct end *remote)
{
	struct firewall_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->host = hosts__hold(&firewall->hosts, inside->address);
	if (!flow->host) {
		free(flow);
		return NULL;
	}
	flow->tracked.protocol = protocol;
	flow->inside = *inside;
	flow->remote = *remote;
	return flow;
}

static void free_flow(struct function *function, struct flow *flow)
{
	struct firewall *firewall = (struct firewall *)function;
	struct firewall_flow *firewall_flow = (struct firewall_flow *)flow;

	tracking__forget(&firewall->tracking, &firewall_flow->tracked);
	hosts__release(&firewall->hosts, firewall_flow->host);
	free(firewall_flow);
}

/* ---- packets that belong to no flow */

static enum firewall_verdict begin(struct firewall *firewall, const struct packet *packet,
				   const struct segment *segment, uint64_t now_ns)
{
	struct function *function = &firewall->tracking.function;
	struct firewall_flow *flow;

	if (function->is_closed)
		return FIREWALL_CLOSED;
	if (hosts__flows(&firewall->hosts, packet->source.address) >= function->policy->flows_limit)
		return FIREWALL_LIMITED;
	if (packet->protocol == IPPROTO_TCP)
		tracking__make_place(&firewall->tracking);
	if (function->counts.flows >= function->policy->flows)
		return FIREWALL_EXHAUSTED;
	flow = new_flow(firewall, packet->protocol, &packet->source, &packet->destination);
	if (!flow)
		return FIREWALL_EXHAUSTED;
	tracking__add(&firewall->tracking, &flow->tracked,
		      hash_of(function, packet->protocol, &packet->source, &packet->destination),
		      now_ns);
	tracking__begin(&firewall->tracking, &flow->tracked, packet, segment, now_ns);
	return FIREWALL_PASSED;
}

static enum firewall_verdict decide(struct firewall *firewall, const struct packet *packet,
				    const struct segment *segment, uint64_t now_ns)
{
	if (packet->protocol == IPPROTO_TCP ? !connection__is_first(segment) : packet->is_reply)
		return FIREWALL_UNKNOWN;
	switch (policy__decide(firewall->tracking.function.policy, packet->protocol,
			       packet->source.address, &packet->destination)) {
	case POLICY_ACCEPT:
		return begin(firewall, packet, segment, now_ns);
	case POLICY_REJECT:
		return FIREWALL_REJECTED;
	default:
		return FIREWALL_DROPPED;
	}
}

/* ---- packets of a flow */

static enum firewall_verdict take_of_flow(struct firewall *firewall, struct firewall_flow *flow,
					  enum flow_direction direction,
					  const struct packet *packet,
					  const struct segment *segment, uint64_t now_ns)
{
	switch (tracking__take(&firewall->tracking, &flow->tracked, direction, packet, segment,
			       now_ns)) {
	case TRACKING_PASSES:
		return FIREWALL_PASSED;
	case TRACKING_AGAIN:
		return decide(firewall, packet, segment, now_ns);
	case TRACKING_INVALID:
		return FIREWALL_INVALID;
	case TRACKING_CLOSED:
		return FIREWALL_CLOSED;
	default:
		return FIREWALL_ENDED;
	}
}

static enum firewall_verdict take_error(struct firewall *firewall, const struct packet *packet)
{
	enum flow_direction direction;

	/* It goes to the sender of the packet that it quotes. */
	if (packet->destination.address != packet->quoted_source.address)
		return FIREWALL_INVALID;
	return find_flow(&firewall->tracking.function, packet->quoted_protocol,
			 &packet->quoted_source, &packet->quoted_destination, &direction) ?
		       FIREWALL_RELATED :
		       FIREWALL_UNKNOWN;
}

static enum firewall_verdict judge(struct firewall *firewall, const struct packet *packet,
				   uint64_t now_ns)
{
	struct segment segment = {};
	enum flow_direction direction;
	struct firewall_flow *flow;

	if (policy__is_spoofed(firewall->tracking.function.policy, packet))
		return FIREWALL_SPOOFED;
	/* The receiver would not take it, so it says nothing about the connection. */
	if (!packet__is_sound(packet))
		return FIREWALL_INVALID;
	if (packet->is_error)
		return take_error(firewall, packet);
	if (packet->protocol == IPPROTO_TCP) {
		segment = packet__segment(packet);
		if (!connection__are_flags_valid(segment.flags))
			return FIREWALL_INVALID;
	}
	flow = find_flow(&firewall->tracking.function, packet->protocol, &packet->source,
			 &packet->destination, &direction);
	if (!flow)
		return decide(firewall, packet, &segment, now_ns);
	return take_of_flow(firewall, flow, direction, packet, &segment, now_ns);
}

static enum function_action take(struct function *function, struct packet *packet, uint64_t now_ns,
				 unsigned int *verdict)
{
	*verdict = judge((struct firewall *)function, packet, now_ns);
	if (*verdict == FIREWALL_ENDED && !tracking__may_refuse(packet))
		return FUNCTION_DROPS;
	switch (*verdict) {
	case FIREWALL_PASSED:
	case FIREWALL_RELATED:
		return FUNCTION_PASSES;
	case FIREWALL_REJECTED:
		return FUNCTION_ANSWERS;
	case FIREWALL_ENDED:
	case FIREWALL_UNKNOWN:
		return function->policy->refusal == POLICY_REJECT ? FUNCTION_ANSWERS :
								    FUNCTION_DROPS;
	default:
		return FUNCTION_DROPS;
	}
}

/* ---- life and policies */

static int open_firewall(struct function *function, struct dart_error *error)
{
	struct firewall *firewall = (struct firewall *)function;

	return hosts__open(&firewall->hosts, function->policy->flows) ?
		       dart_error__no_memory(error) :
		       0;
}

static void close_firewall(struct function *function)
{
	struct firewall *firewall = (struct firewall *)function;
	struct index_link *link;
	uint64_t i;

	for (i = 0; function->flows.chains && i <= function->flows.mask; i++)
		while ((link = function->flows.chains[i]))
			function__remove(function, &FLOW_OF(link)->tracked.flow);
	hosts__close(&firewall->hosts);
}

static bool is_permitted(const struct policy *policy, uint8_t protocol, const struct end *inside,
			 const struct end *remote)
{
	return policy__decide(policy, protocol, inside->address, remote) == POLICY_ACCEPT;
}

static int set_policy(struct function *function, const struct policy *policy,
		      struct dart_error *error)
{
	struct index_link *link, *next;
	struct firewall_flow *flow;
	uint64_t i;

	function->policy = policy;
	for (i = 0; i <= function->flows.mask; i++)
		for (link = function->flows.chains[i]; link; link = next) {
			next = link->next;
			flow = FLOW_OF(link);
			if (!is_permitted(policy, flow->tracked.protocol, &flow->inside,
					  &flow->remote))
				function__end(function, &flow->tracked.flow);
		}
	return 0;
}

/* ---- for users, the journal and the table */

static struct flow *find(const struct function *function, uint8_t protocol,
			 const struct end *inside, const struct end *remote)
{
	enum flow_direction direction;
	struct firewall_flow *flow;

	flow = find_flow(function, protocol, inside, remote, &direction);
	return flow ? &flow->tracked.flow : NULL;
}

static struct flow_record record_of(const struct flow *flow)
{
	const struct firewall_flow *firewall_flow = (const struct firewall_flow *)flow;

	return (struct flow_record){
		.protocol = firewall_flow->tracked.protocol,
		.inside = firewall_flow->inside,
		.outside = firewall_flow->inside,
		.remote = firewall_flow->remote,
	};
}

static int restore(struct function *function, const struct flow_record *record, uint64_t now_ns)
{
	enum flow_state state = record->protocol == IPPROTO_ICMP ? FLOW_KEPT : FLOW_ENTERING;
	struct firewall *firewall = (struct firewall *)function;
	enum flow_direction direction;
	const bool is_ipv4 = address__is_ipv4(record->inside.address);
	struct firewall_flow *flow;

	if (!end__equal(&record->inside, &record->outside) ||
	    is_ipv4 != address__is_ipv4(record->remote.address) ||
	    (!is_ipv4 && !function->policy->has_ipv6) ||
	    (record->protocol != IPPROTO_TCP && record->protocol != IPPROTO_UDP &&
	     record->protocol != IPPROTO_ICMP))
		return -EINVAL;
	if (find_flow(function, record->protocol, &record->inside, &record->remote, &direction))
		return -EEXIST;
	if (!is_permitted(function->policy, record->protocol, &record->inside, &record->remote))
		state = FLOW_ENDING;
	flow = new_flow(firewall, record->protocol, &record->inside, &record->remote);
	if (!flow)
		return -ENOMEM;
	tracking__restore(&firewall->tracking, &flow->tracked,
			  hash_of(function, record->protocol, &record->inside, &record->remote),
			  state, now_ns);
	return 0;
}

/* The switch sends SYN, FIN and RST of a tracked connection here. */
static uint8_t state_of(uint8_t protocol)
{
	return protocol == IPPROTO_TCP ? STATE_TRACKED : STATE_ESTABLISHED;
}

static void value_of(const struct function *function, const struct flow *flow,
		     enum flow_direction direction, uint8_t *value)
{
	*value = state_of(((const struct tracked *)flow)->protocol);
}

static struct flow *flow_of_entry(const struct function *function, uint8_t protocol,
				  const struct end *source, const struct end *destination,
				  const uint8_t *value, enum flow_direction *direction)
{
	struct firewall_flow *flow = find_flow(function, protocol, source, destination, direction);

	return flow ? &flow->tracked.flow : NULL;
}

/* Entries of other states are the operator's. */
static bool is_stray(const struct function *function, uint8_t protocol,
		     const struct end *destination, const uint8_t *value)
{
	return *value == state_of(protocol);
}

static void tell_counts(const struct function *function,
			void (*tell)(void *subject, const char *group, const char *name,
				     uint64_t count),
			void *subject)
{
	const struct firewall *firewall = (const struct firewall *)function;

	tell(subject, "flows", "hosts", firewall->hosts.count);
	tell(subject, "flows", "opening", firewall->tracking.opening);
}

const struct function_type firewall_type = {
	.size = sizeof(struct firewall),
	.value_length = 1,
	.value_length_6 = 1,
	.verdict_names = verdict_names,
	.verdicts = FIREWALL_VERDICTS,
	.open = open_firewall,
	.close = close_firewall,
	.set_policy = set_policy,
	.take = take,
	.find = find,
	.free_flow = free_flow,
	.record = record_of,
	.restore = restore,
	.restore_closure = tracking__restore_closure,
	.value = value_of,
	.flow_of_entry = flow_of_entry,
	.is_stray = is_stray,
	.connection = tracking__connection,
	.tell_counts = tell_counts,
};
