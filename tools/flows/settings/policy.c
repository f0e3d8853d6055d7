// SPDX-License-Identifier: GPL-2.0-only
/* What a policy says about packets and flows: see policy.h. */
#include "policy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

const char *const policy_function_names[POLICY_FUNCTIONS] = {
	[POLICY_NAT] = "nat",
	[POLICY_FIREWALL] = "firewall",
	[POLICY_BALANCER] = "balancer",
	[POLICY_GATEWAY] = "gateway",
};

static const struct {
	const char *name;
	uint8_t protocol;
} protocols[POLICY_CLASSES] = {
	[POLICY_TCP] = { "tcp", IPPROTO_TCP },
	[POLICY_UDP] = { "udp", IPPROTO_UDP },
	[POLICY_ICMP] = { "icmp", IPPROTO_ICMP },
};

enum policy_class policy__class(uint8_t protocol)
{
	return protocol == IPPROTO_TCP ? POLICY_TCP :
	       protocol == IPPROTO_UDP ? POLICY_UDP :
					 POLICY_ICMP;
}

const char *policy__protocol_name(uint8_t protocol)
{
	return protocols[policy__class(protocol)].name;
}

uint8_t policy__protocol(const char *name)
{
	size_t i;

	for (i = 0; i < POLICY_CLASSES; i++)
		if (!strcmp(protocols[i].name, name))
			return protocols[i].protocol;
	return 0;
}

static void dartd__clear(struct policy_dartd *dartd)
{
	free(dartd->address);
	free(dartd->name);
	free(dartd->certificate);
	free(dartd->key);
	free(dartd->authorities);
	free(dartd->revoked);
}

static bool is_same_text(const char *one, const char *other)
{
	return one && other ? !strcmp(one, other) : one == other;
}

static bool dartd__is_same(const struct policy_dartd *one, const struct policy_dartd *other)
{
	return is_same_text(one->address, other->address) && is_same_text(one->name, other->name) &&
	       one->port == other->port && is_same_text(one->certificate, other->certificate) &&
	       is_same_text(one->key, other->key) &&
	       is_same_text(one->authorities, other->authorities) &&
	       is_same_text(one->revoked, other->revoked);
}

void policy__clear(struct policy *policy)
{
	dartd__clear(&policy->server);
	free(policy->dartd);
	free(policy->journal);
	dart_prefixes__clear(&policy->inside);
	free(policy->addresses);
	free(policy->statics);
	free(policy->routes);
	free(policy->neighbours);
	free(policy->zones);
	free(policy->ranges);
	free(policy->rules);
	free(policy->ports);
	free(policy->services);
	free(policy->servers);
	free(policy->tunnels);
	free(policy->tenants);
	free(policy->machines);
	*policy = (struct policy){};
}

int policy__check_reload(const struct policy *now, const struct policy *next,
			 struct dart_error *error)
{
	const char *what = NULL;

	if (now->function != next->function)
		what = "function";
	else if (now->has_ipv6 != next->has_ipv6)
		what = "families";
	else if (strcmp(now->interface, next->interface))
		what = "interface";
	else if (strcmp(now->table, next->table))
		what = "table";
	else if (strcmp(now->dartd, next->dartd))
		what = "dartd";
	else if (!dartd__is_same(&now->server, &next->server))
		what = "server";
	else if (strcmp(now->journal, next->journal))
		what = "journal";
	else if (now->flows != next->flows)
		what = "flows";
	if (!what)
		return 0;
	return dart_error__set(
		error, EINVAL,
		"'%s' has another value, which needs a restart (systemctl restart dart-flows)",
		what);
}

const struct policy_address *policy__find_address(const struct policy *policy, address_t address)
{
	size_t low = 0, high = policy->address_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (policy->addresses[middle].address == address)
			return &policy->addresses[middle];
		if (policy->addresses[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool policy__is_inside(const struct policy *policy, address_t address)
{
	const struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(address),
	};

	return dart_prefixes__contain(&policy->inside, (const struct sockaddr *)&in);
}

const struct policy_neighbour *policy__find_neighbour(const struct policy *policy,
						      address_t address)
{
	size_t i;

	for (i = 0; i < policy->neighbour_count; i++)
		if (policy->neighbours[i].address == address)
			return &policy->neighbours[i];
	return NULL;
}

const struct policy_route *policy__route(const struct policy *policy, address_t address)
{
	size_t i;

	for (i = 0; i < policy->route_count; i++)
		if (address_range__contains(&policy->routes[i].range, address))
			return &policy->routes[i];
	return NULL;
}

address_t policy__own_address(const struct policy *policy, bool is_ipv6)
{
	if (is_ipv6)
		return policy->address6;
	if (policy->address || !policy->address_count)
		return policy->address;
	return policy->addresses[0].address;
}

bool policy__is_spoofed(const struct policy *policy, const struct packet *packet)
{
	const struct policy_route *route;

	if (!policy->is_strict)
		return false;
	route = policy__route(policy, packet->source.address);
	return !route ||
	       memcmp(packet->frame + PACKET_MAC_LENGTH, route->mac, PACKET_MAC_LENGTH) != 0;
}

static int zone_of(const struct policy *policy, address_t address)
{
	size_t i;

	for (i = 0; i < policy->range_count; i++)
		if (address_range__contains(&policy->ranges[i].range, address))
			return policy->ranges[i].zone;
	return POLICY_ANY;
}

static bool has_port(const struct policy *policy, const struct policy_rule *rule, uint16_t port)
{
	size_t i;

	for (i = rule->first_port; i < rule->first_port + rule->port_count; i++)
		if (port >= policy->ports[i].first && port <= policy->ports[i].last)
			return true;
	return !rule->port_count;
}

enum policy_action policy__decide(const struct policy *policy, uint8_t protocol, address_t source,
				  const struct end *destination)
{
	const int from = zone_of(policy, source), to = zone_of(policy, destination->address);
	size_t i;

	for (i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if ((rule->from == POLICY_ANY || rule->from == from) &&
		    (rule->to == POLICY_ANY || rule->to == to) &&
		    (!rule->protocol || rule->protocol == protocol) &&
		    has_port(policy, rule, destination->port))
			return rule->action;
	}
	return policy->refusal;
}

/* The first service whose address is not below this one. */
static size_t first_service(const struct policy *policy, address_t address)
{
	size_t low = 0, high = policy->service_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (policy->services[middle].end.address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct policy_service *policy__find_service(const struct policy *policy, uint8_t protocol,
						  const struct end *end)
{
	size_t i;

	for (i = first_service(policy, end->address);
	     i < policy->service_count && policy->services[i].end.address == end->address; i++)
		if (policy->services[i].protocol == protocol &&
		    policy->services[i].end.port == end->port)
			return &policy->services[i];
	return NULL;
}

bool policy__is_service(const struct policy *policy, address_t address)
{
	const size_t i = first_service(policy, address);

	return i < policy->service_count && policy->services[i].end.address == address;
}

const struct policy_server *policy__find_server(const struct policy *policy,
						const struct policy_service *service,
						const struct end *end)
{
	size_t low = service->first_server, high = low + service->server_count, middle;
	int order;

	while (low < high) {
		middle = (low + high) / 2;
		order = end__compare(&policy->servers[middle].end, end);
		if (!order)
			return &policy->servers[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct policy_tenant *policy__find_tenant(const struct policy *policy, uint32_t vni)
{
	size_t low = 0, high = policy->tenant_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (policy->tenants[middle].vni == vni)
			return &policy->tenants[middle];
		if (policy->tenants[middle].vni < vni)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
