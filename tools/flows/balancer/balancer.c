// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a packet, and of the flows when servers or the policy change: see balancer.h. */
#include "balancer.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "balancer_internal.h"

#define OF(link, member) \
	((struct balancer_flow *)((char *)(link)-offsetof(struct balancer_flow, member)))

static const char *const verdict_names[BALANCER_VERDICTS] = {
	[BALANCER_TRANSLATED] = "translated", [BALANCER_RELATED] = "related",
	[BALANCER_DOWN] = "no_server",	      [BALANCER_UNKNOWN] = "unknown",
	[BALANCER_UNSERVED] = "unserved",     [BALANCER_UNRELATED] = "unrelated",
	[BALANCER_INVALID] = "invalid",	      [BALANCER_SPOOFED] = "spoofed",
	[BALANCER_LIMITED] = "limited",	      [BALANCER_EXHAUSTED] = "exhausted",
	[BALANCER_ENDED] = "ended",	      [BALANCER_CLOSED] = "closed",
};

/* ---- flows */

static uint64_t hash_of(const struct index *index, uint8_t protocol, const struct end *end,
			const struct end *client)
{
	const address_t key[] = { end->address, client->address,
				  (uint64_t)end->port << 24 | client->port << 8 | protocol };

	return index__hash(index, key, sizeof(key));
}

static struct balancer_flow *find_by_service(const struct balancer *balancer, uint8_t protocol,
					     const struct end *service, const struct end *client)
{
	const struct index *index = &balancer->tracking.function.flows;
	struct index_link *link = index__chain(index, hash_of(index, protocol, service, client));

	for (; link; link = link->next) {
		struct balancer_flow *flow = OF(link, tracked.flow.link);

		if (flow->tracked.protocol == protocol && end__equal(&flow->client, client) &&
		    end__equal(&flow->service_end, service))
			return flow;
	}
	return NULL;
}

static struct balancer_flow *find_by_server(const struct balancer *balancer, uint8_t protocol,
					    const struct end *server, const struct end *client)
{
	const struct index *index = &balancer->by_server;
	struct index_link *link = index__chain(index, hash_of(index, protocol, server, client));

	for (; link; link = link->next) {
		struct balancer_flow *flow = OF(link, server_link);

		if (flow->tracked.protocol == protocol && end__equal(&flow->client, client) &&
		    end__equal(&flow->server_end, server))
			return flow;
	}
	return NULL;
}

static void give_server(struct balancer *balancer, struct balancer_flow *flow, long server)
{
	flow->server = server < 0 ? NULL : &balancer->parts.servers[server];
	if (!flow->server)
		return;
	LIST_INSERT_HEAD(&flow->server->flows, flow, of_server);
	flow->server->flow_count++;
}

/* A flow that the function has not taken in yet; NULL: out of memory. */
static struct balancer_flow *new_flow(struct balancer *balancer, uint8_t protocol,
				      const struct end *client, const struct end *service,
				      const struct end *server)
{
	struct balancer_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->host = hosts__hold(&balancer->clients, address__network(client->address));
	if (!flow->host) {
		free(flow);
		return NULL;
	}
	flow->tracked.protocol = protocol;
	flow->client = *client;
	flow->service_end = *service;
	flow->server_end = *server;
	index__add(&balancer->by_server, &flow->server_link,
		   hash_of(&balancer->by_server, protocol, server, client));
	return flow;
}

static void free_flow(struct function *function, struct flow *flow)
{
	struct balancer_flow *balancer_flow = (struct balancer_flow *)flow;
	struct balancer *balancer = (struct balancer *)function;

	tracking__forget(&balancer->tracking, &balancer_flow->tracked);
	hosts__release(&balancer->clients, balancer_flow->host);
	index__remove(&balancer->by_server, &balancer_flow->server_link);
	if (balancer_flow->server) {
		LIST_REMOVE(balancer_flow, of_server);
		balancer_flow->server->flow_count--;
	}
	free(balancer_flow);
}

/* ---- packets */

static enum balancer_verdict begin(struct balancer *balancer, const struct policy_service *service,
				   struct packet *packet, const struct segment *segment,
				   uint64_t now_ns)
{
	struct function *function = &balancer->tracking.function;
	const struct policy_server *server;
	struct balancer_flow *flow;
	long number;

	if (function->is_closed)
		return BALANCER_CLOSED;
	number = parts__choose(&balancer->parts, function->policy, service, &packet->source);
	if (number < 0)
		return BALANCER_DOWN;
	server = &function->policy->servers[number];
	/* A flow of the service that had the server before another policy came. */
	if (find_by_server(balancer, packet->protocol, &server->end, &packet->source))
		return BALANCER_ENDED;
	if (hosts__flows(&balancer->clients, address__network(packet->source.address)) >=
	    function->policy->flows_limit)
		return BALANCER_LIMITED;
	if (packet->protocol == IPPROTO_TCP)
		tracking__make_place(&balancer->tracking);
	if (function->counts.flows >= function->policy->flows)
		return BALANCER_EXHAUSTED;
	flow = new_flow(balancer, packet->protocol, &packet->source, &service->end, &server->end);
	if (!flow)
		return BALANCER_EXHAUSTED;
	give_server(balancer, flow, number);
	tracking__add(&balancer->tracking, &flow->tracked,
		      hash_of(&function->flows, packet->protocol, &service->end, &packet->source),
		      now_ns);
	tracking__begin(&balancer->tracking, &flow->tracked, packet, segment, now_ns);
	packet__set_destination(packet, &server->end);
	return BALANCER_TRANSLATED;
}

/* A packet that belongs to no flow. */
static enum balancer_verdict decide(struct balancer *balancer, struct packet *packet,
				    const struct segment *segment, uint64_t now_ns)
{
	const struct policy *policy = balancer->tracking.function.policy;
	const struct policy_service *service;

	service = policy__find_service(policy, packet->protocol, &packet->destination);
	if (!service)
		return policy__is_service(policy, packet->destination.address) ? BALANCER_UNSERVED :
										 BALANCER_UNRELATED;
	if (packet->protocol == IPPROTO_TCP && !connection__is_first(segment))
		return BALANCER_UNKNOWN;
	return begin(balancer, service, packet, segment, now_ns);
}

/* @direction: FLOW_OUT from the client. */
static enum balancer_verdict take_of_flow(struct balancer *balancer, struct balancer_flow *flow,
					  enum flow_direction direction, struct packet *packet,
					  const struct segment *segment, uint64_t now_ns)
{
	/* A refused connection is gone after its last segment. */
	const struct end service = flow->service_end, server = flow->server_end;

	switch (tracking__take(&balancer->tracking, &flow->tracked, direction, packet, segment,
			       now_ns)) {
	case TRACKING_PASSES:
		if (direction == FLOW_OUT)
			packet__set_destination(packet, &server);
		else
			packet__set_source(packet, &service);
		return BALANCER_TRANSLATED;
	case TRACKING_AGAIN:
		return decide(balancer, packet, segment, now_ns);
	case TRACKING_INVALID:
		return BALANCER_INVALID;
	case TRACKING_CLOSED:
		return BALANCER_CLOSED;
	default:
		return BALANCER_ENDED;
	}
}

/*
 * An ICMP error goes to the sender of the packet that it quotes, which a server knows by its own
 * end, and a client by that of the service.  So a client does not see the address of a router
 * before the server either.
 */
static enum balancer_verdict take_error(struct balancer *balancer, struct packet *packet)
{
	const struct balancer_flow *flow;

	if (packet->destination.address != packet->quoted_source.address)
		return BALANCER_INVALID;
	flow = find_by_service(balancer, packet->quoted_protocol, &packet->quoted_source,
			       &packet->quoted_destination);
	if (flow) {
		packet__set_quoted_source(packet, &flow->server_end);
		packet__set_destination(packet, &(struct end){ flow->server_end.address, 0 });
		return BALANCER_RELATED;
	}
	flow = find_by_server(balancer, packet->quoted_protocol, &packet->quoted_destination,
			      &packet->quoted_source);
	if (!flow)
		return BALANCER_UNRELATED;
	packet__set_quoted_destination(packet, &flow->service_end);
	packet__set_source(packet, &(struct end){ flow->service_end.address, 0 });
	return BALANCER_RELATED;
}

static enum balancer_verdict judge(struct balancer *balancer, struct packet *packet,
				   uint64_t now_ns)
{
	struct segment segment = {};
	struct balancer_flow *flow;

	if (policy__is_spoofed(balancer->tracking.function.policy, packet))
		return BALANCER_SPOOFED;
	/* The receiver would not take it, so it says nothing about the connection. */
	if (!packet__is_sound(packet))
		return BALANCER_INVALID;
	if (packet->is_error)
		return take_error(balancer, packet);
	if (packet->protocol == IPPROTO_TCP) {
		segment = packet__segment(packet);
		if (!connection__are_flags_valid(segment.flags))
			return BALANCER_INVALID;
	}
	flow = find_by_service(balancer, packet->protocol, &packet->destination, &packet->source);
	if (flow)
		return take_of_flow(balancer, flow, FLOW_OUT, packet, &segment, now_ns);
	flow = find_by_server(balancer, packet->protocol, &packet->source, &packet->destination);
	if (flow)
		return take_of_flow(balancer, flow, FLOW_BACK, packet, &segment, now_ns);
	return decide(balancer, packet, &segment, now_ns);
}

static enum function_action take(struct function *function, struct packet *packet, uint64_t now_ns,
				 unsigned int *verdict)
{
	*verdict = judge((struct balancer *)function, packet, now_ns);
	if (*verdict == BALANCER_ENDED && !tracking__may_refuse(packet))
		return FUNCTION_DROPS;
	switch (*verdict) {
	case BALANCER_TRANSLATED:
	case BALANCER_RELATED:
		return FUNCTION_PASSES;
	case BALANCER_ENDED:
	case BALANCER_DOWN:
	case BALANCER_UNKNOWN:
		return function->policy->refusal == POLICY_REJECT ? FUNCTION_ANSWERS :
								    FUNCTION_DROPS;
	default:
		return FUNCTION_DROPS;
	}
}

/* ---- servers that come and go */

/* Ends the flows of a server that is down: those that open, or all. */
static void break_flows(struct balancer *balancer, struct server *server, bool breaks_all)
{
	struct balancer_flow *flow, *next;

	for (flow = LIST_FIRST(&server->flows); flow; flow = next) {
		const bool opens = flow->tracked.protocol == IPPROTO_TCP &&
				   flow->tracked.connection.phase == CONNECTION_OPENING;

		next = LIST_NEXT(flow, of_server);
		if (function__is_ending(&flow->tracked.flow) || (!opens && !breaks_all))
			continue;
		balancer->broken += !opens;
		function__end(&balancer->tracking.function, &flow->tracked.flow);
	}
}

static void break_flows_of(struct balancer *balancer, size_t number)
{
	const struct policy *policy = balancer->tracking.function.policy;
	const struct policy_server *server = &policy->servers[number];

	if (balancer->parts.servers[number].is_down)
		break_flows(balancer, &balancer->parts.servers[number],
			    policy->services[server->service].ends_when_down);
}

void balancer__set_up(struct function *function, size_t server, bool is_up)
{
	struct balancer *balancer = (struct balancer *)function;
	struct parts *parts = &balancer->parts;

	parts->servers[server].is_down = !is_up;
	parts->services[function->policy->servers[server].service].is_filled = false;
	break_flows_of(balancer, server);
}

bool balancer__is_up(const struct function *function, size_t server)
{
	return !((const struct balancer *)function)->parts.servers[server].is_down;
}

uint64_t balancer__flows(const struct function *function, size_t server)
{
	return ((const struct balancer *)function)->parts.servers[server].flow_count;
}

/* ---- life and policies */

static int open_balancer(struct function *function, struct dart_error *error)
{
	struct balancer *balancer = (struct balancer *)function;

	if (hosts__open(&balancer->clients, function->policy->flows) ||
	    index__open(&balancer->by_server, function->policy->flows) ||
	    parts__open(&balancer->parts, function->policy))
		return dart_error__no_memory(error);
	return 0;
}

static void close_balancer(struct function *function)
{
	struct balancer *balancer = (struct balancer *)function;
	struct index_link *link;
	uint64_t i;

	for (i = 0; function->flows.chains && i <= function->flows.mask; i++)
		while ((link = function->flows.chains[i]))
			function__remove(function, &OF(link, tracked.flow.link)->tracked.flow);
	hosts__close(&balancer->clients);
	index__close(&balancer->by_server);
	parts__close(&balancer->parts);
}

/* Gives all flows their servers of the present policy, and ends those whose server it lacks. */
static void fit(struct balancer *balancer)
{
	struct function *function = &balancer->tracking.function;
	struct index_link *link, *next;
	struct balancer_flow *flow;
	uint64_t i;

	for (i = 0; i <= function->flows.mask; i++)
		for (link = function->flows.chains[i]; link; link = next) {
			next = link->next;
			flow = OF(link, tracked.flow.link);
			give_server(balancer, flow,
				    parts__find(function->policy, flow->tracked.protocol,
						&flow->service_end, &flow->server_end));
			if (!flow->server)
				function__end(function, &flow->tracked.flow);
		}
}

static int set_policy(struct function *function, const struct policy *policy,
		      struct dart_error *error)
{
	struct balancer *balancer = (struct balancer *)function;
	struct parts parts;
	size_t i;

	if (parts__open(&parts, policy))
		return dart_error__no_memory(error);
	parts__copy_state(&parts, policy, &balancer->parts, function->policy);
	parts__close(&balancer->parts);
	balancer->parts = parts;
	function->policy = policy;
	fit(balancer);
	for (i = 0; i < policy->server_count; i++)
		break_flows_of(balancer, i);
	return 0;
}

/* ---- for users, the journal and the table */

static struct flow *find(const struct function *function, uint8_t protocol,
			 const struct end *inside, const struct end *remote)
{
	const struct balancer *balancer = (const struct balancer *)function;

	return (struct flow *)(find_by_service(balancer, protocol, inside, remote) ?:
				       find_by_server(balancer, protocol, inside, remote));
}

static struct flow_record record_of(const struct flow *flow)
{
	const struct balancer_flow *balancer_flow = (const struct balancer_flow *)flow;

	return (struct flow_record){
		.protocol = balancer_flow->tracked.protocol,
		.inside = balancer_flow->server_end,
		.outside = balancer_flow->service_end,
		.remote = balancer_flow->client,
	};
}

/* A flow of the past with the same service and client, or server and client: its end was lost. */
static int clear_way(struct balancer *balancer, const struct flow_record *record)
{
	struct balancer_flow *other;

	other = find_by_service(balancer, record->protocol, &record->outside, &record->remote);
	if (other && end__equal(&other->server_end, &record->inside))
		return -EEXIST;
	if (other)
		function__remove(&balancer->tracking.function, &other->tracked.flow);
	other = find_by_server(balancer, record->protocol, &record->inside, &record->remote);
	if (other)
		function__remove(&balancer->tracking.function, &other->tracked.flow);
	return 0;
}

static int restore(struct function *function, const struct flow_record *record, uint64_t now_ns)
{
	const bool is_ipv4 = address__is_ipv4(record->remote.address);
	struct balancer *balancer = (struct balancer *)function;
	struct balancer_flow *flow;
	long server;

	if ((record->protocol != IPPROTO_TCP && record->protocol != IPPROTO_UDP) ||
	    is_ipv4 != address__is_ipv4(record->inside.address) ||
	    is_ipv4 != address__is_ipv4(record->outside.address) ||
	    (!is_ipv4 && !function->policy->has_ipv6))
		return -EINVAL;
	if (clear_way(balancer, record))
		return -EEXIST;
	server = parts__find(function->policy, record->protocol, &record->outside, &record->inside);
	flow = new_flow(balancer, record->protocol, &record->remote, &record->outside,
			&record->inside);
	if (!flow)
		return -ENOMEM;
	give_server(balancer, flow, server);
	tracking__restore(&balancer->tracking, &flow->tracked,
			  hash_of(&function->flows, record->protocol, &record->outside,
				  &record->remote),
			  server < 0 ? FLOW_ENDING : FLOW_ENTERING, now_ns);
	return 0;
}

static void value_of(const struct function *function, const struct flow *flow,
		     enum flow_direction direction, uint8_t *value)
{
	const struct balancer_flow *balancer_flow = (const struct balancer_flow *)flow;
	const uint8_t tracked = balancer_flow->tracked.protocol == IPPROTO_TCP ? VALUE_TRACKED : 0;

	if (direction == FLOW_OUT)
		function__put_value(function, value, &balancer_flow->service_end, VALUE_SOURCE | tracked);
	else
		function__put_value(function, value, &balancer_flow->server_end, tracked);
}

static struct flow *flow_of_entry(const struct function *function, uint8_t protocol,
				  const struct end *source, const struct end *destination,
				  const uint8_t *value, enum flow_direction *direction)
{
	const struct balancer *balancer = (const struct balancer *)function;

	struct end given;

	*direction = function__get_value(function, value, &given) & VALUE_SOURCE ? FLOW_OUT :
										    FLOW_BACK;
	return (struct flow *)(*direction == FLOW_OUT ?
				       find_by_server(balancer, protocol, source, destination) :
				       find_by_service(balancer, protocol, destination, source));
}

/* Somebody else's, unless the address of a service stands in it. */
static bool is_stray(const struct function *function, uint8_t protocol,
		     const struct end *destination, const uint8_t *value)
{
	struct end given;
	const uint8_t flags = function__get_value(function, value, &given);

	return policy__is_service(function->policy,
				  flags & VALUE_SOURCE ? given.address : destination->address);
}

static void tell_counts(const struct function *function,
			void (*tell)(void *subject, const char *group, const char *name,
				     uint64_t count),
			void *subject)
{
	const struct balancer *balancer = (const struct balancer *)function;
	uint64_t down = 0, draining = 0;
	size_t i;

	for (i = 0; i < function->policy->server_count; i++) {
		down += balancer->parts.servers[i].is_down;
		draining += !balancer->parts.servers[i].is_down &&
			    function->policy->servers[i].is_draining;
	}
	tell(subject, "flows", "clients", balancer->clients.count);
	tell(subject, "flows", "opening", balancer->tracking.opening);
	tell(subject, "flows", "broken", balancer->broken);
	tell(subject, "servers", "up", function->policy->server_count - down - draining);
	tell(subject, "servers", "draining", draining);
	tell(subject, "servers", "down", down);
}

const struct function_type balancer_type = {
	.size = sizeof(struct balancer),
	.value_length = FLOW_NAT_LENGTH,
	.value_length_6 = FLOW_NAT_LENGTH_6,
	.verdict_names = verdict_names,
	.verdicts = BALANCER_VERDICTS,
	.open = open_balancer,
	.close = close_balancer,
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
