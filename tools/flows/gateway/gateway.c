// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a packet, and of the tunnels when a policy changes: see gateway.h. */
#include "gateway.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flows/function/function_type.h"

/* schemas/gateway.yaml, and gateway6.yaml: a VNI, and an address */
#define VNI_LENGTH 3
#define KEY_LENGTH (VNI_LENGTH + ADDRESS_LENGTH_4)
#define VALUE_LENGTH (ADDRESS_LENGTH_4 + VNI_LENGTH)
#define VALUE_LENGTH_6 (ADDRESS_LENGTH + VNI_LENGTH)
#define PROTOCOL "vxlan"

/* An address and a VNI: a machine in its tenant's network, of IPv4; or a server and the tunnel. */
struct place {
	address_t address;
	uint64_t vni; /* without holes: places are hashed */
};

struct tunnel_flow {
	struct flow flow;
	struct place machine, server;
	bool is_wanted; /* while a policy is taken: it lists the machine */
	struct tunnel_flow *next; /* among new ones */
};

#define FLOW_OF(link) ((struct tunnel_flow *)((char *)(link)-offsetof(struct flow, link)))

static const char *const verdict_names[GATEWAY_VERDICTS] = {
	[GATEWAY_MOVED] = "moved",     [GATEWAY_RESOLVED] = "resolved",
	[GATEWAY_ECHOED] = "echoed",   [GATEWAY_UNKNOWN] = "unknown",
	[GATEWAY_FOREIGN] = "foreign", [GATEWAY_KEYLESS] = "keyless",
	[GATEWAY_INVALID] = "invalid", [GATEWAY_SPOOFED] = "spoofed",
	[GATEWAY_FAMILY] = "family",
};

/* ---- tunnels */

static uint64_t hash_of(const struct function *function, const struct place *machine)
{
	return index__hash(&function->flows, machine, sizeof(*machine));
}

static struct tunnel_flow *find(const struct function *function, const struct place *machine)
{
	struct index_link *link = index__chain(&function->flows, hash_of(function, machine));

	for (; link; link = link->next)
		if (FLOW_OF(link)->machine.address == machine->address &&
		    FLOW_OF(link)->machine.vni == machine->vni)
			return FLOW_OF(link);
	return NULL;
}

static void free_flow(struct function *function, struct flow *flow)
{
	free(flow);
}

static void free_list(struct tunnel_flow *flow)
{
	struct tunnel_flow *next;

	for (; flow; flow = next) {
		next = flow->next;
		free(flow);
	}
}

/* ---- policies */

/* Calls @tell for each machine; stops when it returns false. */
static bool for_machines(const struct policy *policy,
			 bool (*tell)(void *subject, const struct place *machine,
				      const struct place *server),
			 void *subject)
{
	const struct policy_tenant *tenant;
	size_t i;

	for (tenant = policy->tenants; tenant < policy->tenants + policy->tenant_count; tenant++)
		for (i = 0; i < tenant->machine_count; i++) {
			const struct policy_machine *machine =
				&policy->machines[tenant->first_machine + i];

			if (!tell(subject, &(struct place){ machine->address, tenant->vni },
				  &(struct place){ machine->server, machine->vni }))
				return false;
		}
	return true;
}

struct taking {
	struct function *function;
	struct tunnel_flow *new; /* that the function does not have yet */
};

static bool make_missing(void *subject, const struct place *machine, const struct place *server)
{
	struct taking *taking = subject;
	struct tunnel_flow *flow;

	if (find(taking->function, machine))
		return true;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return false;
	flow->machine = *machine;
	flow->server = *server;
	flow->next = taking->new;
	taking->new = flow;
	return true;
}

/* Also enters a tunnel again that the table had no place for, or that was about to end. */
static bool renew(void *subject, const struct place *machine, const struct place *server)
{
	struct taking *taking = subject;
	struct tunnel_flow *flow = find(taking->function, machine);
	const bool is_same = flow->server.address == server->address &&
			     flow->server.vni == server->vni;

	flow->is_wanted = true;
	if (is_same && (flow->flow.state == FLOW_ENTERED || flow->flow.state == FLOW_ENTERING))
		return true;
	flow->server = *server;
	flow->flow.is_kept = false;
	function__enter(taking->function, &flow->flow, taking->function->now_ns);
	return true;
}

static void end_others(struct function *function)
{
	struct index_link *link, *next;
	struct tunnel_flow *flow;
	uint64_t i;

	for (i = 0; i <= function->flows.mask; i++)
		for (link = function->flows.chains[i]; link; link = next) {
			next = link->next;
			flow = FLOW_OF(link);
			if (!flow->is_wanted)
				function__end(function, &flow->flow);
			else
				flow->is_wanted = false;
		}
}

/* @state: that new tunnels begin with */
static int take_policy(struct function *function, const struct policy *policy,
		       enum flow_state state, struct dart_error *error)
{
	struct taking taking = { .function = function };
	struct tunnel_flow *flow;

	if (!for_machines(policy, make_missing, &taking)) {
		free_list(taking.new);
		return dart_error__no_memory(error);
	}
	function->policy = policy;
	while ((flow = taking.new)) {
		taking.new = flow->next;
		function__add(function, &flow->flow, hash_of(function, &flow->machine), POLICY_UDP,
			      state, function->now_ns);
	}
	for_machines(policy, renew, &taking);
	end_others(function);
	return 0;
}

static int set_policy(struct function *function, const struct policy *policy,
		      struct dart_error *error)
{
	return take_policy(function, policy, FLOW_KEPT, error); /* renew() enters them */
}

static int open_gateway(struct function *function, struct dart_error *error)
{
	/* The first comparison enters them. */
	return take_policy(function, function->policy, FLOW_ENTERING, error);
}

static void close_gateway(struct function *function)
{
	struct index_link *link;
	uint64_t i;

	for (i = 0; function->flows.chains && i <= function->flows.mask; i++)
		while ((link = function->flows.chains[i]))
			function__remove(function, &FLOW_OF(link)->flow);
}

/* ---- packets */

static bool is_for_gateway(const struct policy_tenant *tenant, const struct tunnel *tunnel)
{
	switch (tunnel->content) {
	case TUNNEL_IPV4:
		return tenant->gateway.address && tunnel->destination == tenant->gateway.address;
	case TUNNEL_NEIGHBOUR:
		return tunnel->request.wanted &&
		       (tunnel->request.wanted == tenant->gateway.address ||
			tunnel->request.wanted == tenant->ipv6);
	default:
		return false;
	}
}

static enum gateway_verdict move(struct function *function, struct packet *packet,
				 const struct tunnel *tunnel, uint64_t now_ns)
{
	const struct place machine = { tunnel->destination, tunnel->vni };
	struct tunnel_flow *flow = find(function, &machine);

	if (!flow || !function__use(function, &flow->flow, packet, now_ns))
		return GATEWAY_UNKNOWN;
	if (address__is_ipv4(flow->server.address) == packet->is_ipv6)
		return GATEWAY_FAMILY;
	tunnel__move(tunnel, packet, flow->server.address, flow->server.vni);
	return GATEWAY_MOVED;
}

static enum gateway_verdict judge(struct function *function, struct packet *packet, uint64_t now_ns)
{
	const struct policy_tenant *tenant;
	struct tunnel tunnel;

	if (policy__is_spoofed(function->policy, packet))
		return GATEWAY_SPOOFED;
	if (packet->is_fragment || !tunnel__is_sound(packet))
		return GATEWAY_INVALID;
	if (packet->protocol != IPPROTO_UDP)
		return GATEWAY_KEYLESS;
	tunnel__read(&tunnel, packet);
	if (tunnel.content == TUNNEL_NONE)
		return GATEWAY_KEYLESS;
	tenant = policy__find_tenant(function->policy, tunnel.vni);
	if (!tenant)
		return GATEWAY_FOREIGN;
	if (is_for_gateway(tenant, &tunnel) && tunnel.content != TUNNEL_IPV4)
		return GATEWAY_RESOLVED;
	if (is_for_gateway(tenant, &tunnel) && tunnel.is_echo)
		return GATEWAY_ECHOED;
	if (tunnel.content != TUNNEL_IPV4)
		return GATEWAY_KEYLESS;
	return move(function, packet, &tunnel, now_ns);
}

static enum function_action take(struct function *function, struct packet *packet, uint64_t now_ns,
				 unsigned int *verdict)
{
	*verdict = judge(function, packet, now_ns);
	switch (*verdict) {
	case GATEWAY_MOVED:
		return FUNCTION_PASSES;
	case GATEWAY_RESOLVED:
	case GATEWAY_ECHOED:
		return FUNCTION_ANSWERS;
	case GATEWAY_UNKNOWN:
		return function->policy->refusal == POLICY_REJECT ? FUNCTION_ANSWERS :
								    FUNCTION_DROPS;
	default:
		return FUNCTION_DROPS;
	}
}

static bool answer(const struct function *function, struct packet *packet, uint8_t *frame)
{
	const struct policy_tenant *tenant;
	struct tunnel tunnel;

	tunnel__read(&tunnel, packet);
	tenant = policy__find_tenant(function->policy, tunnel.vni);
	if (!tenant)
		return false;
	return is_for_gateway(tenant, &tunnel) ?
		       tunnel__reply(&tunnel, &tenant->gateway, packet, frame) :
		       tunnel__refuse(&tunnel, &tenant->gateway, packet, frame);
}

static bool tell_mtu(const struct function *function, struct packet *packet, uint16_t mtu,
		     uint8_t *frame)
{
	const struct policy_tenant *tenant;
	struct tunnel tunnel;

	tunnel__read(&tunnel, packet);
	tenant = policy__find_tenant(function->policy, tunnel.vni);
	return tenant && tunnel.content == TUNNEL_IPV4 &&
	       tunnel__tell_mtu(&tunnel, &tenant->gateway, packet, mtu, frame);
}

/* ---- for users and the table */

static void put_vni(uint8_t *bytes, uint64_t vni)
{
	address__put(bytes, VNI_LENGTH, vni);
}

static void key_of(const struct flow *flow, uint8_t *key)
{
	const struct place *machine = &((const struct tunnel_flow *)flow)->machine;

	put_vni(key, machine->vni);
	address__put(key + VNI_LENGTH, ADDRESS_LENGTH_4, machine->address);
}

static void value_of(const struct function *function, const struct flow *flow,
		     enum flow_direction direction, uint8_t *value)
{
	const struct place *server = &((const struct tunnel_flow *)flow)->server;
	const size_t length = function__value_length(function) - VNI_LENGTH;
	address_t address = server->address;

	if (length == ADDRESS_LENGTH && address__is_ipv4(address))
		address |= (address_t)0xffff << 32; /* mapped */
	address__put(value, length, address);
	put_vni(value + length, server->vni);
}

static struct flow *find_key(const struct function *function, const uint8_t *key)
{
	struct tunnel_flow *flow;
	struct place machine;

	machine.address = address__get(key + VNI_LENGTH, ADDRESS_LENGTH_4);
	machine.vni = address__get(key, VNI_LENGTH);
	flow = find(function, &machine);
	return flow ? &flow->flow : NULL;
}

static void print_place(const struct place *place, char text[static FLOW_NAME_MAX])
{
	const bool is_ipv4 = address__is_ipv4(place->address);
	char address[ADDRESS_TEXT];

	snprintf(text, FLOW_NAME_MAX, is_ipv4 ? "%s:%u" : "[%s]:%u",
		 address__print(place->address, address), (unsigned int)place->vni);
}

static void names_of(const struct flow *flow, struct flow_names *names)
{
	const struct tunnel_flow *tunnel = (const struct tunnel_flow *)flow;

	names->protocol = PROTOCOL;
	print_place(&tunnel->machine, names->inside);
	print_place(&tunnel->server, names->outside);
	print_place(&tunnel->server, names->remote);
}

/* "ADDRESS:VNI", of IPv6 "[ADDRESS]:VNI" */
static bool take_place(const char *text, struct place *place)
{
	const bool has_brackets = *text == '[';
	const size_t length = strcspn(text + has_brackets, has_brackets ? "]" : ":");
	const char *vni = text + length + 2 * has_brackets;
	char address[ADDRESS_TEXT], *rest;

	if (length >= sizeof(address) || (has_brackets && vni[-1] != ']') || *vni != ':' ||
	    vni[1] < '0' || vni[1] > '9')
		return false;
	memcpy(address, text + has_brackets, length);
	address[length] = '\0';
	if (!address__parse(address, &place->address) ||
	    address__is_ipv4(place->address) == has_brackets)
		return false;
	place->vni = strtoul(vni + 1, &rest, 10);
	return !*rest && place->vni <= TUNNEL_VNI_MAX;
}

static struct flow *find_named(const struct function *function, const char *protocol,
			       const char *inside, const char *remote)
{
	struct place machine, server;
	struct tunnel_flow *flow;

	if (strcmp(protocol, PROTOCOL) != 0 || !take_place(inside, &machine) ||
	    !take_place(remote, &server))
		return NULL;
	flow = find(function, &machine);
	return flow && flow->server.address == server.address && flow->server.vni == server.vni ?
		       &flow->flow :
		       NULL;
}

static void tell_counts(const struct function *function,
			void (*tell)(void *subject, const char *group, const char *name,
				     uint64_t count),
			void *subject)
{
	tell(subject, "flows", "tenants", function->policy->tenant_count);
}

static const struct function_keys keys = {
	.length = KEY_LENGTH,
	.key = key_of,
	.find = find_key,
	.names = names_of,
	.find_named = find_named,
};

const struct function_type gateway_type = {
	.size = sizeof(struct function),
	.keys = &keys,
	.value_length = VALUE_LENGTH,
	.value_length_6 = VALUE_LENGTH_6,
	.verdict_names = verdict_names,
	.verdicts = GATEWAY_VERDICTS,
	.open = open_gateway,
	.close = close_gateway,
	.set_policy = set_policy,
	.take = take,
	.free_flow = free_flow,
	.value = value_of,
	.answer = answer,
	.tell_mtu = tell_mtu,
	.tell_counts = tell_counts,
};
