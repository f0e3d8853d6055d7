// SPDX-License-Identifier: GPL-2.0-only
/* The request for the status of the agent, to which its parts contribute. */
#include <unistd.h>

#include "agent.h"
#include "agent/table/registry_json.h"

/* Takes both references; NULL if out of memory. */
static json_t *join(json_t *object, json_t *more)
{
	if (!object || json_object_update(object, more)) {
		json_decref(object);
		object = NULL;
	}
	json_decref(more);
	return object;
}

/* Peers that ask dartd for values. */
static json_t *describe_callers(const struct agent *agent)
{
	const struct serve_counts *rpc = &agent->self.counts->rpc;
	const struct serve_counts *tcp = &agent->self.counts->tcp;

	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "rpc_callers",
			 listener__names(&agent->listener, &caller_kind), "rpc_requests",
			 (json_int_t)rpc->requests, "rpc_bytes", (json_int_t)rpc->bytes,
			 "rpc_cut_off", (json_int_t)rpc->cut_off, "tcp_port",
			 (json_int_t)agent->tcp_listener.port, "tcp_callers",
			 tcp_listener__names(&agent->tcp_listener), "tcp_requests",
			 (json_int_t)tcp->requests, "tcp_bytes", (json_int_t)tcp->bytes,
			 "tcp_cut_off", (json_int_t)tcp->cut_off);
}

/* Why callers by TCP meet no certificate, or an old one; NULL: all is well. */
static const char *tcp_failure(const struct agent *agent)
{
	const char *failure = agent->tcp_listener.failure.text;

	return *failure ? failure : NULL;
}

/* Why peers cannot connect over RDMA; NULL if they can, or if RDMA is not wanted. */
static const char *device_missing(const struct agent *agent)
{
	const char *missing = agent->device_state.missing.text;

	return *missing ? missing : NULL;
}

static int status(struct request *request)
{
	struct agent *agent = request->subject;
	size_t registrations, missing;

	registrations = registrations__count(&agent->registrations, &missing);
	request->result =
		json_pack("{s:s, s:I, s:s*, s:I, s:o, s:I, s:I}", "version", DART_VERSION, "pid",
			  (json_int_t)getpid(), "device", device__known_name(&agent->device),
			  "port", (json_int_t)agent->settings.place.port, "controllers",
			  listener__names(&agent->listener, &controller_kind), "registrations",
			  (json_int_t)registrations, "missing", (json_int_t)missing);
	request->result = join(request->result, registry_json__status(&agent->registry));
	request->result = join(request->result, describe_callers(agent));
	request->result =
		join(request->result,
		     json_pack("{s:s*, s:s*, s:o*, s:o}", "tcp_failure", tcp_failure(agent),
			       "device_missing", device_missing(agent), "mixes_updates",
			       agent->device.mixes_updates ? json_true() : NULL, "coverage",
			       coverage_report__describe(&agent->coverage)));
	return 0;
}

const struct request_type agent_requests[] = {
	{ "status", "status", status, .member = "" },
	{ }
};
