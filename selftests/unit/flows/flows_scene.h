/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A network function whose table is a list of changes that are made when the test says so.  A test
 * defines BASE, the beginning of its policies, before it includes this; and ASK, if it is asked.
 */
#ifndef FLOWS_SCENE_H
#define FLOWS_SCENE_H

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/flows/function/function_type.h"

#define SECOND 1000000000ULL
#define IP 14
#define TCP (IP + 20)
#define TCP_6 (IP + 40)
#define INSIDE_6 0x20010db80001 /* 2001:db8:1::/48 */
#define S SEGMENT_SYN
#define A SEGMENT_ACK
#define F SEGMENT_FIN
#define R SEGMENT_RST
#define CHANGES 200000

static struct scene {
	struct policy policies[2], *policy; /* the one in use, and a place for the next one */
	struct function *function;
	uint64_t now, begun, closed, ended;
	struct flow *changed[CHANGES];
	bool is_insertion[CHANGES];
	size_t changes;
	bool is_away; /* dartd */
	/* of the last packet: what became of it, and the ends that it left with */
	enum function_action action;
	struct end source, destination, quoted_source, quoted_destination;
} scene;

static inline void begun(void *subject, const struct flow *flow)
{
	scene.begun++;
}

static inline void closed(void *subject, const struct flow *flow)
{
	assert_true(flow->is_recorded);
	scene.closed++;
}

static inline void ended(void *subject, const struct flow *flow)
{
	scene.ended++;
}

static inline void change(struct flow *flow, bool is_insertion)
{
	assert_true(scene.changes < CHANGES);
	scene.is_insertion[scene.changes] = is_insertion;
	scene.changed[scene.changes++] = flow;
}

static inline bool enter(void *subject, struct flow *flow)
{
	assert_false(flow->is_kept);
	if (!scene.is_away)
		change(flow, true);
	return !scene.is_away;
}

static inline bool leave(void *subject, struct flow *flow)
{
	if (!scene.is_away)
		change(flow, false);
	return !scene.is_away;
}

#ifdef ASK
/* A switch that is asked which flows are in use. */
static void ASK(void *subject, uint32_t number, struct flow *const *flows, unsigned int count);
#else
#define ASK NULL
#endif

static const struct function_handlers handlers = {
	.begun = begun,
	.closed = closed,
	.ended = ended,
	.enter = enter,
	.leave = leave,
	.ask = ASK,
};

static inline struct end at(address_t address, uint16_t port)
{
	return (struct end){ address, port };
}

/* ---- life */

/* A policy that is not in use yet: BASE and @rest. */
static inline struct policy *read_policy(const char *rest)
{
	struct policy *policy = &scene.policies[scene.policy == &scene.policies[0]];
	struct dart_error error;
	char text[4000];

	snprintf(text, sizeof(text), "%s%s", BASE, rest);
	if (policy__parse(policy, text, strlen(text), "flows.yaml", &error))
		fail_msg("%s", error.text);
	return policy;
}

static inline void set_policy(struct policy *policy)
{
	struct dart_error error;

	assert_int_equal(function__set_policy(scene.function, policy, &error), 0);
	policy__clear(scene.policy);
	scene.policy = policy;
}

static inline void open_scene(const struct function_type *type, const char *rest)
{
	struct dart_error error;

	memset(&scene, 0, sizeof(scene));
	scene.now = SECOND;
	scene.policy = read_policy(rest);
	assert_int_equal(
		function__new(type, scene.policy, &handlers, NULL, &scene.function, &error), 0);
}

/* What the journal has of a flow. */
struct recorded {
	struct flow_record record;
	enum flow_closure closure;
};

static inline struct recorded recorded_of(const struct flow *flow)
{
	return (struct recorded){ function__record(scene.function, flow),
				  function__use_of(scene.function, flow).closure };
}

/* Another process, which knows this flow from the journal, and finds its entries in the table. */
static inline void restart(const struct function_type *type, const struct recorded *recorded)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	enum flow_direction direction;
	struct dart_error error;
	struct flow *flow;

	function__free(scene.function);
	scene.changes = 0;
	assert_int_equal(
		function__new(type, scene.policy, &handlers, NULL, &scene.function, &error), 0);
	assert_int_equal(function__restore(scene.function, &recorded->record, scene.now), 0);
	if (recorded->closure != FLOW_OPEN)
		function__restore_closure(scene.function, &recorded->record, recorded->closure,
					  scene.now);
	flow = function__find(scene.function, recorded->record.protocol, &recorded->record.outside,
			      &recorded->record.remote);
	for (direction = 0; direction < FLOW_DIRECTIONS; direction++) {
		function__entry(scene.function, flow, direction, key, value);
		assert_int_equal(function__see(scene.function, key, value),
				 recorded->closure == FLOW_OPEN);
	}
	function__compare(scene.function);
}

static inline void close_scene(void)
{
	function__free(scene.function);
	policy__clear(scene.policy);
}

/* dartd has made all changes. */
static inline void settle(void)
{
	size_t i;

	for (i = 0; i < scene.changes; i++)
		if (scene.is_insertion[i])
			function__entered(scene.function, scene.changed[i], true, scene.now);
		else
			function__left(scene.function, scene.changed[i], scene.now);
	scene.changes = 0;
}

/* dartd goes away, which forgets changes on their way. */
static inline void lose_table(void)
{
	scene.is_away = true;
	scene.changes = 0;
	function__lose_table(scene.function, scene.now);
}

static inline void tick(uint64_t seconds)
{
	scene.now += seconds * SECOND;
	function__tick(scene.function, scene.now, true);
}

/* ---- packets */

static inline void put16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = value >> 8;
	bytes[1] = value;
}

static inline void put32(uint8_t *bytes, uint32_t value)
{
	put16(bytes, value >> 16);
	put16(bytes + 2, value);
}

/* The place after the header of IPv4 or IPv6. */
static inline uint8_t *transport_of(uint8_t *frame)
{
	return frame + (frame[IP] >> 4 == 6 ? TCP_6 : TCP);
}

static inline void make_ipv4(uint8_t *ip, uint8_t protocol, struct end source,
			     struct end destination, size_t length)
{
	uint32_t sum = 0;
	size_t i;

	ip[0] = 0x45;
	put16(ip + 2, 20 + length);
	ip[8] = 64;
	ip[9] = protocol;
	put32(ip + 12, source.address);
	put32(ip + 16, destination.address);
	for (i = 0; i < 20; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~(sum + (sum >> 16)));
}

static inline void make_ipv6(uint8_t *ip, uint8_t protocol, struct end source,
			     struct end destination, size_t length)
{
	ip[0] = 0x60;
	put16(ip + 4, length);
	ip[6] = protocol == IPPROTO_ICMP ? IPPROTO_ICMPV6 : protocol;
	ip[7] = 64;
	address__put(ip + 8, 16, source.address);
	address__put(ip + 24, 16, destination.address);
}

/* A frame from the next hop of its source; returns its length. */
static inline size_t make(uint8_t *frame, uint8_t protocol, struct end source,
			  struct end destination, size_t length)
{
	const bool is_ipv4 = address__is_ipv4(source.address);
	const bool is_inside = is_ipv4 ? source.address >> 24 == 10 :
					 source.address >> 80 == INSIDE_6;
	uint8_t *transport = frame + (is_ipv4 ? TCP : TCP_6);

	memset(frame, 0, transport - frame + length);
	frame[6] = 2;
	frame[11] = is_inside ? 0xa : 0xb;
	put16(frame + 12, is_ipv4 ? 0x0800 : 0x86dd);
	if (is_ipv4)
		make_ipv4(frame + IP, protocol, source, destination, length);
	else
		make_ipv6(frame + IP, protocol, source, destination, length);
	put16(transport, source.port);
	put16(transport + 2, destination.port);
	return transport - frame + length;
}

/* Returns the verdict, which is that of the function's type. */
static inline unsigned int take(uint8_t *frame, size_t length, bool is_damaged)
{
	const struct function_counts *counts = function__counts(scene.function);
	const struct function_counts before = *counts;
	unsigned int verdict = 0;
	struct packet packet;

	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	packet__complete(&packet);
	if (is_damaged)
		packet.transport[packet.protocol == IPPROTO_TCP ? 16 : 6] ^= 1;
	scene.action = function__take(scene.function, &packet, scene.now);
	scene.source = packet.source;
	scene.destination = packet.destination;
	scene.quoted_source = packet.quoted_source;
	scene.quoted_destination = packet.quoted_destination;
	while (counts->verdicts[verdict] == before.verdicts[verdict])
		verdict++;
	/* What the function rewrites has the right checksums, unless they were wrong before. */
	if (scene.action == FUNCTION_PASSES) {
		assert_int_equal(packet__is_sound(&packet), !is_damaged);
		assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
		assert_true(end__equal(&packet.source, &scene.source) &&
			    end__equal(&packet.destination, &scene.destination));
		assert_true(end__equal(&packet.quoted_source, &scene.quoted_source) &&
			    end__equal(&packet.quoted_destination, &scene.quoted_destination));
	}
	return verdict;
}

static inline unsigned int send_segment(struct end source, struct end destination, uint8_t flags,
					uint32_t sequence, uint32_t acknowledgement)
{
	uint8_t frame[200];
	const size_t length = make(frame, IPPROTO_TCP, source, destination, 20);
	uint8_t *tcp = transport_of(frame);

	put32(tcp + 4, sequence);
	put32(tcp + 8, acknowledgement);
	tcp[12] = 5 << 4;
	tcp[13] = flags;
	return take(frame, length, false);
}

static inline unsigned int send_datagram(struct end source, struct end destination)
{
	uint8_t frame[200];
	const size_t length = make(frame, IPPROTO_UDP, source, destination, 20);

	put16(transport_of(frame) + 4, 20);
	return take(frame, length, false);
}

static inline void put_echo(uint8_t *frame, struct end source, struct end destination,
			    bool is_reply)
{
	const bool is_ipv4 = address__is_ipv4(source.address);
	uint8_t *icmp = transport_of(frame);

	put32(icmp, 0);
	icmp[0] = is_ipv4 ? (is_reply ? 0 : 8) : (is_reply ? 129 : 128);
	put16(icmp + 4, is_reply ? destination.port : source.port);
}

static inline unsigned int send_echo(struct end source, struct end destination, bool is_reply)
{
	uint8_t frame[200];
	const size_t length = make(frame, IPPROTO_ICMP, source, destination, 20);

	put_echo(frame, source, destination, is_reply);
	return take(frame, length, false);
}

/*
 * An error of a host, or a router, that quotes a packet of @source to @destination: "fragmentation
 * needed", or "packet too big".
 */
static inline unsigned int send_error(address_t sender, address_t receiver, uint8_t protocol,
				      struct end source, struct end destination)
{
	const bool is_ipv4 = address__is_ipv4(sender);
	uint8_t frame[200], quoted[100], *icmp;
	size_t length;

	length = make(quoted, protocol, source, destination, 20);
	if (protocol == IPPROTO_ICMP)
		put_echo(quoted, source, destination, false);
	length -= IP + 12; /* 8 bytes of the transport */
	length = make(frame, IPPROTO_ICMP, at(sender, 0), at(receiver, 0), 8 + length);
	icmp = transport_of(frame);
	memset(icmp, 0, 8);
	icmp[0] = is_ipv4 ? 3 : 2;
	icmp[1] = is_ipv4 ? 4 : 0;
	memcpy(icmp + 8, quoted + IP, frame + length - icmp - 8);
	return take(frame, length, false);
}

#endif /* FLOWS_SCENE_H */
