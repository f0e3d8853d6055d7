// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments, datagrams, time and changes of the table in any order, as the firewall of dart-flows
 * gets them.  Four bytes make a step: the kind, the flags, and how wrong the numbers are.
 */
#include <netinet/in.h>

#include "fuzz.h"
#include "tools/flows/firewall/firewall.h"
#include "tools/flows/function/function_type.h"

#define FLOWS 12
#define OPENING 4
#define CHANGES 4096
#define STEP 4
#define SECOND 1000000000ULL
#define IP 14
#define TCP (IP + 20)

static const char text[] = "function: firewall\ninterface: eth1\ntable: firewall\nflows: 12\n"
			   "limits: {flows: 8, opening: 4}\n"
			   "routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]\n"
			   "zones: [{name: inside, addresses: [10.0.0.0/8]}]\n"
			   "rules: [{from: inside}]\n";

struct change {
	struct flow *flow;
	bool is_insertion;
};

static struct policy policy;

static struct {
	struct function *function;
	uint64_t now, begun, ended;
	struct change changes[CHANGES];
	size_t count;
	bool is_away; /* dartd */
} scene;

static void begun(void *subject, const struct flow *flow)
{
	scene.begun++;
}

static void ended(void *subject, const struct flow *flow)
{
	size_t i;

	/* A change that is not made yet would name a flow that is gone. */
	for (i = 0; i < scene.count; i++)
		require(scene.changes[i].flow != flow);
	scene.ended++;
}

static void enter(void *subject, struct flow *flow)
{
	require(scene.count < CHANGES && flow->is_recorded);
	if (!scene.is_away)
		scene.changes[scene.count++] = (struct change){ flow, true };
}

static bool leave(void *subject, struct flow *flow)
{
	require(scene.count < CHANGES);
	if (!scene.is_away)
		scene.changes[scene.count++] = (struct change){ flow, false };
	return !scene.is_away;
}

static const struct function_handlers handlers = { begun, ended, enter, leave };

/* ---- steps */

/* The table has made the oldest changes. */
static void settle(size_t count, bool is_there)
{
	struct change change;

	while (scene.count && count--) {
		change = scene.changes[0];
		memmove(scene.changes, scene.changes + 1, --scene.count * sizeof(change));
		if (change.is_insertion)
			function__entered(scene.function, change.flow, is_there, scene.now);
		else
			function__left(scene.function, change.flow, scene.now);
	}
}

static void put32(uint8_t *bytes, uint32_t value)
{
	bytes[0] = value >> 24;
	bytes[1] = value >> 16;
	bytes[2] = value >> 8;
	bytes[3] = value;
}

/* Few hosts and ports. */
static struct end inside_of(const uint8_t *step)
{
	return (struct end){ 0x0a000001 + (step[2] & 1), 1000 + (step[2] >> 1 & 3) };
}

static struct end outside_of(const uint8_t *step)
{
	return (struct end){ 0xc6336401, 80 + (step[2] >> 3 & 1) };
}

/* Segments and datagrams: @step[1] are flags, the rest is numbers. */
static void send_packet(const uint8_t *step, bool is_tcp, bool is_back)
{
	const struct end inside = inside_of(step), outside = outside_of(step);
	const struct end *source = is_back ? &outside : &inside;
	const struct end *destination = is_back ? &inside : &outside;
	const uint8_t protocol = is_tcp ? IPPROTO_TCP : IPPROTO_UDP;
	uint8_t frame[IP + 40] = {
		[6] = 2, [11] = 0xb, [12] = 8, [14] = 0x45, [17] = 40, [22] = 64
	};
	enum function_action action;
	struct packet packet;
	bool is_known;

	frame[IP + 9] = protocol;
	put32(frame + IP + 12, source->address);
	put32(frame + IP + 16, destination->address);
	put32(frame + TCP, (uint32_t)source->port << 16 | destination->port);
	if (is_tcp) {
		put32(frame + TCP + 4, (is_back ? 700 : 100) + (step[3] & 3));
		put32(frame + TCP + 8, (is_back ? 100 : 700) + (step[3] >> 2 & 3));
		frame[TCP + 12] = 5 << 4;
		frame[TCP + 13] = step[1];
	} else {
		frame[TCP + 5] = 20;
	}
	repair_ipv4(frame, sizeof(frame));
	require(!packet__read(&packet, frame, sizeof(frame)));
	packet__complete(&packet);
	is_known = function__find(scene.function, protocol, &inside, &outside);
	action = function__take(scene.function, &packet, scene.now);
	if (action != FUNCTION_PASSES || is_known)
		return;
	/* Only hosts inside begin, and over TCP only by SYN. */
	require(!is_back);
	require(!is_tcp || (step[1] & (SEGMENT_SYN | SEGMENT_ACK)) == SEGMENT_SYN);
}

static void end_flow(const uint8_t *step)
{
	const struct end inside = inside_of(step), outside = outside_of(step);
	struct flow *flow = function__find(scene.function, IPPROTO_TCP, &inside, &outside);

	if (flow)
		function__end(scene.function, flow);
}

static void take_step(const uint8_t *step)
{
	switch (step[0] & 15) {
	case 0:
		settle(1, true);
		break;
	case 1:
		settle(1, step[1] & 1);
		break;
	case 2:
		settle(CHANGES, true);
		break;
	case 3:
		scene.now += step[1] * 10 * SECOND;
		function__tick(scene.function, scene.now, !scene.is_away);
		break;
	case 4:
		/* dartd goes away, which forgets changes on their way, or is back. */
		scene.count = 0;
		scene.is_away = step[1] & 1;
		if (!scene.is_away)
			function__compare(scene.function);
		break;
	case 5:
		function__close(scene.function, step[1] & 1);
		break;
	case 6:
		end_flow(step);
		break;
	default:
		send_packet(step, step[0] & 16, step[0] & 32);
		break;
	}
}

/* ---- what holds after each step */

static uint64_t walked, recorded;

static void look_at(void *subject, const struct flow *flow)
{
	const char *connection = function__connection(scene.function, flow);

	walked++;
	recorded += flow->is_recorded;
	/* What the table has is in the journal, and no connection that opens is in either. */
	require(flow->state == FLOW_KEPT || flow->is_recorded);
	if (connection && !strcmp(connection, "opening"))
		require(flow->state == FLOW_KEPT && !flow->is_recorded);
	if (connection && strcmp(connection, "established"))
		require(flow->state != FLOW_ENTERED && flow->state != FLOW_ENTERING);
}

static void look(void)
{
	const struct function_counts *counts = function__counts(scene.function);
	uint64_t place = 0, sum = 0;
	int state;

	walked = recorded = 0;
	while (function__walk(scene.function, &place, 4, look_at, NULL))
		;
	for (state = 0; state < FLOW_STATES; state++)
		sum += counts->by_state[state];
	require(walked == counts->flows && sum == counts->flows);
	require(counts->flows <= FLOWS);
	require(recorded == scene.begun - scene.ended);
	require(counts->flows - recorded <= OPENING);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_error error;
	size_t i;

	memset(&scene, 0, sizeof(scene));
	scene.now = SECOND;
	if (!policy.zone_count)
		require(!policy__parse(&policy, text, sizeof(text) - 1, "flows.yaml", &error));
	require(!function__new(&firewall_type, &policy, &handlers, NULL, &scene.function, &error));
	for (i = 0; i + STEP <= size && i < 1024; i += STEP) {
		take_step(data + i);
		look();
	}
	scene.count = 0;
	function__free(scene.function);
	return 0;
}
