// SPDX-License-Identifier: GPL-2.0-only
/* The services and servers of a policy, and the server that a new flow gets. */
#include <errno.h>
#include <stdlib.h>

#include "balancer_internal.h"

int parts__open(struct parts *parts, const struct policy *policy)
{
	size_t i;

	parts->services = calloc(policy->service_count, sizeof(*parts->services));
	parts->servers = calloc(policy->server_count, sizeof(*parts->servers));
	parts->places = calloc(policy->service_count, MAGLEV_PLACES * sizeof(*parts->places));
	if (!parts->services || !parts->servers || !parts->places) {
		parts__close(parts);
		return -ENOMEM;
	}
	for (i = 0; i < policy->service_count; i++)
		parts->services[i].places = parts->places + i * MAGLEV_PLACES;
	for (i = 0; i < policy->server_count; i++)
		LIST_INIT(&parts->servers[i].flows);
	return 0;
}

void parts__close(struct parts *parts)
{
	free(parts->services);
	free(parts->servers);
	free(parts->places);
	*parts = (struct parts){};
}

void parts__copy_state(struct parts *parts, const struct policy *policy, const struct parts *before,
		       const struct policy *policy_before)
{
	size_t i;
	long old;

	for (i = 0; i < policy->server_count; i++) {
		const struct policy_server *server = &policy->servers[i];
		const struct policy_service *service = &policy->services[server->service];

		/* Without checks a server is up. */
		if (!service->check.is_given)
			continue;
		old = parts__find(policy_before, service->protocol, &service->end, &server->end);
		parts->servers[i].is_down = old >= 0 && before->servers[old].is_down;
	}
}

/* ---- the choice */

/* Servers of IPv6 are told apart by a hash. */
static uint64_t identity_of(const struct end *end)
{
	if (address__is_ipv4(end->address))
		return (uint64_t)end->address << 16 | end->port;
	return XXH3_64bits_withSeed(&end->address, sizeof(end->address), end->port);
}

static void fill(struct parts *parts, const struct policy *policy,
		 const struct policy_service *service)
{
	struct service *part = &parts->services[service - policy->services];
	struct maglev_server servers[MAGLEV_SERVERS_MAX];
	size_t i;

	for (i = 0; i < service->server_count; i++) {
		const size_t number = service->first_server + i;
		const struct policy_server *server = &policy->servers[number];
		const bool takes = !server->is_draining && !parts->servers[number].is_down;

		servers[i] = (struct maglev_server){
			.identity = identity_of(&server->end),
			.weight = takes ? server->weight : 0,
		};
	}
	part->has_server = maglev__fill(part->places, servers, service->server_count);
	part->is_filled = true;
}

long parts__choose(struct parts *parts, const struct policy *policy,
		   const struct policy_service *service, const struct end *client)
{
	const address_t key[] = { client->address, service->end.address,
				  (uint64_t)client->port << 24 | service->end.port << 8 |
					  service->protocol };
	struct service *part = &parts->services[service - policy->services];

	if (!part->is_filled)
		fill(parts, policy, service);
	if (!part->has_server)
		return -1;
	return service->first_server + part->places[XXH3_64bits(key, sizeof(key)) % MAGLEV_PLACES];
}

long parts__find(const struct policy *policy, uint8_t protocol, const struct end *service_end,
		 const struct end *server_end)
{
	const struct policy_service *service = policy__find_service(policy, protocol, service_end);
	const struct policy_server *server =
		service ? policy__find_server(policy, service, server_end) : NULL;

	return server ? server - policy->servers : -1;
}
