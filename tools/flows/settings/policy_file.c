// SPDX-License-Identifier: GPL-2.0-only
/* Reads the file of a policy and checks it: see policy.h. */
#include <arpa/inet.h>
#include <dart/registration.h>
#include <errno.h>
#include <libdart/settings/quantity.h>
#include <libdart/yaml_file.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "policy_file.h"

#define SECOND_NS 1000000000ULL
#define TIMEOUT_LEAST_NS (10 * SECOND_NS)
#define TIMEOUT_MOST_NS (7 * 24 * 3600 * SECOND_NS)
#define PORT_FIRST 1024
#define INSIDE_MAX 1024
#define FLOWS_MAX (1 << 24)
#define RATE_MAX 100000000

#define POLICY(node) ((struct policy *)(node))

/* ---- values */

static int take_time(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_TIME, TIMEOUT_LEAST_NS,
					  TIMEOUT_MOST_NS, into);
}

static int take_flows(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, FLOWS_MAX, into);
}

static int take_ports_limit(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, 3 * 65536, into);
}

static int take_rate(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, RATE_MAX, into);
}

/* A name that fits into @size bytes. */
static int take_name(struct dart_yaml *yaml, const yaml_node_t *node, char *name, size_t size)
{
	const char *text = policy_file__text(node);

	if (!*text || strlen(text) >= size || strchr(text, '/'))
		return dart_yaml__refuse(yaml, node, "'%s' is not a name of 1 to %zu bytes", text,
					 size - 1);
	strcpy(name, text);
	return 0;
}

static int take_interface(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_name(yaml, node, into, IFNAMSIZ);
}

static int take_table(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_name(yaml, node, into, DART_TEA_NAME_MAX);
}

/* ---- lists */

static int take_inside_item(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_prefixes *prefixes = into;
	struct dart_prefix prefix;
	int ret = policy_file__take_prefix(yaml, node, &prefix);

	if (ret)
		return ret;
	if (prefixes->count == INSIDE_MAX)
		return dart_yaml__refuse(yaml, node, "more than %d of them", INSIDE_MAX);
	prefixes->is_given = true;
	return dart_prefixes__add(prefixes, &prefix) ? dart_error__no_memory(yaml->error) : 0;
}

static int take_inside(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_inside_item, into);
}

struct pool {
	struct dart_prefix prefix;
	bool has_addresses;
	uint16_t first, last;
};

static int take_pool_addresses(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct pool *pool = into;

	pool->has_addresses = true;
	return policy_file__take_prefix(yaml, node, &pool->prefix);
}

static int take_pool_ports(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	unsigned int first, last;
	struct pool *pool = into;
	int end = 0;

	sscanf(policy_file__text(node), "%5u-%5u%n", &first, &last, &end);
	if (!end || policy_file__text(node)[end] || !first || first > last || last > UINT16_MAX)
		return dart_yaml__refuse(
			yaml, node, "'%s' is not a range of ports from 1 to 65535, as 1024-65535",
			policy_file__text(node));
	pool->first = first;
	pool->last = last;
	return 0;
}

static int take_pool(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = { { "addresses", take_pool_addresses, 0 },
							   { "ports", take_pool_ports, 0 },
							   {} };
	struct pool pool = { .first = PORT_FIRST, .last = UINT16_MAX };
	struct policy *policy = POLICY(into);
	uint64_t count, i;
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &pool);
	if (ret)
		return ret;
	if (!pool.has_addresses)
		return dart_yaml__refuse(yaml, node, "a pool without 'addresses'");
	count = 1ULL << (32 - pool.prefix.length);
	ret = policy_file__grow(yaml, node, &policy->addresses, sizeof(*policy->addresses),
				policy->address_count, count, POLICY_ADDRESSES_MAX);
	for (i = 0; !ret && i < count; i++)
		policy->addresses[policy->address_count++] = (struct policy_address){
			address__get(pool.prefix.address, ADDRESS_LENGTH_4) + i, pool.first,
			pool.last
		};
	return ret;
}

static int take_pools(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_pool, into);
}

static int take_static(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "protocol", policy_file__take_port_protocol,
		  offsetof(struct policy_static, protocol) },
		{ "inside", policy_file__take_end, offsetof(struct policy_static, inside) },
		{ "outside", policy_file__take_end, offsetof(struct policy_static, outside) },
		{}
	};
	struct policy *policy = POLICY(into);
	struct policy_static mapping = {};
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &mapping);
	if (ret)
		return ret;
	if (!mapping.protocol || !mapping.inside.port || !mapping.outside.port)
		return dart_yaml__refuse(yaml, node,
					 "a static mapping has 'protocol', 'inside' and 'outside'");
	ret = policy_file__grow(yaml, node, &policy->statics, sizeof(mapping), policy->static_count,
				1, POLICY_STATIC_MAX);
	if (!ret)
		policy->statics[policy->static_count++] = mapping;
	return ret;
}

static int take_statics(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_static, into);
}

static int take_mtu(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, POLICY_MTU_MIN,
					  UINT16_MAX, into);
}

static int take_route(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "prefix", policy_file__take_range, offsetof(struct policy_route, range) },
		{ "mac", policy_file__take_mac, offsetof(struct policy_route, mac) },
		{ "mtu", take_mtu, offsetof(struct policy_route, mtu) },
		{}
	};
	static const uint8_t none[PACKET_MAC_LENGTH];
	struct policy *policy = POLICY(into);
	struct policy_route route = {};
	size_t i;
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &route);
	if (ret)
		return ret;
	if (!memcmp(route.mac, none, sizeof(none)))
		return dart_yaml__refuse(yaml, node, "a route without 'mac'");
	if (route.mtu && route.mtu < PACKET_LEAST_6 && !address_range__is_ipv4(&route.range))
		return dart_yaml__refuse(yaml, node, "an 'mtu' of IPv6 is %d or more",
					 PACKET_LEAST_6);
	ret = policy_file__grow(yaml, node, &policy->routes, sizeof(route), policy->route_count, 1,
				POLICY_ROUTES_MAX);
	if (ret)
		return ret;
	for (i = policy->route_count++; i && policy->routes[i - 1].range.mask < route.range.mask;
	     i--)
		policy->routes[i] = policy->routes[i - 1];
	policy->routes[i] = route;
	return 0;
}

static int take_routes(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_route, into);
}

/* An address of a host of either family, which may be link-local. */
static int take_neighbour_address(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	address_t *address = into;

	if (address__parse(policy_file__text(node), address) && *address >> 120 != 0xff &&
	    (!address__is_ipv4(*address) || address__is_unicast(*address)))
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is not the address of a host",
				 policy_file__text(node));
}

static int take_neighbour(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "address", take_neighbour_address, offsetof(struct policy_neighbour, address) },
		{ "mac", policy_file__take_mac, offsetof(struct policy_neighbour, mac) },
		{}
	};
	static const uint8_t none[PACKET_MAC_LENGTH];
	struct policy_neighbour neighbour = {};
	struct policy *policy = POLICY(into);
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &neighbour);
	if (ret)
		return ret;
	if (!neighbour.address || !memcmp(neighbour.mac, none, sizeof(none)))
		return dart_yaml__refuse(yaml, node, "a neighbour has 'address' and 'mac'");
	if (policy__find_neighbour(policy, neighbour.address))
		return dart_yaml__refuse(yaml, node, "two neighbours have the same address");
	ret = policy_file__grow(yaml, node, &policy->neighbours, sizeof(neighbour),
				policy->neighbour_count, 1, POLICY_NEIGHBOURS_MAX);
	if (!ret)
		policy->neighbours[policy->neighbour_count++] = neighbour;
	return ret;
}

static int take_neighbours(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_neighbour, into);
}

/* ---- the whole */

static int take_filtering(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_choice(yaml, node, "address-and-port-dependent",
					"endpoint-independent", into);
}

static int take_limits(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "ports", take_ports_limit, offsetof(struct policy, ports_limit) },
		{ "flows", take_flows, offsetof(struct policy, flows_limit) },
		{ "opening", take_flows, offsetof(struct policy, opening_limit) },
		{ "refusals", take_rate, offsetof(struct policy, refusal_rate) },
		{}
	};

	return dart_yaml__take_mapping(yaml, node, members, into);
}

static int take_timeouts(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "tcp", take_time, offsetof(struct policy, timeout_ns[POLICY_TCP]) },
		{ "udp", take_time, offsetof(struct policy, timeout_ns[POLICY_UDP]) },
		{ "icmp", take_time, offsetof(struct policy, timeout_ns[POLICY_ICMP]) },
		{ "transitory", take_time, offsetof(struct policy, timeout_ns[POLICY_TRANSITORY]) },
		{}
	};

	return dart_yaml__take_mapping(yaml, node, members, into);
}

static int take_function(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	enum policy_function *function = into;
	int i;

	for (i = 0; i < POLICY_FUNCTIONS; i++)
		if (!strcmp(policy_file__text(node), policy_function_names[i])) {
			*function = i;
			return 0;
		}
	return dart_yaml__refuse(yaml, node, "'%s' is neither nat, firewall, balancer nor gateway",
				 policy_file__text(node));
}

static int take_families(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_choice(yaml, node, "ipv4", "both", into);
}

static const struct dart_yaml_member members[] = {
	{ "function", take_function, offsetof(struct policy, function) },
	{ "families", take_families, offsetof(struct policy, has_ipv6) },
	{ "interface", take_interface, offsetof(struct policy, interface) },
	{ "table", take_table, offsetof(struct policy, table) },
	{ "dartd", policy_file__take_path, offsetof(struct policy, dartd) },
	{ "server", policy_file__take_server, offsetof(struct policy, server) },
	{ "journal", policy_file__take_path, offsetof(struct policy, journal) },
	{ "flows", take_flows, offsetof(struct policy, flows) },
	{ "rate", take_rate, offsetof(struct policy, rate) },
	{ "address", policy_file__take_address, offsetof(struct policy, address) },
	{ "address6", policy_file__take_address6, offsetof(struct policy, address6) },
	{ "inside", take_inside, offsetof(struct policy, inside) },
	{ "pools", take_pools, 0 },
	{ "filtering", take_filtering, offsetof(struct policy, is_open) },
	{ "limits", take_limits, 0 },
	{ "timeouts", take_timeouts, 0 },
	{ "static", take_statics, 0 },
	{ "routes", take_routes, 0 },
	{ "neighbours", take_neighbours, 0 },
	{ "zones", policy_file__take_zones, 0 },
	{ "rules", policy_file__take_rules, 0 },
	{ "services", policy_file__take_services, 0 },
	{ "tunnels", policy_file__take_path, offsetof(struct policy, tunnels) },
	{ "refusal", policy_file__take_refusal, offsetof(struct policy, refusal) },
	{ "reverse_path", policy_file__take_reverse_path, offsetof(struct policy, is_strict) },
	{}
};

static int compare_addresses(const void *one, const void *other)
{
	const struct policy_address *a = one, *b = other;

	return (a->address > b->address) - (a->address < b->address);
}

static int compare_insides(const void *one, const void *other)
{
	const struct policy_static *a = one, *b = other;

	return (int)a->protocol - b->protocol ?: end__compare(&a->inside, &b->inside);
}

static int compare_outsides(const void *one, const void *other)
{
	const struct policy_static *a = one, *b = other;

	return (int)a->protocol - b->protocol ?: end__compare(&a->outside, &b->outside);
}

static int check_statics(struct policy *policy, struct dart_yaml *yaml, const yaml_node_t *root)
{
	const struct policy_static *mapping;
	size_t i;

	if (!policy->static_count)
		return 0;
	for (i = 0; i < policy->static_count; i++) {
		mapping = &policy->statics[i];
		if (!policy__find_address(policy, mapping->outside.address))
			return dart_yaml__refuse(
				yaml, root,
				"the outside address of a static mapping is in no pool");
		if (!policy__is_inside(policy, mapping->inside.address))
			return dart_yaml__refuse(
				yaml, root,
				"the inside address of a static mapping is not in 'inside'");
	}
	qsort(policy->statics, policy->static_count, sizeof(*policy->statics), compare_insides);
	for (i = 1; i < policy->static_count; i++)
		if (!compare_insides(&policy->statics[i - 1], &policy->statics[i]))
			return dart_yaml__refuse(yaml, root,
						 "two static mappings have the same inside");
	qsort(policy->statics, policy->static_count, sizeof(*policy->statics), compare_outsides);
	for (i = 1; i < policy->static_count; i++)
		if (!compare_outsides(&policy->statics[i - 1], &policy->statics[i]))
			return dart_yaml__refuse(yaml, root,
						 "two static mappings have the same outside");
	return 0;
}

static int check_nat(struct policy *policy, struct dart_yaml *yaml, const yaml_node_t *root)
{
	size_t i;

	if (!*policy->interface || !*policy->table || !policy->inside.count ||
	    !policy->address_count || !policy->route_count)
		return dart_yaml__refuse(
			yaml, root,
			"a policy has 'interface', 'table', 'inside', 'pools' and 'routes'");
	qsort(policy->addresses, policy->address_count, sizeof(*policy->addresses),
	      compare_addresses);
	for (i = 0; i < policy->address_count; i++) {
		if (i && !compare_addresses(&policy->addresses[i - 1], &policy->addresses[i]))
			return dart_yaml__refuse(yaml, root, "an address is in two pools");
		if (policy__is_inside(policy, policy->addresses[i].address))
			return dart_yaml__refuse(yaml, root,
						 "an address of a pool is in 'inside', too");
	}
	return check_statics(policy, yaml, root);
}

/* No setting is of another function than that of the policy. */
static int check_function(struct policy *policy, struct dart_yaml *yaml, const yaml_node_t *root)
{
	if (policy->dartd && policy->server.address)
		return dart_yaml__refuse(yaml, root,
					 "'dartd' is of this host, and 'server' of another one: one of "
					 "them has the table");
	if (policy->function != POLICY_NAT && (policy->inside.count || policy->address_count ||
					       policy->static_count || policy->is_open))
		return dart_yaml__refuse(
			yaml, root,
			"'inside', 'pools', 'static' and 'filtering' are for 'function: nat'");
	if (policy->function != POLICY_FIREWALL && (policy->zone_count || policy->rule_count))
		return dart_yaml__refuse(yaml, root,
					 "'zones' and 'rules' are for 'function: firewall'");
	if (policy->function == POLICY_NAT && (policy->has_ipv6 || policy->address6))
		return dart_yaml__refuse(yaml, root,
					 "'families: both' and 'address6' are for all functions but "
					 "'nat'");
	if (policy->function != POLICY_BALANCER && policy->service_count)
		return dart_yaml__refuse(yaml, root, "'services' are for 'function: balancer'");
	if (policy->function != POLICY_GATEWAY && policy->tunnels)
		return dart_yaml__refuse(yaml, root, "'tunnels' is for 'function: gateway'");
	return 0;
}

/* Addresses of IPv6 are for tables whose keys have such addresses. */
static int check_families(const struct policy *policy, struct dart_yaml *yaml,
			  const yaml_node_t *root)
{
	bool has_ipv6 = policy->address6;
	size_t i;

	for (i = 0; i < policy->range_count; i++)
		has_ipv6 |= !address_range__is_ipv4(&policy->ranges[i].range);
	for (i = 0; i < policy->route_count; i++)
		has_ipv6 |= !address_range__is_ipv4(&policy->routes[i].range);
	for (i = 0; i < policy->service_count; i++)
		has_ipv6 |= !address__is_ipv4(policy->services[i].end.address);
	for (i = 0; i < policy->neighbour_count; i++)
		has_ipv6 |= !address__is_ipv4(policy->neighbours[i].address);
	for (i = 0; i < policy->static_count; i++)
		has_ipv6 |= !address__is_ipv4(policy->statics[i].inside.address |
					      policy->statics[i].outside.address);
	if (!has_ipv6 || policy->has_ipv6)
		return 0;
	return dart_yaml__refuse(yaml, root, "addresses of IPv6 need 'families: both'");
}

static int check(struct policy *policy, struct dart_yaml *yaml, const yaml_node_t *root)
{
	static int (*const checks[POLICY_FUNCTIONS])(
		struct policy * policy, struct dart_yaml * yaml, const yaml_node_t *root) = {
		[POLICY_NAT] = check_nat,
		[POLICY_FIREWALL] = policy_file__check_firewall,
		[POLICY_BALANCER] = policy_file__check_balancer,
		[POLICY_GATEWAY] = policy_file__check_gateway,
	};

	return check_function(policy, yaml, root)		    ?:
		       checks[policy->function](policy, yaml, root) ?:
		       check_families(policy, yaml, root);
}

static int set_defaults(struct policy *policy, struct dart_error *error)
{
	/* The RFC is about NAT; a balancer may have a switch that does not show it the ends. */
	if (!policy->timeout_ns[POLICY_TCP])
		policy->timeout_ns[POLICY_TCP] =
			(policy->function == POLICY_BALANCER ? 900 : 7440) * SECOND_NS;
	if (!policy->dartd)
		policy->dartd = strdup(DART_REGISTRATION_SOCKET);
	if (!policy->journal)
		policy->journal = strdup("/var/lib/dart-flows/journal");
	if (!policy->dartd || !policy->journal)
		return dart_error__no_memory(error);
	return policy_file__complete_server(&policy->server, error);
}

static int take(struct policy *policy, struct dart_yaml *yaml, const yaml_node_t *root,
		struct dart_error *error)
{
	*policy = (struct policy){
		.flows = 1 << 20,
		.rate = 20000,
		.ports_limit = 1024,
		.flows_limit = 4096,
		/* At least as long as RFC 5382, 4787 and 5508 want. */
		.timeout_ns = { [POLICY_UDP] = 300 * SECOND_NS,
				[POLICY_ICMP] = 60 * SECOND_NS,
				[POLICY_TRANSITORY] = 240 * SECOND_NS },
		.refusal = POLICY_DROP,
		.refusal_rate = 1000,
		.opening_limit = 65536,
		.is_strict = true,
	};
	if (!root)
		return dart_error__set(error, EINVAL, "%s: the file has no policy", yaml->path);
	return dart_yaml__take_mapping(yaml, root, members, policy) ?:
		       check(policy, yaml, root)		    ?:
								      set_defaults(policy, error);
}

int policy__parse(struct policy *policy, const void *bytes, size_t length, const char *path,
		  struct dart_error *error)
{
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret;

	ret = dart_yaml__parse(&yaml, bytes, length, path, &root, error);
	if (ret)
		return ret;
	ret = take(policy, &yaml, root, error);
	dart_yaml__close(&yaml);
	if (ret)
		policy__clear(policy);
	return ret;
}

int policy__read(struct policy *policy, const char *path, struct dart_error *error)
{
	const yaml_node_t *root;
	struct dart_yaml yaml;
	FILE *file;
	int ret;

	file = fopen(path, "re");
	if (!file)
		return dart_error__system(error, errno, "cannot open '%s'", path);
	ret = dart_yaml__load(&yaml, file, path, NULL, &root, error);
	fclose(file);
	if (ret)
		return ret;
	ret = take(policy, &yaml, root, error);
	dart_yaml__close(&yaml);
	if (!ret && policy->function == POLICY_GATEWAY)
		ret = policy_file__read_tunnels(policy, error);
	if (ret)
		policy__clear(policy);
	return ret;
}
