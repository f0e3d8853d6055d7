// SPDX-License-Identifier: GPL-2.0-only
/* Services and their servers in the file of a policy. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "policy_file.h"

#define MILLISECOND_NS 1000000ULL
#define SECOND_NS (1000 * MILLISECOND_NS)
#define INTERVAL_LEAST_NS (100 * MILLISECOND_NS)
#define INTERVAL_MOST_NS (3600 * SECOND_NS)
#define TIMEOUT_LEAST_NS (10 * MILLISECOND_NS)
#define RESULTS_MAX 100

/* ---- servers */

static int take_weight(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint32_t *weight = into;
	uint64_t value;
	int ret;

	ret = policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, POLICY_WEIGHT_MAX,
					 &value);
	if (!ret)
		*weight = value;
	return ret;
}

static int take_drain(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_choice(yaml, node, "false", "true", into);
}

/* Has the service this server?  Servers are in no order before all are read. */
static bool has_server(const struct policy *policy, const struct policy_service *service,
		       const struct end *end)
{
	size_t i;

	for (i = service->first_server; i < service->first_server + service->server_count; i++)
		if (end__equal(&policy->servers[i].end, end))
			return true;
	return false;
}

/* Neither this service nor another one of its protocol has the server already. */
static int check_server(const struct policy *policy, struct dart_yaml *yaml,
			const yaml_node_t *node, const struct policy_service *service,
			const struct end *end)
{
	char text[END_TEXT];
	size_t i;

	if (has_server(policy, service, end))
		return dart_yaml__refuse(yaml, node, "the service has the server %s already",
					 end__print(end, text));
	for (i = 0; i < policy->service_count; i++)
		if (policy->services[i].protocol == service->protocol &&
		    has_server(policy, &policy->services[i], end))
			return dart_yaml__refuse(
				yaml, node,
				"another service of %s has the server %s: answers to clients would "
				"be of either",
				policy__protocol_name(service->protocol), end__print(end, text));
	return 0;
}

struct servers {
	struct policy *policy;
	struct policy_service *service;
};

static int take_server(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "address", policy_file__take_end, offsetof(struct policy_server, end) },
		{ "weight", take_weight, offsetof(struct policy_server, weight) },
		{ "drain", take_drain, offsetof(struct policy_server, is_draining) },
		{}
	};
	struct policy_server server = { .weight = 1 };
	const struct servers *servers = into;
	struct policy *policy = servers->policy;
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &server);
	if (!ret && !server.end.port)
		ret = dart_yaml__refuse(yaml, node, "a server without 'address'");
	ret = ret								      ?:
		      check_server(policy, yaml, node, servers->service, &server.end) ?:
		      policy_file__grow(yaml, node, &policy->servers, sizeof(server),
					policy->server_count, 1, POLICY_SERVERS_MAX);
	if (ret)
		return ret;
	policy->servers[policy->server_count++] = server;
	servers->service->server_count++;
	return 0;
}

/* ---- checks */

static int take_check_port(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	uint16_t *port = into;
	uint64_t value;
	int ret;

	ret = policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, UINT16_MAX, &value);
	if (!ret)
		*port = value;
	return ret;
}

static int take_interval(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_TIME, INTERVAL_LEAST_NS,
					  INTERVAL_MOST_NS, into);
}

static int take_timeout(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_TIME, TIMEOUT_LEAST_NS,
					  INTERVAL_MOST_NS, into);
}

static int take_results(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_quantity(yaml, node, DART_QUANTITY_NUMBER, 1, RESULTS_MAX, into);
}

static int take_check(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "port", take_check_port, offsetof(struct policy_check, port) },
		{ "interval", take_interval, offsetof(struct policy_check, interval_ns) },
		{ "timeout", take_timeout, offsetof(struct policy_check, timeout_ns) },
		{ "rise", take_results, offsetof(struct policy_check, rise) },
		{ "fall", take_results, offsetof(struct policy_check, fall) },
		{}
	};
	struct policy_check *check = into;
	int ret;

	*check = (struct policy_check){
		.is_given = true,
		.interval_ns = 2 * SECOND_NS,
		.rise = 2,
		.fall = 3,
	};
	ret = dart_yaml__take_mapping(yaml, node, members, check);
	if (!check->timeout_ns)
		check->timeout_ns = check->interval_ns < SECOND_NS ? check->interval_ns : SECOND_NS;
	if (!ret && check->timeout_ns > check->interval_ns)
		return dart_yaml__refuse(yaml, node,
					 "the 'timeout' of a check is longer than its 'interval'");
	return ret;
}

/* ---- services */

struct service {
	struct policy_service service;
	const yaml_node_t *servers;
};

static int take_server_list(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct service *service = into;

	service->servers = node;
	return 0;
}

static int take_when_down(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return policy_file__take_choice(yaml, node, "keep", "end", into);
}

static int check_service(const struct policy *policy, struct dart_yaml *yaml,
			 const yaml_node_t *node, const struct service *service)
{
	const struct policy_service *wanted = &service->service;
	char text[END_TEXT];
	size_t i;

	if (!wanted->end.port || !wanted->protocol || !service->servers)
		return dart_yaml__refuse(yaml, node,
					 "a service has 'address', 'protocol' and 'servers'");
	if (wanted->check.is_given && !wanted->check.port && wanted->protocol != IPPROTO_TCP)
		return dart_yaml__refuse(yaml, node, "a check of a service of udp needs a 'port'");
	for (i = 0; i < policy->service_count; i++)
		if (policy->services[i].protocol == wanted->protocol &&
		    end__equal(&policy->services[i].end, &wanted->end))
			return dart_yaml__refuse(yaml, node, "two services are %s %s",
						 policy__protocol_name(wanted->protocol),
						 end__print(&wanted->end, text));
	return 0;
}

static int take_service(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "address", policy_file__take_end, offsetof(struct service, service.end) },
		{ "protocol", policy_file__take_port_protocol,
		  offsetof(struct service, service.protocol) },
		{ "servers", take_server_list, 0 },
		{ "check", take_check, offsetof(struct service, service.check) },
		{ "when_down", take_when_down, offsetof(struct service, service.ends_when_down) },
		{}
	};
	struct policy *policy = into;
	struct service service = { .service.first_server = policy->server_count };
	struct servers servers = { policy, &service.service };
	int ret;

	ret = dart_yaml__take_mapping(yaml, node, members, &service) ?:
		      check_service(policy, yaml, node, &service)    ?:
		      dart_yaml__take_list(yaml, service.servers, take_server, &servers);
	if (!ret && !service.service.server_count)
		ret = dart_yaml__refuse(yaml, node, "a service without a server");
	ret = ret   ?:
		      policy_file__grow(yaml, node, &policy->services, sizeof(*policy->services),
					policy->service_count, 1, POLICY_SERVICES_MAX);
	if (!ret)
		policy->services[policy->service_count++] = service.service;
	return ret;
}

int policy_file__take_services(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_service, into);
}

/* ---- the whole */

static int compare_servers(const void *one, const void *other)
{
	const struct policy_server *a = one, *b = other;

	return end__compare(&a->end, &b->end);
}

static int compare_services(const void *one, const void *other)
{
	const struct policy_service *a = one, *b = other;

	return end__compare(&a->end, &b->end) ?: (int)a->protocol - b->protocol;
}

int policy_file__check_balancer(struct policy *policy, struct dart_yaml *yaml,
				const yaml_node_t *root)
{
	char text[END_TEXT];
	size_t i, server;

	if (!*policy->interface || !*policy->table || !policy->service_count ||
	    !policy->route_count)
		return dart_yaml__refuse(
			yaml, root,
			"a policy of a balancer has 'interface', 'table', 'services' and 'routes'");
	qsort(policy->services, policy->service_count, sizeof(*policy->services), compare_services);
	for (i = 0; i < policy->service_count; i++) {
		const struct policy_service *service = &policy->services[i];

		qsort(policy->servers + service->first_server, service->server_count,
		      sizeof(*policy->servers), compare_servers);
		for (server = 0; server < service->server_count; server++)
			policy->servers[service->first_server + server].service = i;
	}
	for (server = 0; server < policy->server_count; server++) {
		const struct end *end = &policy->servers[server].end;

		if (address__is_ipv4(end->address) !=
		    address__is_ipv4(policy->services[policy->servers[server].service].end.address))
			return dart_yaml__refuse(
				yaml, root, "the server %s is of another family than its service",
				end__print(end, text));
		if (policy__is_service(policy, end->address))
			return dart_yaml__refuse(yaml, root,
						 "the server %s has the address of a service",
						 end__print(end, text));
		if (!policy__route(policy, end->address))
			return dart_yaml__refuse(yaml, root,
						 "the server %s is in no prefix of 'routes'",
						 end__print(end, text));
	}
	return 0;
}
