// SPDX-License-Identifier: GPL-2.0-only
/* Mappings, ports, limits and ageing of the NAT, against a model of the table. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
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
	struct nat *nat;
	uint64_t now;
	struct flow *changed[200000];
	bool is_insertion[200000];
	size_t changes;
	uint64_t begun, ended;
};

static struct scene scene;

static void begun(void *subject, const struct flow *flow)
{
	scene.begun++;
}

static void ended(void *subject, const struct flow *flow)
{
	scene.ended++;
}

static void enter(void *subject, struct flow *flow)
{
	assert_false(flow->is_kept);
	scene.is_insertion[scene.changes] = true;
	scene.changed[scene.changes++] = flow;
}

static void leave(void *subject, struct flow *flow)
{
	scene.is_insertion[scene.changes] = false;
	scene.changed[scene.changes++] = flow;
}

static const struct nat_handlers handlers = { begun, ended, enter, leave };

static void read_policy(struct policy *policy, const char *rest)
{
	struct dart_error error;
	char text[2000];

	snprintf(text, sizeof(text), "%s%s", BASE, rest);
	if (policy__parse(policy, text, strlen(text), "flows.yaml", &error))
		fail_msg("%s", error.text);
}

static void open_scene(const char *rest)
{
	struct dart_error error;

	memset(&scene, 0, sizeof(scene));
	scene.now = SECOND;
	read_policy(&scene.policy, rest);
	assert_int_equal(nat__new(&scene.policy, &handlers, NULL, &scene.nat, &error), 0);
}

static void close_scene(void)
{
	nat__free(scene.nat);
	policy__clear(&scene.policy);
}

/* dartd has made all changes. */
static void settle(void)
{
	size_t i;

	for (i = 0; i < scene.changes; i++)
		if (scene.is_insertion[i])
			nat__entered(scene.nat, scene.changed[i], true, scene.now);
		else
			nat__left(scene.nat, scene.changed[i], scene.now);
	scene.changes = 0;
}

/* Sends a packet; *@source and *@destination become the ends that it leaves with. */
static enum nat_verdict send_packet(uint8_t protocol, struct end *source, struct end *destination)
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
	const enum nat_verdict verdict = nat__translate(scene.nat, &packet, scene.now);

	*source = packet.source;
	*destination = packet.destination;
	return verdict;
}

/* From inside to outside; returns the end that the pool gave. */
static struct end out(uint8_t protocol, struct end inside, struct end remote)
{
	const struct end before = remote;

	assert_int_equal(send_packet(protocol, &inside, &remote), NAT_TRANSLATED);
	assert_true(end__equal(&before, &remote));
	return inside;
}

static enum nat_verdict try_out(uint8_t protocol, struct end inside, struct end remote)
{
	return send_packet(protocol, &inside, &remote);
}

static enum nat_verdict try_back(uint8_t protocol, struct end remote, struct end outside,
				 struct end *inside)
{
	const enum nat_verdict verdict = send_packet(protocol, &remote, &outside);

	*inside = outside;
	return verdict;
}

static struct end at(uint32_t address, uint16_t port)
{
	return (struct end){ address, port };
}

static void test_endpoint_independent(void **state)
{
	struct end one, other, inside;

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	one = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	other = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE + 9, 99));
	assert_true(end__equal(&one, &other));
	assert_int_equal(one.address, POOL);
	assert_int_equal(try_back(IPPROTO_UDP, at(REMOTE, 53), one, &inside), NAT_TRANSLATED);
	assert_true(end__equal(&inside, &(struct end){ INSIDE, 4000 }));
	/* TCP has ports of its own. */
	out(IPPROTO_TCP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(scene.begun, 3);
	close_scene();
}

static void test_one_insertion_for_a_flow(void **state)
{
	int i;

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	for (i = 0; i < 10; i++)
		out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(scene.changes, 1);
	assert_int_equal(scene.begun, 1);
	close_scene();
}

static void test_filtering(void **state)
{
	struct end outside, inside;

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(try_back(IPPROTO_UDP, at(REMOTE, 54), outside, &inside), NAT_FILTERED);
	assert_int_equal(try_back(IPPROTO_UDP, at(REMOTE + 1, 53), outside, &inside), NAT_FILTERED);
	assert_int_equal(try_back(IPPROTO_TCP, at(REMOTE, 53), outside, &inside), NAT_UNKNOWN);
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 1), at(INSIDE + 1, 1)), NAT_UNRELATED);
	assert_int_equal(try_out(IPPROTO_UDP, at(REMOTE, 1), at(REMOTE + 1, 1)), NAT_UNRELATED);
	close_scene();
	open_scene("pools: [{addresses: 203.0.113.1}]\nfiltering: endpoint-independent\n");
	outside = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(try_back(IPPROTO_UDP, at(REMOTE + 1, 99), outside, &inside),
			 NAT_TRANSLATED);
	close_scene();
}

static void test_all_ports(void **state)
{
	static bool taken[65536];
	struct end outside;
	uint32_t i, wrong = 0;

	memset(taken, 0, sizeof(taken));
	open_scene("pools: [{addresses: 203.0.113.1, ports: 1-65535}]\n"
		   "limits: {ports: 100000, flows: 100000}\n");
	for (i = 0; i < 65535; i++) {
		outside = out(IPPROTO_UDP, at(INSIDE, i), at(REMOTE, 53));
		assert_false(taken[outside.port]);
		taken[outside.port] = true;
		wrong += (outside.port ^ i) & 1;
	}
	/* 32,768 ports are odd, and 32,767 even ones are in the pool. */
	assert_int_equal(wrong, 1);
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 65535), at(REMOTE, 53)), NAT_EXHAUSTED);
	out(IPPROTO_TCP, at(INSIDE, 65535), at(REMOTE, 53));
	/* A port whose flow has ended is another one's. */
	settle();
	nat__end(scene.nat, nat__find(scene.nat, IPPROTO_UDP, &(struct end){ INSIDE, 77 },
				      &(struct end){ REMOTE, 53 }));
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 65535), at(REMOTE, 53)), NAT_EXHAUSTED);
	settle();
	out(IPPROTO_UDP, at(INSIDE, 65535), at(REMOTE, 53));
	close_scene();
}

static void test_parity_while_possible(void **state)
{
	struct end outside;
	int i;

	open_scene("pools: [{addresses: 203.0.113.1, ports: 2000-2009}]\n");
	for (i = 0; i < 5; i++) {
		outside = out(IPPROTO_UDP, at(INSIDE, 4000 + 2 * i), at(REMOTE, 53));
		assert_int_equal(outside.port & 1, 0);
		assert_in_range(outside.port, 2000, 2009);
	}
	outside = out(IPPROTO_UDP, at(INSIDE, 6000), at(REMOTE, 53));
	assert_int_equal(outside.port & 1, 1);
	close_scene();
}

static void test_limits(void **state)
{
	struct nat_counts counts;
	int i;

	open_scene(
		"pools: [{addresses: 203.0.113.0/30}]\nlimits: {ports: 3, flows: 5}\nflows: 7\n");
	for (i = 0; i < 3; i++)
		out(IPPROTO_UDP, at(INSIDE, 4000 + i), at(REMOTE, 53));
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 5000), at(REMOTE, 53)), NAT_LIMITED);
	out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 54));
	out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 55));
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 56)), NAT_LIMITED);
	/* Another host has its own, but all have a limit, too. */
	out(IPPROTO_UDP, at(INSIDE + 1, 4000), at(REMOTE, 53));
	out(IPPROTO_UDP, at(INSIDE + 1, 4001), at(REMOTE, 53));
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE + 2, 1), at(REMOTE, 53)), NAT_EXHAUSTED);
	nat__count(scene.nat, &counts);
	assert_int_equal(counts.flows, 7);
	assert_int_equal(counts.mappings, 5);
	assert_int_equal(counts.subscribers, 2);
	assert_int_equal(counts.ports[POLICY_UDP], 5);
	close_scene();
}

static void test_one_address_for_a_host(void **state)
{
	struct end first, next;
	int host, i;

	open_scene("pools: [{addresses: 203.0.113.0/28}]\n");
	for (host = 0; host < 50; host++) {
		first = out(IPPROTO_UDP, at(INSIDE + host, 1), at(REMOTE, 53));
		for (i = 2; i < 20; i++) {
			next = out(i & 1 ? IPPROTO_TCP : IPPROTO_UDP, at(INSIDE + host, i),
				   at(REMOTE, 53));
			assert_int_equal(next.address, first.address);
		}
	}
	close_scene();
}

static enum flow_state state_of(uint8_t protocol, struct end inside, struct end remote)
{
	const struct flow *flow = nat__find(scene.nat, protocol, &inside, &remote);

	assert_non_null(flow);
	return flow->state;
}

static void test_idle_flows_end(void **state)
{
	const struct end inside = at(INSIDE, 4000), remote = at(REMOTE, 53);
	struct nat_counts counts;

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	out(IPPROTO_UDP, inside, remote);
	settle();
	scene.now += 100 * SECOND - 1;
	nat__tick(scene.nat, scene.now, true);
	assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_ENTERED);
	scene.now += 1;
	nat__tick(scene.nat, scene.now, false);
	assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_ENTERED);
	nat__tick(scene.nat, scene.now, true);
	assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_LEAVING);
	settle();
	assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_ASKED);
	scene.now += 100 * SECOND - 1;
	nat__tick(scene.nat, scene.now, true);
	assert_int_equal(scene.ended, 0);
	scene.now += 1;
	nat__tick(scene.nat, scene.now, true);
	assert_int_equal(scene.ended, 1);
	nat__count(scene.nat, &counts);
	assert_int_equal(counts.flows, 0);
	assert_int_equal(counts.mappings, 0);
	assert_int_equal(counts.subscribers, 0);
	assert_int_equal(counts.ports[POLICY_UDP], 0);
	close_scene();
}

static void test_used_flows_stay(void **state)
{
	const struct end inside = at(INSIDE, 4000), remote = at(REMOTE, 53);
	struct end outside, again, to;
	int round;

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_UDP, inside, remote);
	settle();
	for (round = 0; round < 4; round++) {
		scene.now += 100 * SECOND;
		nat__tick(scene.nat, scene.now, true);
		if (round & 1)
			settle(); /* else the packet comes before the removal is made */
		if (round & 2) {
			assert_int_equal(try_back(IPPROTO_UDP, remote, outside, &to),
					 NAT_TRANSLATED);
			assert_true(end__equal(&to, &inside));
		} else {
			again = out(IPPROTO_UDP, inside, remote);
			assert_true(end__equal(&again, &outside));
		}
		assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_ENTERING);
		settle();
		assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_ENTERED);
	}
	assert_int_equal(scene.begun, 1);
	assert_int_equal(scene.ended, 0);
	close_scene();
}

/* The answer to the removal that asked comes when the flow has two further changes under way. */
static void test_end_of_an_asked_flow(void **state)
{
	const struct end inside = at(INSIDE, 4000), remote = at(REMOTE, 53);

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	out(IPPROTO_UDP, inside, remote);
	settle();
	scene.now += 100 * SECOND;
	nat__tick(scene.nat, scene.now, true);
	out(IPPROTO_UDP, inside, remote);
	nat__end(scene.nat, nat__find(scene.nat, IPPROTO_UDP, &inside, &remote));
	assert_int_equal(scene.changes, 3);
	settle();
	assert_int_equal(scene.ended, 1);
	assert_null(nat__find(scene.nat, IPPROTO_UDP, &inside, &remote));
	close_scene();
}

static void test_echoes_are_kept(void **state)
{
	struct end outside, inside;

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_ICMP, at(INSIDE, 77), at(REMOTE, 0));
	assert_int_equal(scene.changes, 0);
	assert_int_equal(try_back(IPPROTO_ICMP, at(REMOTE, 0), outside, &inside), NAT_TRANSLATED);
	assert_int_equal(inside.port, 77);
	/* A host inside that answers has no mapping to answer by. */
	assert_int_equal(try_out(IPPROTO_ICMP, at(INSIDE, 0), at(REMOTE, 5)), NAT_UNRELATED);
	scene.now += 9 * SECOND;
	out(IPPROTO_ICMP, at(INSIDE, 77), at(REMOTE, 0));
	scene.now += 9 * SECOND;
	nat__tick(scene.nat, scene.now, false);
	assert_int_equal(scene.ended, 0);
	scene.now += SECOND;
	nat__tick(scene.nat, scene.now, false);
	assert_int_equal(scene.ended, 1);
	close_scene();
}

static void test_static_mappings_and_hairpin(void **state)
{
	struct end source, destination, inside;

	open_scene("pools: [{addresses: 203.0.113.1}]\n"
		   "static: [{protocol: tcp, inside: 10.0.0.5:80, outside: 203.0.113.1:443}]\n");
	assert_int_equal(try_back(IPPROTO_TCP, at(REMOTE, 9), at(POOL, 443), &inside),
			 NAT_TRANSLATED);
	assert_true(end__equal(&inside, &(struct end){ INSIDE + 4, 80 }));
	source = out(IPPROTO_TCP, at(INSIDE + 4, 80), at(REMOTE, 9));
	assert_true(end__equal(&source, &(struct end){ POOL, 443 }));
	assert_int_equal(scene.changes, 1);
	source = at(INSIDE, 4000);
	destination = at(POOL, 443);
	assert_int_equal(send_packet(IPPROTO_TCP, &source, &destination), NAT_TRANSLATED);
	assert_int_equal(source.address, POOL);
	assert_true(end__equal(&destination, &(struct end){ INSIDE + 4, 80 }));
	assert_int_equal(scene.changes, 1); /* no entry could describe it */
	destination = source;
	source = at(INSIDE + 4, 80);
	assert_int_equal(send_packet(IPPROTO_TCP, &source, &destination), NAT_TRANSLATED);
	assert_true(end__equal(&source, &(struct end){ POOL, 443 }));
	assert_true(end__equal(&destination, &(struct end){ INSIDE, 4000 }));
	close_scene();
}

static void test_other_policies(void **state)
{
	struct dart_error error;
	struct end outside;
	char text[200];

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_TCP, at(INSIDE, 4000), at(REMOTE, 53));
	out(IPPROTO_TCP, at(INSIDE + 1, 4000), at(REMOTE, 53));
	settle();
	snprintf(text, sizeof(text),
		 "pools: [{addresses: 203.0.113.1}]\n"
		 "static: [{protocol: tcp, inside: 10.0.0.9:80, outside: 203.0.113.1:%u}]\n",
		 outside.port);
	read_policy(&scene.other, text);
	assert_int_equal(nat__set_policy(scene.nat, &scene.other, &error), -EADDRINUSE);
	assert_non_null(strstr(error.text, "a flow has this port"));
	policy__clear(&scene.other);
	assert_int_equal(scene.changes, 0);

	/* One host is inside no longer. */
	read_policy(&scene.other, "pools: [{addresses: 203.0.113.1}]\n");
	scene.other.inside.list[0].length = 32;
	scene.other.inside.list[0].address[3] = 1;
	assert_int_equal(nat__set_policy(scene.nat, &scene.other, &error), 0);
	policy__clear(&scene.policy);
	scene.policy = scene.other;
	assert_int_equal(scene.changes, 1);
	settle();
	assert_int_equal(scene.ended, 1);
	out(IPPROTO_TCP, at(INSIDE, 4000), at(REMOTE, 53));

	read_policy(&scene.other, "pools: [{addresses: 203.0.113.9}]\n");
	assert_int_equal(nat__set_policy(scene.nat, &scene.other, &error), 0);
	policy__clear(&scene.policy);
	scene.policy = scene.other;
	settle();
	assert_int_equal(scene.ended, 2);
	outside = out(IPPROTO_TCP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(outside.address, POOL + 8);
	close_scene();
}

static void see(const struct flow *flow, enum nat_direction direction, bool is_right)
{
	uint8_t key[NAT_KEY_LENGTH], value[NAT_VALUE_LENGTH];

	flow__entry(flow, direction, key, value);
	if (!is_right)
		value[5] ^= 1;
	assert_int_equal(nat__see(scene.nat, key, value), is_right);
}

static void test_comparison(void **state)
{
	static const uint8_t foreign[NAT_VALUE_LENGTH] = { 192, 0, 2, 1, 0, 9, 1 };
	static const uint8_t stray[NAT_VALUE_LENGTH] = { 203, 0, 113, 1, 0, 9, 1 };
	uint8_t key[NAT_KEY_LENGTH] = { 10, 9, 9, 9, 198, 51, 100, 1, 0, 9, 0, 9, 17 };
	struct flow *flows[4];
	int i;

	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	for (i = 0; i < 4; i++) {
		out(IPPROTO_UDP, at(INSIDE, 4000 + i), at(REMOTE, 53));
		flows[i] = nat__find(scene.nat, IPPROTO_UDP, &(struct end){ INSIDE, 4000 + i },
				     &(struct end){ REMOTE, 53 });
	}
	settle();
	see(flows[0], NAT_OUT, true);
	see(flows[0], NAT_BACK, true);
	see(flows[1], NAT_OUT, true);
	see(flows[2], NAT_OUT, false);
	see(flows[2], NAT_BACK, true);
	nat__end(scene.nat, flows[3]);
	scene.changes = 0; /* dartd went away */
	see(flows[3], NAT_OUT, true);
	assert_true(nat__see(scene.nat, key, foreign));
	assert_false(nat__see(scene.nat, key, stray));
	nat__compare(scene.nat);
	/* The flow that ends is removed first. */
	assert_int_equal(scene.changes, 3);
	assert_false(scene.is_insertion[0]);
	assert_ptr_equal(scene.changed[0], flows[3]);
	assert_true(scene.is_insertion[1] && scene.is_insertion[2]);
	settle();
	assert_int_equal(scene.ended, 1);
	close_scene();
}

static void test_restored(void **state)
{
	struct nat_record record = {
		IPPROTO_UDP, { INSIDE, 4000 }, { POOL, 2000 }, { REMOTE, 53 }
	};
	struct end outside;

	open_scene("pools: [{addresses: 203.0.113.1, ports: 2000-2003}]\n");
	assert_int_equal(nat__restore(scene.nat, &record, 0), 0);
	assert_int_equal(nat__restore(scene.nat, &record, 0), -EEXIST);
	outside = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 99));
	assert_int_equal(outside.port, 2000);
	settle();
	/* The end of the first one was lost: the later one has its port. */
	record.inside.address++;
	assert_int_equal(nat__restore(scene.nat, &record, 0), 0);
	outside = out(IPPROTO_UDP, at(INSIDE + 1, 4000), at(REMOTE, 99));
	assert_int_equal(outside.port, 2000);
	outside = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 99));
	assert_int_not_equal(outside.port, 2000);
	settle();
	nat__forget(scene.nat, &record);
	assert_null(nat__find(scene.nat, IPPROTO_UDP, &record.inside, &record.remote));
	/* A pool that is no more: the flow is about to end, and its host gets another port. */
	record = (struct nat_record){ IPPROTO_UDP, { INSIDE + 2, 1 }, { 5, 6 }, { REMOTE, 53 } };
	assert_int_equal(nat__restore(scene.nat, &record, 0), 0);
	nat__compare(scene.nat);
	outside = out(IPPROTO_UDP, at(INSIDE + 2, 1), at(REMOTE, 53));
	assert_int_equal(outside.address, POOL);
	settle();
	close_scene();
}

static void test_closed(void **state)
{
	open_scene("pools: [{addresses: 203.0.113.1}]\n");
	out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	nat__close(scene.nat, true);
	out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 54)), NAT_CLOSED);
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 4001), at(REMOTE, 53)), NAT_CLOSED);
	nat__close(scene.nat, false);
	out(IPPROTO_UDP, at(INSIDE, 4001), at(REMOTE, 53));
	close_scene();
}

/* Flows begin, age, are used and ended at random: no two mappings have a port at any time. */
static void test_ports_are_never_doubled(void **state)
{
	struct end inside, outside, to;
	uint64_t random = 11;
	int i;

	open_scene("pools: [{addresses: 203.0.113.1, ports: 3000-3099}]\n"
		   "limits: {ports: 100, flows: 1000}\n");
	for (i = 0; i < 100000; i++) {
		inside = at(INSIDE + random__below(&random, 5), 4000 + random__below(&random, 40));
		outside = inside;
		to = at(REMOTE + random__below(&random, 3), 53);
		if (send_packet(IPPROTO_UDP, &outside, &to) == NAT_TRANSLATED) {
			assert_int_equal(try_back(IPPROTO_UDP, to, outside, &to), NAT_TRANSLATED);
			assert_true(end__equal(&to, &inside));
		}
		scene.now += random__below(&random, 4) * SECOND;
		if (!random__below(&random, 4))
			nat__tick(scene.nat, scene.now, true);
		if (!random__below(&random, 3))
			settle();
	}
	assert_true(scene.ended > 1000);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a mapping is the same for all hosts outside", test_endpoint_independent),
		TEST("packets that follow the first one enter nothing again",
		     test_one_insertion_for_a_flow),
		TEST("packets from other hosts are filtered as the policy says", test_filtering),
		TEST("each of 65,535 ports is given once, and again after its flow",
		     test_all_ports),
		TEST("ports have the parity of those inside while it is possible",
		     test_parity_while_possible),
		TEST("a host has its limits of ports and flows, and all have one", test_limits),
		TEST("a host has one address outside", test_one_address_for_a_host),
		TEST("an idle flow is asked, and ends after another time-out", test_idle_flows_end),
		TEST("a flow in use keeps its port, whenever it is asked", test_used_flows_stay),
		TEST("a flow ends after the last of its changes", test_end_of_an_asked_flow),
		TEST("ICMP echoes are kept, and age by their packets", test_echoes_are_kept),
		TEST("hosts reach static mappings, from inside, too",
		     test_static_mappings_and_hairpin),
		TEST("flows that another policy has no place for end", test_other_policies),
		TEST("a comparison finds what is missing, wrong or nobody's", test_comparison),
		TEST("flows of an earlier process have their ports", test_restored),
		TEST("without a journal no flow begins", test_closed),
		TEST("a port is never two mappings'", test_ports_are_never_doubled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
