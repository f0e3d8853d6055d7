// SPDX-License-Identifier: GPL-2.0-only
/* Reads the file of a policy and checks it: see policy.h. */
#include <dart/registration.h>
#include <errno.h>
#include <libdart/settings/quantity.h>
#include <libdart/yaml_file.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

#define SECOND_NS 1000000000ULL
#define TIMEOUT_LEAST_NS (10 * SECOND_NS)
#define TIMEOUT_MOST_NS (7 * 24 * 3600 * SECOND_NS)
#define PORT_FIRST 1024
#define INSIDE_MAX 1024
#define FLOWS_MAX (1 << 24)
#define RATE_MAX 100000000

#define POLICY(node) ((struct policy *)(node))

/* ---- values */

static const char *text_of(const yaml_node_t *node)
{
	return dart_yaml__text(node) ?: "";
}

static int take_quantity(struct dart_yaml *yaml, const yaml_node_t *node,
			 enum dart_quantity quantity, uint64_t least, uint64_t most,
			 uint64_t *value)
{
	char from[32], to[32];

	if (!dart_quantity__parse(quantity, text_of(node), least, most, value))
		return 0;
	dart_quantity__print(quantity, least, from, sizeof(from));
	dart_quantity__print(quantity, most, to, sizeof(to));
	return dart_yaml__refuse(yaml, node, "'%s' is not a %s from %s to %s", text_of(node),
				 quantity == DART_QUANTITY_TIME ? "time" : "number", from, to);
}

static int take_time(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_quantity(yaml, node, DART_QUANTITY_TIME, TIMEOUT_LEAST_NS, TIMEOUT_MOST_NS,
			     into);
}

static int take_flows(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, FLOWS_MAX, into);
}

static int take_ports_limit(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, 3 * 65536, into);
}

static int take_rate(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, RATE_MAX, into);
}

/* A name that fits into @size bytes. */
static int take_name(struct dart_yaml *yaml, const yaml_node_t *node, char *name, size_t size)
{
	const char *text = text_of(node);

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

static int take_path(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	char **path = into;

	if (*text_of(node) != '/')
		return dart_yaml__refuse(yaml, node, "'%s' is not an absolute path", text_of(node));
	*path = strdup(text_of(node));
	return *path ? 0 : dart_error__no_memory(yaml->error);
}

static int take_protocol(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint8_t *protocol = into;

	*protocol = policy__protocol(text_of(node));
	if (*protocol && *protocol != IPPROTO_ICMP)
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is neither tcp nor udp", text_of(node));
}

static int take_end(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct end *end = into;

	if (policy__take_end(text_of(node), end) && end->port)
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is not an address and a port, as 10.0.0.5:80",
				 text_of(node));
}

static int take_mac(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	unsigned int bytes[PACKET_MAC_LENGTH];
	uint8_t *mac = into;
	int end = 0, i;

	if (strlen(text_of(node)) == 17)
		sscanf(text_of(node), "%2x:%2x:%2x:%2x:%2x:%2x%n", &bytes[0], &bytes[1], &bytes[2],
		       &bytes[3], &bytes[4], &bytes[5], &end);
	if (end != 17 || bytes[0] & 1)
		return dart_yaml__refuse(
			yaml, node,
			"'%s' is not the Ethernet address of a host, as 52:54:00:00:00:01",
			text_of(node));
	for (i = 0; i < PACKET_MAC_LENGTH; i++)
		mac[i] = bytes[i];
	return 0;
}

/* A range of IPv4 addresses. */
static int take_range(struct dart_yaml *yaml, const yaml_node_t *node, struct dart_prefix *prefix)
{
	struct dart_error reason;

	if (dart_prefix__parse(prefix, text_of(node), &reason))
		return dart_yaml__refuse(yaml, node, "%s", reason.text);
	if (prefix->family != AF_INET)
		return dart_yaml__refuse(yaml, node, "'%s' is not a range of IPv4 addresses",
					 text_of(node));
	return 0;
}

static uint32_t first_of(const struct dart_prefix *prefix)
{
	return (uint32_t)prefix->address[0] << 24 | prefix->address[1] << 16 |
	       prefix->address[2] << 8 | prefix->address[3];
}

static uint32_t mask_of(const struct dart_prefix *prefix)
{
	return prefix->length ? ~0U << (32 - prefix->length) : 0;
}

/* ---- lists */

/* Makes place for @more further items. */
static int grow(struct dart_yaml *yaml, const yaml_node_t *node, void *items, size_t size,
		size_t count, size_t more, size_t most)
{
	void *grown, **list = items;

	if (more > most - count)
		return dart_yaml__refuse(yaml, node, "more than %zu of them", most);
	grown = realloc(*list, (count + more) * size);
	if (!grown)
		return dart_error__no_memory(yaml->error);
	*list = grown;
	return 0;
}

static int take_inside_item(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct dart_prefixes *prefixes = into;
	struct dart_prefix prefix;
	int ret = take_range(yaml, node, &prefix);

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
	return take_range(yaml, node, &pool->prefix);
}

static int take_pool_ports(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	unsigned int first, last;
	struct pool *pool = into;
	int end = 0;

	sscanf(text_of(node), "%5u-%5u%n", &first, &last, &end);
	if (!end || text_of(node)[end] || !first || first > last || last > UINT16_MAX)
		return dart_yaml__refuse(
			yaml, node, "'%s' is not a range of ports from 1 to 65535, as 1024-65535",
			text_of(node));
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
	ret = grow(yaml, node, &policy->addresses, sizeof(*policy->addresses),
		   policy->address_count, count, POLICY_ADDRESSES_MAX);
	for (i = 0; !ret && i < count; i++)
		policy->addresses[policy->address_count++] =
			(struct policy_address){ first_of(&pool.prefix) + i, pool.first,
						 pool.last };
	return ret;
}

static int take_pools(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_pool, into);
}

static int take_static(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "protocol", take_protocol, offsetof(struct policy_static, protocol) },
		{ "inside", take_end, offsetof(struct policy_static, inside) },
		{ "outside", take_end, offsetof(struct policy_static, outside) },
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
	ret = grow(yaml, node, &policy->statics, sizeof(mapping), policy->static_count, 1,
		   POLICY_STATIC_MAX);
	if (!ret)
		policy->statics[policy->static_count++] = mapping;
	return ret;
}

static int take_statics(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_static, into);
}

static int take_route_prefix(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct policy_route *route = into;
	struct dart_prefix prefix;
	int ret = take_range(yaml, node, &prefix);

	if (ret)
		return ret;
	route->address = first_of(&prefix);
	route->mask = mask_of(&prefix);
	return 0;
}

static int take_route(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = { { "prefix", take_route_prefix, 0 },
							   { "mac", take_mac,
							     offsetof(struct policy_route, mac) },
							   {} };
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
	ret = grow(yaml, node, &policy->routes, sizeof(route), policy->route_count, 1,
		   POLICY_ROUTES_MAX);
	if (ret)
		return ret;
	for (i = policy->route_count++; i && policy->routes[i - 1].mask < route.mask; i--)
		policy->routes[i] = policy->routes[i - 1];
	policy->routes[i] = route;
	return 0;
}

static int take_routes(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_route, into);
}

/* ---- the whole */

static int take_filtering(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	bool *is_open = into;

	*is_open = !strcmp(text_of(node), "endpoint-independent");
	if (*is_open || !strcmp(text_of(node), "address-and-port-dependent"))
		return 0;
	return dart_yaml__refuse(
		yaml, node, "'%s' is neither endpoint-independent nor address-and-port-dependent",
		text_of(node));
}

static int take_limits(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "ports", take_ports_limit, offsetof(struct policy, ports_limit) },
		{ "flows", take_flows, offsetof(struct policy, flows_limit) },
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
		{}
	};

	return dart_yaml__take_mapping(yaml, node, members, into);
}

static const struct dart_yaml_member members[] = {
	{ "interface", take_interface, offsetof(struct policy, interface) },
	{ "table", take_table, offsetof(struct policy, table) },
	{ "dartd", take_path, offsetof(struct policy, dartd) },
	{ "journal", take_path, offsetof(struct policy, journal) },
	{ "flows", take_flows, offsetof(struct policy, flows) },
	{ "rate", take_rate, offsetof(struct policy, rate) },
	{ "inside", take_inside, offsetof(struct policy, inside) },
	{ "pools", take_pools, 0 },
	{ "filtering", take_filtering, offsetof(struct policy, is_open) },
	{ "limits", take_limits, 0 },
	{ "timeouts", take_timeouts, 0 },
	{ "static", take_statics, 0 },
	{ "routes", take_routes, 0 },
	{}
};

static int compare_addresses(const void *one, const void *other)
{
	const struct policy_address *a = one, *b = other;

	return (a->address > b->address) - (a->address < b->address);
}

static int compare_ends(const struct end *one, const struct end *other)
{
	return one->address != other->address ? (one->address > other->address ? 1 : -1) :
						(int)one->port - other->port;
}

static int compare_insides(const void *one, const void *other)
{
	const struct policy_static *a = one, *b = other;

	return (int)a->protocol - b->protocol ?: compare_ends(&a->inside, &b->inside);
}

static int compare_outsides(const void *one, const void *other)
{
	const struct policy_static *a = one, *b = other;

	return (int)a->protocol - b->protocol ?: compare_ends(&a->outside, &b->outside);
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

static int check(struct policy *policy, struct dart_yaml *yaml, const yaml_node_t *root)
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

static int set_defaults(struct policy *policy, struct dart_error *error)
{
	if (!policy->dartd)
		policy->dartd = strdup(DART_REGISTRATION_SOCKET);
	if (!policy->journal)
		policy->journal = strdup("/var/lib/dart-flows/journal");
	return policy->dartd && policy->journal ? 0 : dart_error__no_memory(error);
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
		.timeout_ns = { [POLICY_TCP] = 7440 * SECOND_NS,
				[POLICY_UDP] = 300 * SECOND_NS,
				[POLICY_ICMP] = 60 * SECOND_NS },
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
	if (ret)
		policy__clear(policy);
	return ret;
}
