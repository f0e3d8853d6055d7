// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a packet, and of the flows when a policy changes: see firewall.h. */
#include "firewall.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flows/connection/connection.h"
#include "tools/flows/function/function_type.h"

/* Values of entries: schemas/firewall.yaml. */
#define STATE_ESTABLISHED 2
#define STATE_TRACKED 4

#define HOST_OF(link) ((struct host *)((char *)(link)-offsetof(struct host, link)))
#define FLOW_OF(link) ((struct firewall_flow *)((char *)(link)-offsetof(struct flow, link)))

/* A host that began flows, by its address. */
struct host {
	struct index_link link;
	uint32_t address, flows;
};

struct firewall_flow {
	struct flow flow;
	struct host *host;
	struct end inside, remote;
	uint8_t protocol;
	struct connection connection; /* of TCP */
};

struct firewall {
	struct function function;
	struct index hosts;
	uint64_t host_count, opening;
};

static const char *const verdict_names[FIREWALL_VERDICTS] = {
	[FIREWALL_PASSED] = "passed",	[FIREWALL_RELATED] = "related",
	[FIREWALL_DROPPED] = "dropped", [FIREWALL_REJECTED] = "rejected",
	[FIREWALL_UNKNOWN] = "unknown", [FIREWALL_INVALID] = "invalid",
	[FIREWALL_LIMITED] = "limited", [FIREWALL_EXHAUSTED] = "exhausted",
	[FIREWALL_ENDED] = "ended",	[FIREWALL_CLOSED] = "closed",
	[FIREWALL_SPOOFED] = "spoofed",
};

/* ---- hosts */

static struct host *find_host(const struct firewall *firewall, uint32_t address)
{
	const uint64_t hash = index__hash(&firewall->hosts, &address, sizeof(address));
	struct index_link *link = index__chain(&firewall->hosts, hash);

	while (link && HOST_OF(link)->address != address)
		link = link->next;
	return link ? HOST_OF(link) : NULL;
}

/* Counts a flow; NULL: out of memory. */
static struct host *hold_host(struct firewall *firewall, uint32_t address)
{
	struct host *host = find_host(firewall, address);

	if (!host) {
		host = calloc(1, sizeof(*host));
		if (!host)
			return NULL;
		host->address = address;
		index__add(&firewall->hosts, &host->link,
			   index__hash(&firewall->hosts, &address, sizeof(address)));
		firewall->host_count++;
	}
	host->flows++;
	return host;
}

static void release_host(struct firewall *firewall, struct host *host)
{
	if (--host->flows)
		return;
	index__remove(&firewall->hosts, &host->link);
	firewall->host_count--;
	free(host);
}

/* ---- flows */

/* The same for both directions. */
static uint64_t hash_of(const struct function *function, uint8_t protocol, const struct end *one,
			const struct end *other)
{
	const bool is_less = one->address != other->address ? one->address < other->address :
							      one->port < other->port;
	const struct end *low = is_less ? one : other, *high = is_less ? other : one;
	const uint32_t key[] = { low->address, high->address,
				 (uint32_t)low->port << 16 | high->port, protocol };

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
		if (flow->protocol == protocol &&
		    end__equal(*direction == FLOW_OUT ? &flow->remote : &flow->inside,
			       destination) &&
		    end__equal(*direction == FLOW_OUT ? &flow->inside : &flow->remote, source))
			return flow;
	}
	return NULL;
}

static struct firewall_flow *add_flow(struct firewall *firewall, uint8_t protocol,
				      const struct end *inside, const struct end *remote,
				      unsigned int timeout, enum flow_state state, uint64_t now_ns)
{
	struct firewall_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->host = hold_host(firewall, inside->address);
	if (!flow->host) {
		free(flow);
		return NULL;
	}
	flow->protocol = protocol;
	flow->inside = *inside;
	flow->remote = *remote;
	/* Of TCP, what the journal knows is established. */
	flow->connection.phase = CONNECTION_ESTABLISHED;
	function__add(&firewall->function, &flow->flow,
		      hash_of(&firewall->function, protocol, inside, remote), timeout, state,
		      now_ns);
	return flow;
}

static void free_flow(struct function *function, struct flow *flow)
{
	struct firewall *firewall = (struct firewall *)function;
	struct firewall_flow *firewall_flow = (struct firewall_flow *)flow;

	firewall->opening -= firewall_flow->connection.phase == CONNECTION_OPENING;
	release_host(firewall, firewall_flow->host);
	free(firewall_flow);
}

/* At the limit, a new connection replaces the opening one that has waited longest. */
static void make_place(struct firewall *firewall)
{
	struct function *function = &firewall->function;
	struct flow_queue *waiting = &function->queues[POLICY_TRANSITORY][FLOW_KEPT];

	while (firewall->opening >= function->policy->opening_limit && !TAILQ_EMPTY(waiting))
		function__remove(function, TAILQ_FIRST(waiting));
}

/* ---- packets that belong to no flow */

static enum firewall_verdict begin(struct firewall *firewall, const struct packet *packet,
				   const struct segment *segment, uint64_t now_ns)
{
	const bool is_tcp = packet->protocol == IPPROTO_TCP;
	const bool is_kept = packet->protocol != IPPROTO_UDP;
	struct function *function = &firewall->function;
	const struct host *host = find_host(firewall, packet->source.address);
	struct firewall_flow *flow;

	if (function->is_closed)
		return FIREWALL_CLOSED;
	if (host && host->flows >= function->policy->flows_limit)
		return FIREWALL_LIMITED;
	if (is_tcp)
		make_place(firewall);
	if (function->counts.flows >= function->policy->flows)
		return FIREWALL_EXHAUSTED;
	flow = add_flow(firewall, packet->protocol, &packet->source, &packet->destination,
			is_tcp ? POLICY_TRANSITORY : policy__class(packet->protocol),
			is_kept ? FLOW_KEPT : FLOW_ENTERING, now_ns);
	if (!flow)
		return FIREWALL_EXHAUSTED;
	flow->flow.is_kept = packet->protocol == IPPROTO_ICMP;
	if (is_tcp) {
		connection__open(&flow->connection, segment);
		firewall->opening++;
	} else {
		function__begin(function, &flow->flow);
	}
	if (!is_kept)
		function__enter(function, &flow->flow, now_ns);
	function__use(function, &flow->flow, packet, now_ns);
	return FIREWALL_PASSED;
}

static enum firewall_verdict decide(struct firewall *firewall, const struct packet *packet,
				    const struct segment *segment, uint64_t now_ns)
{
	if (packet->protocol == IPPROTO_TCP ? !connection__is_first(segment) : packet->is_reply)
		return FIREWALL_UNKNOWN;
	switch (policy__decide(firewall->function.policy, packet->protocol, packet->source.address,
			       &packet->destination)) {
	case POLICY_ACCEPT:
		return begin(firewall, packet, segment, now_ns);
	case POLICY_REJECT:
		return FIREWALL_REJECTED;
	default:
		return FIREWALL_DROPPED;
	}
}

/* ---- packets of a flow */

/* The connection has left one phase for another. */
static void change_phase(struct firewall *firewall, struct firewall_flow *flow,
			 enum connection_phase before, uint64_t now_ns)
{
	struct function *function = &firewall->function;
	const enum connection_phase phase = flow->connection.phase;

	firewall->opening -= before == CONNECTION_OPENING;
	if (before == CONNECTION_OPENING && phase == CONNECTION_RESET) {
		function__remove(function, &flow->flow);
		return;
	}
	if (before == CONNECTION_OPENING)
		function__begin(function, &flow->flow);
	flow->flow.is_over = phase != CONNECTION_ESTABLISHED;
	function__set_timeout(function, &flow->flow,
			      flow->flow.is_over ? POLICY_TRANSITORY : POLICY_TCP, now_ns);
	if (flow->flow.is_over)
		function__ask(function, &flow->flow, now_ns);
	else if (flow->flow.state != FLOW_ENTERING && !flow->flow.is_kept)
		function__enter(function, &flow->flow, now_ns);
}

static enum firewall_verdict take_segment(struct firewall *firewall, struct firewall_flow *flow,
					  enum flow_direction direction,
					  const struct packet *packet,
					  const struct segment *segment, uint64_t now_ns)
{
	const enum connection_phase before = flow->connection.phase;
	struct function *function = &firewall->function;

	if (flow->flow.state == FLOW_ENDING)
		return FIREWALL_ENDED;
	if (flow->flow.is_over && connection__is_first(segment)) {
		/* The same ports again; while its entries are being removed, the next SYN. */
		if (flow->flow.state == FLOW_LEAVING)
			return FIREWALL_ENDED;
		function__remove(function, &flow->flow);
		return decide(firewall, packet, segment, now_ns);
	}
	if (before == CONNECTION_OPENING && function->is_closed)
		return FIREWALL_CLOSED;
	if (!connection__take(&flow->connection, direction, segment))
		return FIREWALL_INVALID;
	function__use(function, &flow->flow, packet, now_ns);
	if (flow->connection.phase != before)
		change_phase(firewall, flow, before, now_ns);
	return FIREWALL_PASSED;
}

static enum firewall_verdict take_error(struct firewall *firewall, const struct packet *packet)
{
	enum flow_direction direction;

	/* It goes to the sender of the packet that it quotes. */
	if (packet->destination.address != packet->quoted_source.address)
		return FIREWALL_INVALID;
	return find_flow(&firewall->function, packet->quoted_protocol, &packet->quoted_source,
			 &packet->quoted_destination, &direction) ?
		       FIREWALL_RELATED :
		       FIREWALL_UNKNOWN;
}

/* Does the frame come from the next hop that answers would go to (RFC 3704, strict)? */
static bool is_from_route(const struct policy *policy, const struct packet *packet)
{
	const uint8_t *next_hop = policy__route(policy, packet->source.address);

	return next_hop && !memcmp(packet->frame + PACKET_MAC_LENGTH, next_hop, PACKET_MAC_LENGTH);
}

static enum firewall_verdict judge(struct firewall *firewall, const struct packet *packet,
				   uint64_t now_ns)
{
	struct segment segment = {};
	enum flow_direction direction;
	struct firewall_flow *flow;

	if (firewall->function.policy->is_strict &&
	    !is_from_route(firewall->function.policy, packet))
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
	flow = find_flow(&firewall->function, packet->protocol, &packet->source,
			 &packet->destination, &direction);
	if (!flow)
		return decide(firewall, packet, &segment, now_ns);
	if (packet->protocol == IPPROTO_TCP)
		return take_segment(firewall, flow, direction, packet, &segment, now_ns);
	return function__use(&firewall->function, &flow->flow, packet, now_ns) ? FIREWALL_PASSED :
										 FIREWALL_ENDED;
}

static enum function_action take(struct function *function, struct packet *packet, uint64_t now_ns,
				 unsigned int *verdict)
{
	*verdict = judge((struct firewall *)function, packet, now_ns);
	switch (*verdict) {
	case FIREWALL_PASSED:
	case FIREWALL_RELATED:
		return FUNCTION_PASSES;
	case FIREWALL_REJECTED:
		return FUNCTION_REFUSES;
	case FIREWALL_UNKNOWN:
		return function->policy->refusal == POLICY_REJECT ? FUNCTION_REFUSES :
								    FUNCTION_DROPS;
	default:
		return FUNCTION_DROPS;
	}
}

/* ---- life and policies */

static int open_firewall(struct function *function, struct dart_error *error)
{
	struct firewall *firewall = (struct firewall *)function;

	return index__open(&firewall->hosts, function->policy->flows) ?
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
			function__remove(function, &FLOW_OF(link)->flow);
	index__close(&firewall->hosts);
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
			if (!is_permitted(policy, flow->protocol, &flow->inside, &flow->remote))
				function__end(function, &flow->flow);
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
	return flow ? &flow->flow : NULL;
}

static struct flow_record record_of(const struct flow *flow)
{
	const struct firewall_flow *firewall_flow = (const struct firewall_flow *)flow;

	return (struct flow_record){
		.protocol = firewall_flow->protocol,
		.inside = firewall_flow->inside,
		.outside = firewall_flow->inside,
		.remote = firewall_flow->remote,
	};
}

static int restore(struct function *function, const struct flow_record *record, uint64_t now_ns)
{
	enum flow_state state = record->protocol == IPPROTO_ICMP ? FLOW_KEPT : FLOW_ENTERING;
	enum flow_direction direction;
	struct firewall_flow *flow;

	if (!end__equal(&record->inside, &record->outside) ||
	    (record->protocol != IPPROTO_TCP && record->protocol != IPPROTO_UDP &&
	     record->protocol != IPPROTO_ICMP))
		return -EINVAL;
	if (find_flow(function, record->protocol, &record->inside, &record->remote, &direction))
		return -EEXIST;
	if (!is_permitted(function->policy, record->protocol, &record->inside, &record->remote))
		state = FLOW_ENDING;
	flow = add_flow((struct firewall *)function, record->protocol, &record->inside,
			&record->remote, policy__class(record->protocol), state, now_ns);
	if (!flow)
		return -ENOMEM;
	flow->flow.is_kept = record->protocol == IPPROTO_ICMP;
	flow->flow.is_recorded = true;
	return 0;
}

/* The switch sends SYN, FIN and RST of a tracked connection here. */
static uint8_t state_of(uint8_t protocol)
{
	return protocol == IPPROTO_TCP ? STATE_TRACKED : STATE_ESTABLISHED;
}

static void value_of(const struct flow *flow, enum flow_direction direction, uint8_t *value)
{
	*value = state_of(((const struct firewall_flow *)flow)->protocol);
}

static struct flow *flow_of_entry(const struct function *function, uint8_t protocol,
				  const struct end *source, const struct end *destination,
				  const uint8_t *value, enum flow_direction *direction)
{
	struct firewall_flow *flow = find_flow(function, protocol, source, destination, direction);

	return flow ? &flow->flow : NULL;
}

/* Entries of other states are the operator's. */
static bool is_stray(const struct function *function, uint8_t protocol,
		     const struct end *destination, const uint8_t *value)
{
	return *value == state_of(protocol);
}

static const char *connection_of(const struct flow *flow)
{
	const struct firewall_flow *firewall_flow = (const struct firewall_flow *)flow;

	return firewall_flow->protocol == IPPROTO_TCP ?
		       connection_phase_names[firewall_flow->connection.phase] :
		       NULL;
}

static void tell_counts(const struct function *function,
			void (*tell)(void *subject, const char *group, const char *name,
				     uint64_t count),
			void *subject)
{
	const struct firewall *firewall = (const struct firewall *)function;

	tell(subject, "flows", "hosts", firewall->host_count);
	tell(subject, "flows", "opening", firewall->opening);
}

const struct function_type firewall_type = {
	.size = sizeof(struct firewall),
	.value_length = 1,
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
	.value = value_of,
	.flow_of_entry = flow_of_entry,
	.is_stray = is_stray,
	.connection = connection_of,
	.tell_counts = tell_counts,
};
