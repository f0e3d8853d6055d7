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
	for (i = 0; i < policy->route_count; i++)
		require(policy__route(policy, policy->routes[i].address));
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
	free(bytes);
	return 0;
}
