/* SPDX-License-Identifier: GPL-2.0-only */
/* A NAT whose table is a list of changes that are made when the test says so. */
#ifndef FLOWS_NAT_SCENE_H
#define FLOWS_NAT_SCENE_H

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/flows/function/function_type.h"
#include "tools/flows/nat/nat.h"

#define SECOND 1000000000ULL
#define INSIDE 0x0a000001 /* 10.0.0.1 */
#define REMOTE 0xc6336401 /* 198.51.100.1 */
#define POOL 0xcb007101 /* 203.0.113.1 */

#define BASE                                                      \
	"interface: eth1\ntable: nat\ninside: [10.0.0.0/8]\n"     \
	"routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]\n" \
	"timeouts: {tcp: 1000s, udp: 100s, icmp: 10s}\n"

/* The table as it would be once all changes are made: entries of flows, by their handlers. */
struct scene {
	struct policy policy, other;
	struct function *nat;
	uint64_t now;
	struct flow *changed[200000];
	bool is_insertion[200000];
	size_t changes;
	uint64_t begun, ended;
};

static struct scene scene;

static inline void begun(void *subject, const struct flow *flow)
{
	scene.begun++;
}

static inline void ended(void *subject, const struct flow *flow)
{
	scene.ended++;
}

static inline void enter(void *subject, struct flow *flow)
{
	assert_false(flow->is_kept);
	scene.is_insertion[scene.changes] = true;
	scene.changed[scene.changes++] = flow;
}

static inline bool leave(void *subject, struct flow *flow)
{
	scene.is_insertion[scene.changes] = false;
	scene.changed[scene.changes++] = flow;
	return true;
}

static const struct function_handlers handlers = { begun, ended, enter, leave };

static inline void read_policy(struct policy *policy, const char *rest)
{
	struct dart_error error;
	char text[2000];

	snprintf(text, sizeof(text), "%s%s", BASE, rest);
	if (policy__parse(policy, text, strlen(text), "flows.yaml", &error))
		fail_msg("%s", error.text);
}

static inline void open_scene(const char *rest)
{
	struct dart_error error;

	memset(&scene, 0, sizeof(scene));
	scene.now = SECOND;
	read_policy(&scene.policy, rest);
	assert_int_equal(function__new(&nat_type, &scene.policy, &handlers, NULL, &scene.nat, &error), 0);
}

static inline void close_scene(void)
{
	function__free(scene.nat);
	policy__clear(&scene.policy);
}

/* dartd has made all changes. */
static inline void settle(void)
{
	size_t i;

	for (i = 0; i < scene.changes; i++)
		if (scene.is_insertion[i])
			function__entered(scene.nat, scene.changed[i], true, scene.now);
		else
			function__left(scene.nat, scene.changed[i], scene.now);
	scene.changes = 0;
}

/* Sends a packet; *@source and *@destination become the ends that it leaves with. */
static inline enum nat_verdict send_packet(uint8_t protocol, struct end *source, struct end *destination)
{
	uint8_t frame[64] = { [12] = 8, [14] = 0x45, [17] = 40, [22] = 64 };
	struct packet packet = {
		.frame = frame,
		.length = 54,
		.ip = frame + 14,
		.transport = frame + 34,
		.protocol = protocol,
		.is_reply = protocol == IPPROTO_ICMP && destination->port,
		.source = *source,
		.destination = *destination,
	};
	const struct function_counts *counts = function__counts(scene.nat);
	const struct function_counts before = *counts;
	const enum function_action action = function__take(scene.nat, &packet, scene.now);
	enum nat_verdict verdict = 0;

	while (verdict < NAT_VERDICTS && counts->verdicts[verdict] == before.verdicts[verdict])
		verdict++;
	assert_int_equal(action == FUNCTION_PASSES, verdict == NAT_TRANSLATED);
	*source = packet.source;
	*destination = packet.destination;
	return verdict;
}

/* From inside to outside; returns the end that the pool gave. */
static inline struct end out(uint8_t protocol, struct end inside, struct end remote)
{
	const struct end before = remote;

	assert_int_equal(send_packet(protocol, &inside, &remote), NAT_TRANSLATED);
	assert_true(end__equal(&before, &remote));
	return inside;
}

static inline enum nat_verdict try_out(uint8_t protocol, struct end inside, struct end remote)
{
	return send_packet(protocol, &inside, &remote);
}

static inline enum nat_verdict try_back(uint8_t protocol, struct end remote, struct end outside,
				 struct end *inside)
{
	const enum nat_verdict verdict = send_packet(protocol, &remote, &outside);

	*inside = outside;
	return verdict;
}

static inline struct end at(uint32_t address, uint16_t port)
{
	return (struct end){ address, port };
}

#endif /* FLOWS_NAT_SCENE_H */
