// SPDX-License-Identifier: GPL-2.0-only
/* Policies of dart-flows: the parser refuses a policy with a sentence, or finds each part of it again. */
#include "fuzz.h"
#include "tools/flows/settings/policy.h"

static void look_at(const struct policy *policy)
{
	size_t i;

	for (i = 0; i < policy->address_count; i++)
		require(policy__find_address(policy, policy->addresses[i].address) ==
			&policy->addresses[i]);
	for (i = 0; i < policy->service_count; i++) {
		const struct policy_service *service = &policy->services[i];

		require(policy__find_service(policy, service->protocol, &service->end) == service);
		require(policy__is_service(policy, service->end.address));
		require(service->server_count);
	}
	for (i = 0; i < policy->server_count; i++) {
		const struct policy_server *server = &policy->servers[i];

		require(policy__find_server(policy, &policy->services[server->service],
					    &server->end) == server);
		require(server->weight >= 1 && server->weight <= POLICY_WEIGHT_MAX);
		require(!policy__is_service(policy, server->end.address));
	}
	for (i = 0; i < policy->tenant_count; i++) {
		const struct policy_tenant *tenant = &policy->tenants[i];

		require(policy__find_tenant(policy, tenant->vni) == tenant);
		require(tenant->first_machine + tenant->machine_count <= policy->machine_count);
	}
	for (i = 0; i < policy->machine_count; i++)
		require(policy->machines[i].vni <= TUNNEL_VNI_MAX);
	for (i = 0; i < policy->route_count; i++) {
		const struct address_range *range = &policy->routes[i].range;
		/* The first address that is not one of IPv4. */
		const address_t other = address_range__is_ipv4(range) ? 0 : (address_t)1 << 32;

		require(policy__route(policy, range->first | (other & ~range->mask)));
	}
}

/* The bytes as the file of tenants of a gateway. */
static void take_tunnels(const uint8_t *bytes, size_t size)
{
	static const char text[] = "function: gateway\ninterface: i\ntable: t\ntunnels: /t\n"
				   "routes: [{prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}]\n";
	struct dart_error error;
	struct policy policy;

	require(!policy__parse(&policy, text, sizeof(text) - 1, "flows.yaml", &error));
	if (policy__parse_tunnels(&policy, bytes, size, "tunnels.yaml", &error)) {
		require_sentence(&error);
		return;
	}
	look_at(&policy);
	policy__clear(&policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = exact_copy(data, size);
	struct dart_error error;
	struct policy policy;

	if (policy__parse(&policy, bytes, size, "flows.yaml", &error)) {
		require_sentence(&error);
	} else {
		look_at(&policy);
		require(!policy__check_reload(&policy, &policy, &error));
		policy__clear(&policy);
	}
	take_tunnels(bytes, size);
	free(bytes);
	return 0;
}
