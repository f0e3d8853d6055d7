// SPDX-License-Identifier: GPL-2.0-only
/* Answers requests about flows: see control.h. */
#include "control_answer.h"

#include <errno.h>
#include <libdart/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Flows of one answer are those of so many chains of the index, about as many flows. */
#define CHAINS 512

static json_t *refuse(int code, const char *sentence)
{
	return json_pack("{s:b, s:s, s:s}", "ok", 0, "error", strerrorname_np(code), "message",
			 sentence);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static json_t *pack_flow(const struct control_subject *subject, const struct flow *flow)
{
	const struct flow_use use = function__use_of(subject->function, flow);
	struct flow_names names;

	function__names(subject->function, flow, &names);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:I, s:b, s:o, s:o}", "protocol",
			 names.protocol, "inside", names.inside, "outside", names.outside, "remote",
			 names.remote, "state", flow_state_names[use.state], "connection",
			 function__connection(subject->function, flow), "age_s",
			 (json_int_t)((now_ns() - use.since_ns) / 1000000000), "static",
			 use.is_static, "packets", dart_json__unsigned(use.packets), "bytes",
			 dart_json__unsigned(use.bytes));
}

struct listing {
	const struct control_subject *subject;
	json_t *flows;
};

static void tell_flow(void *subject, const struct flow *flow)
{
	const struct listing *listing = subject;

	json_array_append_new(listing->flows, pack_flow(listing->subject, flow));
}

static json_t *list(const struct control_subject *subject, json_t *request)
{
	struct listing listing = { subject, json_array() };
	json_int_t place = 0;
	json_t *answer;
	uint64_t next;
	bool has_more;

	if (json_unpack(request, "{s:s, s?I !}", "request", &(const char *){ NULL }, "place",
			&place) ||
	    place < 0) {
		json_decref(listing.flows);
		return refuse(EINVAL, "'place' is a number that an answer contained, or 0");
	}
	next = place;
	has_more = function__walk(subject->function, &next, CHAINS, tell_flow, &listing);
	answer = json_pack("{s:b, s:o}", "ok", 1, "flows", listing.flows);
	if (answer && has_more)
		json_object_set_new(answer, "place", json_integer(next));
	return answer;
}

/* The flow that a request names; otherwise NULL, and the answer. */
static struct flow *find(const struct control_subject *subject, json_t *request, json_t **answer)
{
	const char *name, *protocol, *inside, *remote;
	struct flow *flow;

	if (json_unpack(request, "{s:s, s:s, s:s, s:s !}", "request", &name, "protocol", &protocol,
			"inside", &inside, "remote", &remote)) {
		*answer = refuse(EINVAL, "a flow has 'protocol', 'inside' and 'remote'");
		return NULL;
	}
	flow = function__find_named(subject->function, protocol, inside, remote);
	if (!flow)
		*answer = refuse(ENOENT, "there is no such flow ('dartctl flow list' prints all)");
	return flow;
}

static json_t *show(const struct control_subject *subject, json_t *request)
{
	struct flow *flow;
	json_t *answer;

	flow = find(subject, request, &answer);
	return flow ? json_pack("{s:b, s:o}", "ok", 1, "flow", pack_flow(subject, flow)) : answer;
}

static json_t *end(const struct control_subject *subject, json_t *request)
{
	struct dart_error error;
	struct flow *flow;
	json_t *answer;
	int ret;

	if (function__is_permanent(subject->function))
		return refuse(EOPNOTSUPP, "a tunnel ends when its file lacks it and dart-flows is "
					  "reloaded (systemctl reload dart-flows)");
	flow = find(subject, request, &answer);
	if (!flow)
		return answer;
	answer = json_pack("{s:b, s:o}", "ok", 1, "flow", pack_flow(subject, flow));
	function__end(subject->function, flow);
	ret = subject->settle(subject->subject, &error);
	if (!ret)
		return answer;
	json_decref(answer);
	return refuse(-ret, error.text);
}

static json_t *status(const struct control_subject *subject, json_t *request)
{
	return json_pack("{s:b, s:o}", "ok", 1, "status", subject->status(subject->subject));
}

static json_t *servers(const struct control_subject *subject, json_t *request)
{
	if (!subject->servers)
		return refuse(EOPNOTSUPP, "the function of dart-flows has no servers, which are of "
					  "'function: balancer'");
	return json_pack("{s:b, s:o}", "ok", 1, "servers", subject->servers(subject->subject));
}

static const struct {
	const char *name;
	json_t *(*answer)(const struct control_subject *subject, json_t *request);
} requests[] = {
	{ "flow-list", list },	   { "flow-show", show },	{ "flow-end", end },
	{ "flow-status", status }, { "flow-servers", servers },
};

json_t *control_answer__make(const struct control_subject *subject, const char *line, size_t length)
{
	json_t *request = dart_json__loadb(line, length, 0, NULL), *answer = NULL;
	const char *name = json_string_value(json_object_get(request, "request"));
	size_t i;

	for (i = 0; name && i < sizeof(requests) / sizeof(requests[0]); i++)
		if (!strcmp(requests[i].name, name)) {
			answer = requests[i].answer(subject, request);
			json_decref(request);
			return answer;
		}
	json_decref(request);
	return refuse(EINVAL, "not a request: flow-list, flow-show, flow-end, flow-status or "
			      "flow-servers");
}
