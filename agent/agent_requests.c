// SPDX-License-Identifier: GPL-2.0-only
/* The request for the status of the agent, to which its parts contribute. */
#include <unistd.h>

#include "agent.h"
#include "agent/table/registry_json.h"

static int status(struct request *request)
{
	const struct agent *agent = request->subject;
	size_t registrations, missing;
	json_t *registry;

	registrations = registrations__count(&agent->registrations, &missing);
	request->result = json_pack(
		"{s:s, s:I, s:s, s:I, s:o, s:I, s:I}", "version", DART_VERSION, "pid",
		(json_int_t)getpid(), "device", device__name(&agent->device),
		"port", (json_int_t)agent->settings.place.port, "controllers",
		listener__names(&agent->listener, &controller_kind),
		"registrations", (json_int_t)registrations, "missing",
		(json_int_t)missing);
	registry = registry_json__status(&agent->registry);
	if (json_object_update(request->result, registry)) {
		json_decref(request->result);
		request->result = NULL;
	}
	json_decref(registry);
	return 0;
}

const struct request_type agent_requests[] = {
	{ "status", "status", status, .member = "" },
	{ }
};
