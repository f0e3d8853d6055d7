// SPDX-License-Identifier: GPL-2.0-only
/* The servers of a balancer: what their checks say, for the function, the log and dartctl. */
#include <jansson.h>
#include <libdart/json.h>

#include "flows_internal.h"
#include "tools/flows/balancer/balancer.h"

static const struct policy_service *service_of(const struct flows *flows, size_t server)
{
	return &flows->policy->services[flows->policy->servers[server].service];
}

static void on_changed(void *subject, size_t server, bool is_up, const char *reason)
{
	char service_text[END_TEXT], server_text[END_TEXT];
	struct flows *flows = subject;
	const struct policy_service *service = service_of(flows, server);
	struct dart_error error;

	balancer__set_up(flows->function, server, is_up);
	flows__say("the server %s of %s %s is %s%s%s",
		   end__print(&flows->policy->servers[server].end, server_text),
		   policy__protocol_name(service->protocol),
		   end__print(&service->end, service_text), is_up ? "up" : "down",
		   reason ? ": " : "", reason ?: "");
	/* Flows may have ended. */
	flows__write_journal(flows, &error);
}

static const struct health_handlers handlers = { on_changed };

int flows__open_servers(struct flows *flows, struct dart_error *error)
{
	return health__new(flows->event, flows->policy, &handlers, flows, &flows->health, error);
}

void flows__renew_servers(struct flows *flows)
{
	struct dart_error error;
	size_t i;

	if (!flows->health || !health__set_policy(flows->health, flows->policy, &error))
		return;
	for (i = 0; i < flows->policy->server_count; i++)
		balancer__set_up(flows->function, i, true);
	flows__say("%s: no server is checked until the next reload", error.text);
}

/* ---- for dartctl */

static const char *state_of(const struct flows *flows, size_t server)
{
	if (!balancer__is_up(flows->function, server))
		return "down";
	return flows->policy->servers[server].is_draining ? "draining" : "up";
}

static json_t *pack_server(const struct flows *flows, size_t number)
{
	const struct health_result result = health__result(flows->health, number);
	const struct policy_server *server = &flows->policy->servers[number];
	const struct policy_service *service = service_of(flows, number);
	char service_text[END_TEXT], server_text[END_TEXT];

	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:o, s:o, s:o, s:s?}", "protocol",
			 policy__protocol_name(service->protocol), "service",
			 end__print(&service->end, service_text), "server",
			 end__print(&server->end, server_text), "weight", (int)server->weight,
			 "state", state_of(flows, number), "flows",
			 dart_json__unsigned(balancer__flows(flows->function, number)), "checks",
			 dart_json__unsigned(result.checks), "failures",
			 dart_json__unsigned(result.failures), "reason", result.reason);
}

json_t *flows__servers(struct flows *flows)
{
	json_t *servers = json_array();
	size_t i;

	for (i = 0; i < flows->policy->server_count; i++)
		json_array_append_new(servers, pack_server(flows, i));
	return servers;
}
