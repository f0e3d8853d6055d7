/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps of a network function of dart-flows: time, changes of the table and packets.  Four bytes
 * make a step: the kind, and three for its details.
 */
#ifndef FUZZ_FLOWS_STEPS_H
#define FUZZ_FLOWS_STEPS_H

#include <netinet/in.h>

#include "fuzz.h"
#include "tools/flows/function/function_type.h"

/* Does the first segment of a connection enter its flow? */
#ifndef ENTERS_AT_ONCE
#define ENTERS_AT_ONCE false
#endif

#define CHANGES 4096
#define STEP 4
#define STEPS_BYTES_MAX 1024
#define SECOND 1000000000ULL
#define IP 14

struct change {
	struct flow *flow;
	bool is_insertion;
};

static struct {
	struct function *function;
	uint64_t now, begun, ended;
	struct change changes[CHANGES];
	size_t count;
	bool is_away; /* dartd */
	uint32_t asked; /* the last question to the switch */
	struct end source, destination; /* of the last packet, as it left */
} scene;

static void begun(void *subject, const struct flow *flow)
{
	scene.begun++;
}

static void closed(void *subject, const struct flow *flow)
{
	require(flow->is_recorded);
}

static void ended(void *subject, const struct flow *flow)
{
	size_t i;

	/* A change that is not made yet would name a flow that is gone. */
	for (i = 0; i < scene.count; i++)
		require(scene.changes[i].flow != flow);
	scene.ended++;
}

static bool enter(void *subject, struct flow *flow)
{
	require(scene.count < CHANGES && flow->is_recorded);
	if (!scene.is_away)
		scene.changes[scene.count++] = (struct change){ flow, true };
	return !scene.is_away;
}

static bool leave(void *subject, struct flow *flow)
{
	require(scene.count < CHANGES);
	if (!scene.is_away)
		scene.changes[scene.count++] = (struct change){ flow, false };
	return !scene.is_away;
}

static void ask(void *subject, uint32_t number, struct flow *const *flows, unsigned int count)
{
	unsigned int i;

	require(count > 0 && count <= FUNCTION_QUESTION_FLOWS);
	for (i = 0; i < count; i++)
		require(flows[i]->state == FLOW_ENTERED && !flows[i]->is_over);
	scene.asked = number;
}

/* The switch answers one of the last 16 questions, or nothing; its flows are as idle. */
static void answer(const uint8_t *step)
{
	uint64_t idle[FUNCTION_QUESTION_FLOWS];
	unsigned int i;

	if (!(step[2] & 1))
		return;
	for (i = 0; i < FUNCTION_QUESTION_FLOWS; i++)
		idle[i] = (step[2] >> 1 & i ? step[3] : 0) * SECOND;
	function__answered(scene.function, scene.asked - (step[2] >> 4), idle, scene.now);
}

static const struct function_handlers handlers = {
	.begun = begun,
	.closed = closed,
	.ended = ended,
	.enter = enter,
	.leave = leave,
	.ask = ask,
};

static void open_scene(const struct function_type *type, const struct policy *policy)
{
	struct dart_error error;

	memset(&scene, 0, sizeof(scene));
	scene.now = SECOND;
	require(!function__new(type, policy, &handlers, NULL, &scene.function, &error));
}

static void close_scene(void)
{
	scene.count = 0;
	function__free(scene.function);
}

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

/* Headers of a packet with 20 bytes, and the EtherType before them. */
static void put_ipv4(uint8_t *ip, uint8_t protocol, const struct end *source,
		     const struct end *destination)
{
	ip[-2] = 8;
	ip[0] = 0x45;
	ip[3] = 40;
	ip[8] = 64;
	ip[9] = protocol;
	put32(ip + 12, source->address);
	put32(ip + 16, destination->address);
}

static void put_ipv6(uint8_t *ip, uint8_t protocol, const struct end *source,
		     const struct end *destination)
{
	ip[-2] = 0x86;
	ip[-1] = 0xdd;
	ip[0] = 0x60;
	ip[5] = 20;
	ip[6] = protocol;
	ip[7] = 64;
	address__put(ip + 8, ADDRESS_LENGTH, source->address);
	address__put(ip + 24, ADDRESS_LENGTH, destination->address);
}

/* A segment or a datagram: @step[1] are flags, and @step[3] says how wrong the numbers are. */
static enum function_action send_packet(const uint8_t *step, const struct end *source,
					const struct end *destination, bool is_tcp, bool is_back)
{
	const bool is_ipv6 = !address__is_ipv4(source->address);
	uint8_t frame[IP + 60] = { [6] = 2, [11] = 0xb };
	uint8_t *transport = frame + IP + (is_ipv6 ? 40 : 20);
	const uint8_t protocol = is_tcp ? IPPROTO_TCP : IPPROTO_UDP;
	enum function_action action;
	struct packet packet;

	if (is_ipv6)
		put_ipv6(frame + IP, protocol, source, destination);
	else
		put_ipv4(frame + IP, protocol, source, destination);
	put32(transport, (uint32_t)source->port << 16 | destination->port);
	if (is_tcp) {
		put32(transport + 4, (is_back ? 700 : 100) + (step[3] & 3));
		put32(transport + 8, (is_back ? 100 : 700) + (step[3] >> 2 & 3));
		transport[12] = 5 << 4;
		transport[13] = step[1];
	} else {
		transport[5] = 20;
	}
	repair_ipv4(frame, sizeof(frame));
	require(!packet__read(&packet, frame, sizeof(frame)));
	packet__complete(&packet);
	action = function__take(scene.function, &packet, scene.now);
	require(packet__is_sound(&packet));
	scene.source = packet.source;
	scene.destination = packet.destination;
	return action;
}

/* Returns false for a step that is not of all functions. */
static bool take_common_step(const uint8_t *step)
{
	switch (step[0] & 15) {
	case 0:
		settle(1, true);
		return true;
	case 1:
		settle(1, step[1] & 1);
		return true;
	case 2:
		settle(CHANGES, true);
		return true;
	case 3:
		scene.now += step[1] * 10 * SECOND;
		function__tick(scene.function, scene.now, !scene.is_away);
		answer(step);
		return true;
	case 4:
		/* dartd goes away, which forgets changes on their way, or is back. */
		scene.count = 0;
		function__lose_table(scene.function, scene.now);
		scene.is_away = step[1] & 1;
		if (!scene.is_away)
			function__compare(scene.function);
		return true;
	case 5:
		function__close(scene.function, step[1] & 1);
		return true;
	default:
		return false;
	}
}

/* ---- what holds after each step */

static uint64_t walked, recorded;

static void look_at(void *subject, const struct flow *flow)
{
	const char *connection = function__connection(scene.function, flow);

	walked++;
	recorded += flow->is_recorded;
	/* The journal knows how a connection was closed. */
	if (connection && flow->is_recorded)
		require((flow->closure == FLOW_CLOSED) == !strcmp(connection, "closing") &&
			(flow->closure >= FLOW_RESET_BACK) == !strcmp(connection, "reset"));
	/* What the table has is in the journal. */
	require(flow->state == FLOW_KEPT || flow->is_recorded);
	if (!connection || !strcmp(connection, "established"))
		return;
	/* Unless the first segment enters it, no connection that opens is in either. */
	if (!strcmp(connection, "opening"))
		require(ENTERS_AT_ONCE || (flow->state == FLOW_KEPT && !flow->is_recorded));
	else
		require(flow->state != FLOW_ENTERED && flow->state != FLOW_ENTERING);
}

static void look(void)
{
	const struct function_counts *counts = function__counts(scene.function);
	const struct policy *policy = scene.function->policy;
	uint64_t place = 0, sum = 0;
	int state;

	walked = recorded = 0;
	while (function__walk(scene.function, &place, 4, look_at, NULL))
		;
	for (state = 0; state < FLOW_STATES; state++)
		sum += counts->by_state[state];
	require(walked == counts->flows && sum == counts->flows);
	require(counts->flows <= policy->flows);
	require(recorded == scene.begun - scene.ended);
	require(counts->flows - recorded <= policy->opening_limit);
}

#endif /* FUZZ_FLOWS_STEPS_H */
