// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments, datagrams, time, changes of the table and policies in any order, as the NAT of dart-flows
 * gets them.
 */
#define ENTERS_AT_ONCE true
#include "flows_steps.h"
#include "tools/flows/nat/nat.h"

#define POLICIES 4
#define BEGINNING                                                                \
	"interface: eth1\ntable: nat\nflows: 12\nlimits: {ports: 3, flows: 5}\n" \
	"inside: [10.0.0.0/8]\nroutes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]\n"
#define POOL 0xcb007101 /* 203.0.113.1 */
#define FIRST_PORT 2000
#define PORTS 4

/* Pools come and go, and so do static mappings. */
static const char *const texts[POLICIES] = {
	BEGINNING "pools: [{addresses: 203.0.113.1, ports: 2000-2003}]\n",
	BEGINNING "pools: [{addresses: 203.0.113.0/30, ports: 2000-2003}]\n"
		  "filtering: endpoint-independent\n",
	BEGINNING "pools: [{addresses: 203.0.113.1, ports: 2002-2003}]\n"
		  "static:\n - {protocol: udp, inside: 10.0.0.1:1000, outside: 203.0.113.1:2000}\n"
		  " - {protocol: tcp, inside: 10.0.0.2:1001, outside: 203.0.113.1:2003}\n",
	BEGINNING "pools: [{addresses: 203.0.113.2, ports: 2000-2003}]\n",
};

static struct policy policies[POLICIES];

/* Few hosts and ports; some flows are between two hosts inside. */
static struct end inside_of(const uint8_t *step)
{
	return (struct end){ 0x0a000001 + (step[2] & 1), 1000 + (step[2] >> 1 & 3) };
}

static struct end pool_of(const uint8_t *step)
{
	return (struct end){ POOL + (step[2] >> 5 & 1), FIRST_PORT + (step[2] >> 6) };
}

static struct end remote_of(const uint8_t *step)
{
	if ((step[2] >> 3 & 3) == 3)
		return pool_of(step);
	return (struct end){ 0xc6336401 + (step[2] >> 3 & 1), 80 };
}

static uint8_t protocol_of(const uint8_t *step)
{
	return step[0] & 16 ? IPPROTO_TCP : IPPROTO_UDP;
}

static void send_out(const uint8_t *step)
{
	const struct end inside = inside_of(step), remote = remote_of(step);
	const struct policy *policy = scene.function->policy;
	const struct flow *flow;
	struct end outside = {};

	flow = function__find(scene.function, protocol_of(step), &inside, &remote);
	if (flow)
		outside = function__record(scene.function, flow).outside;
	if (send_packet(step, &inside, &remote, step[0] & 16, false) != FUNCTION_PASSES)
		return;
	/* A flow keeps its port; all ports are of the pools. */
	require(!outside.port || end__equal(&scene.source, &outside));
	require(policy__find_address(policy, scene.source.address));
	/* Between two hosts inside each has the other one by its address outside. */
	if (policy__find_address(policy, remote.address))
		require(policy__is_inside(policy, scene.destination.address));
	else
		require(end__equal(&scene.destination, &remote));
}

static void send_back(const uint8_t *step)
{
	const struct end remote = { 0xc6336401 + (step[2] >> 3 & 1), 80 }, outside = pool_of(step);
	struct end inside = {};
	const struct flow *flow;

	flow = function__find(scene.function, protocol_of(step), &outside, &remote);
	if (flow)
		inside = function__record(scene.function, flow).inside;
	if (send_packet(step, &remote, &outside, step[0] & 16, true) != FUNCTION_PASSES)
		return;
	require(end__equal(&scene.source, &remote));
	require(policy__is_inside(scene.function->policy, scene.destination.address));
	require(!inside.port || end__equal(&scene.destination, &inside));
}

static void end_flow(const uint8_t *step)
{
	const struct end inside = inside_of(step), remote = remote_of(step);
	struct flow *flow = function__find(scene.function, protocol_of(step), &inside, &remote);

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
		/* Refused while a flow has the port of a static mapping. */
		function__set_policy(scene.function, &policies[step[1] % POLICIES], &error);
		break;
	default:
		if (step[0] & 32)
			send_back(step);
		else
			send_out(step);
		break;
	}
}

/* ---- no port is of two hosts */

static struct flow_record records[16];
static size_t record_count;

static void remember(void *subject, const struct flow *flow)
{
	require(record_count < sizeof(records) / sizeof(*records));
	records[record_count++] = function__record(scene.function, flow);
}

static bool is_doubled(const struct flow_record *one, const struct flow_record *other)
{
	return one->protocol == other->protocol && end__equal(&one->outside, &other->outside) &&
	       !end__equal(&one->inside, &other->inside);
}

static void look_at_ports(void)
{
	struct nat_counts counts;
	uint64_t place = 0;
	size_t i, j;

	record_count = 0;
	while (function__walk(scene.function, &place, 4, remember, NULL))
		;
	for (i = 0; i < record_count; i++)
		for (j = 0; j < i; j++)
			require(!is_doubled(&records[i], &records[j]));
	nat__count(scene.function, &counts);
	require(counts.ports[POLICY_TCP] + counts.ports[POLICY_UDP] <= counts.mappings);
	require(counts.subscribers <= counts.mappings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_error error;
	size_t i;

	for (i = 0; i < POLICIES && !policies[i].address_count; i++)
		require(!policy__parse(&policies[i], texts[i], strlen(texts[i]), "flows.yaml",
				       &error));
	open_scene(&nat_type, &policies[0]);
	for (i = 0; i + STEP <= size && i < STEPS_BYTES_MAX; i += STEP) {
		take_step(data + i);
		look();
		look_at_ports();
	}
	close_scene();
	return 0;
}
