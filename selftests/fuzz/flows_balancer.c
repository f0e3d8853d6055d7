// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments, datagrams, time, changes of the table, servers that come and go, and policies in any
 * order, as the balancer of dart-flows gets them.
 */
#include "flows_steps.h"
#include "tools/flows/balancer/balancer.h"

#define POLICIES 4
#define BEGINNING                                                           \
	"function: balancer\ninterface: eth1\ntable: balancer\nflows: 12\n" \
	"limits: {flows: 8, opening: 4}\n"                                  \
	"routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]\nservices:\n"
#define TCP_SERVICE " - {address: 192.0.2.10:80, protocol: tcp, check: {}, servers: "
#define OTHER_SERVICE " - {address: 192.0.2.11:80, protocol: tcp, check: {}, servers: "
#define UDP_SERVICE                                                                              \
	" - {address: 192.0.2.10:80, protocol: udp, when_down: end, check: {port: 9}, servers: " \
	"[{address: 10.1.0.1:80}, {address: 10.1.0.2:80}]}\n"

/* Servers move between services, drain, and go. */
static const char *const texts[POLICIES] = {
	BEGINNING TCP_SERVICE "[{address: 10.1.0.1:80}, {address: 10.1.0.2:80}]}\n" OTHER_SERVICE
			      "[{address: 10.1.0.3:80}]}\n" UDP_SERVICE,
	BEGINNING TCP_SERVICE "[{address: 10.1.0.1:80, drain: true}, {address: 10.1.0.2:80}],"
			      " when_down: end}\n" UDP_SERVICE,
	BEGINNING OTHER_SERVICE "[{address: 10.1.0.1:80}, {address: 10.1.0.2:80, weight: 9}]}\n",
	BEGINNING TCP_SERVICE "[{address: 10.1.0.3:80}]}\n" UDP_SERVICE,
};

static struct policy policies[POLICIES];

/* Few hosts and ports. */
static struct end client_of(const uint8_t *step)
{
	return (struct end){ 0xc6336401 + (step[2] & 1), 1000 + (step[2] >> 1 & 3) };
}

static struct end service_of(const uint8_t *step)
{
	return (struct end){ 0xc000020a + (step[2] >> 3 & 1), 80 };
}

static void send_from_client(const uint8_t *step, bool is_tcp)
{
	const struct end client = client_of(step), service = service_of(step);
	const uint8_t protocol = is_tcp ? IPPROTO_TCP : IPPROTO_UDP;
	const struct policy *policy = scene.function->policy;
	const struct policy_service *found;
	const struct policy_server *server;
	const struct flow *flow;
	struct end before = {};

	flow = function__find(scene.function, protocol, &service, &client);
	if (flow)
		before = function__record(scene.function, flow).inside;
	if (send_packet(step, &client, &service, is_tcp, false) != FUNCTION_PASSES)
		return;
	require(end__equal(&scene.source, &client));
	if (before.port && end__equal(&scene.destination, &before))
		return;
	/* It begins a flow: only over a service of the policy, to a server that takes one. */
	found = policy__find_service(policy, protocol, &service);
	require(found);
	server = policy__find_server(policy, found, &scene.destination);
	require(server && !server->is_draining);
	require(balancer__is_up(scene.function, server - policy->servers));
	require(!is_tcp || (step[1] & (SEGMENT_SYN | SEGMENT_ACK)) == SEGMENT_SYN);
}

static void send_from_server(const uint8_t *step, bool is_tcp)
{
	const struct end client = client_of(step), server = { 0x0a010001 + (step[2] >> 4) % 3, 80 };
	const struct flow *flow;
	struct end service = {};

	flow = function__find(scene.function, is_tcp ? IPPROTO_TCP : IPPROTO_UDP, &server, &client);
	if (flow)
		service = function__record(scene.function, flow).outside;
	if (send_packet(step, &server, &client, is_tcp, true) != FUNCTION_PASSES)
		return;
	/* Only the answer of a flow, which clients get from the service. */
	require(flow && end__equal(&scene.source, &service));
	require(end__equal(&scene.destination, &client));
}

static void end_flow(const uint8_t *step)
{
	const struct end client = client_of(step), service = service_of(step);
	struct flow *flow = function__find(scene.function, IPPROTO_TCP, &service, &client);

	if (flow)
		function__end(scene.function, flow);
}

static void take_step(const uint8_t *step)
{
	struct dart_error error;

	if (take_common_step(step))
		return;
	switch (step[0] & 15) {
	case 6:
		end_flow(step);
		break;
	case 7:
		balancer__set_up(scene.function, step[2] % scene.function->policy->server_count,
				 step[1] & 1);
		break;
	case 8:
		require(!function__set_policy(scene.function, &policies[step[1] % POLICIES],
					      &error));
		break;
	default:
		if (step[0] & 32)
			send_from_server(step, step[0] & 16);
		else
			send_from_client(step, step[0] & 16);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t flows, i, server;
	struct dart_error error;

	for (i = 0; i < POLICIES && !policies[i].service_count; i++)
		require(!policy__parse(&policies[i], texts[i], strlen(texts[i]), "flows.yaml",
				       &error));
	open_scene(&balancer_type, &policies[0]);
	for (i = 0; i + STEP <= size && i < STEPS_BYTES_MAX; i += STEP) {
		take_step(data + i);
		look();
		/* Flows without a server of the policy are about to end. */
		flows = 0;
		for (server = 0; server < scene.function->policy->server_count; server++)
			flows += balancer__flows(scene.function, server);
		require(flows <= scene.function->counts.flows);
		require(scene.function->counts.flows - flows <=
			scene.function->counts.by_state[FLOW_ENDING]);
	}
	close_scene();
	return 0;
}
