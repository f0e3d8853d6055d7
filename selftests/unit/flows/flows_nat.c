// SPDX-License-Identifier: GPL-2.0-only
/* Mappings, ports, limits and policies of the NAT. */
#include <errno.h>

#include "flows_nat_scene.h"

static void test_endpoint_independent(void **state)
{
	struct end one, other, inside;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
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

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	for (i = 0; i < 10; i++)
		out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(scene.changes, 1);
	assert_int_equal(scene.begun, 1);
	close_scene();
}

static void test_filtering(void **state)
{
	struct end outside, inside;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(try_back(IPPROTO_UDP, at(REMOTE, 54), outside, &inside), NAT_FILTERED);
	assert_int_equal(try_back(IPPROTO_UDP, at(REMOTE + 1, 53), outside, &inside), NAT_FILTERED);
	assert_int_equal(try_back(IPPROTO_TCP, at(REMOTE, 53), outside, &inside), NAT_UNKNOWN);
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 1), at(INSIDE + 1, 1)), NAT_UNRELATED);
	assert_int_equal(try_out(IPPROTO_UDP, at(REMOTE, 1), at(REMOTE + 1, 1)), NAT_UNRELATED);
	close_scene();
	open_scene(&nat_type,
		   "pools: [{addresses: 203.0.113.1}]\nfiltering: endpoint-independent\n");
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
	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1, ports: 1-65535}]\n"
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
	function__end(scene.function,
		      function__find(scene.function, IPPROTO_UDP, &(struct end){ INSIDE, 77 },
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

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1, ports: 2000-2009}]\n");
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
		&nat_type,
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
	nat__count(scene.function, &counts);
	assert_int_equal(function__counts(scene.function)->flows, 7);
	assert_int_equal(counts.mappings, 5);
	assert_int_equal(counts.subscribers, 2);
	assert_int_equal(counts.ports[POLICY_UDP], 5);
	close_scene();
}

static void test_one_address_for_a_host(void **state)
{
	struct end first, next;
	int host, i;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.0/28}]\n");
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

static void test_static_mappings_and_hairpin(void **state)
{
	struct end source, destination, inside;

	open_scene(&nat_type,
		   "pools: [{addresses: 203.0.113.1}]\n"
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
	struct policy *other;
	struct end outside;
	char text[200];

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_TCP, at(INSIDE, 4000), at(REMOTE, 53));
	out(IPPROTO_TCP, at(INSIDE + 1, 4000), at(REMOTE, 53));
	settle();
	snprintf(text, sizeof(text),
		 "pools: [{addresses: 203.0.113.1}]\n"
		 "static: [{protocol: tcp, inside: 10.0.0.9:80, outside: 203.0.113.1:%u}]\n",
		 outside.port);
	other = read_policy(text);
	assert_int_equal(function__set_policy(scene.function, other, &error), -EADDRINUSE);
	assert_non_null(strstr(error.text, "a flow has this port"));
	policy__clear(other);
	assert_int_equal(scene.changes, 0);

	/* One host is inside no longer. */
	other = read_policy("pools: [{addresses: 203.0.113.1}]\n");
	other->inside.list[0].length = 32;
	other->inside.list[0].address[3] = 1;
	set_policy(other);
	assert_int_equal(scene.changes, 1);
	settle();
	assert_int_equal(scene.ended, 1);
	out(IPPROTO_TCP, at(INSIDE, 4000), at(REMOTE, 53));

	other = read_policy("pools: [{addresses: 203.0.113.9}]\n");
	set_policy(other);
	settle();
	assert_int_equal(scene.ended, 2);
	outside = out(IPPROTO_TCP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(outside.address, POOL + 8);
	close_scene();
}

static void test_errors(void **state)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP };
	const uint32_t router = REMOTE + 77;
	struct end inside, remote, outside;
	int i;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	for (i = 0; i < 3; i++) {
		inside = at(INSIDE, 4000);
		remote = at(REMOTE, protocols[i] == IPPROTO_ICMP ? 0 : 53);
		outside = out(protocols[i], inside, remote);
		/* Of a router outside: the host inside gets it, about its own packet. */
		assert_int_equal(send_error(router, POOL, protocols[i], outside, remote),
				 NAT_RELATED);
		assert_int_equal(scene.source.address, router);
		assert_int_equal(scene.destination.address, INSIDE);
		assert_true(end__equal(&scene.quoted_source, &inside));
		assert_true(end__equal(&scene.quoted_destination, &remote));
		/* About a packet that nobody sent. */
		remote.address++;
		assert_int_equal(send_error(router, POOL, protocols[i], outside, remote),
				 NAT_UNKNOWN);
		outside.port++;
		assert_int_equal(send_error(router, POOL, protocols[i], outside, remote),
				 NAT_UNKNOWN);
	}
	assert_int_equal(send_error(router, REMOTE, IPPROTO_UDP, remote, outside), NAT_UNRELATED);
	close_scene();
}

/* Of a host inside about a packet that came in, and of a router before it. */
static void test_errors_from_inside(void **state)
{
	const struct end inside = { INSIDE, 4000 }, remote = { REMOTE, 53 };
	struct end outside;
	uint32_t sender;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_UDP, inside, remote);
	for (sender = INSIDE; sender < INSIDE + 2; sender++) {
		assert_int_equal(send_error(sender, REMOTE, IPPROTO_UDP, remote, inside),
				 NAT_RELATED);
		assert_int_equal(scene.source.address, POOL);
		assert_int_equal(scene.destination.address, REMOTE);
		assert_true(end__equal(&scene.quoted_source, &remote));
		assert_true(end__equal(&scene.quoted_destination, &outside));
	}
	assert_int_equal(send_error(INSIDE, REMOTE + 1, IPPROTO_UDP, remote, inside), NAT_UNKNOWN);
	assert_int_equal(send_error(INSIDE, REMOTE, IPPROTO_TCP, remote, inside), NAT_UNKNOWN);
	close_scene();
}

static void test_errors_of_hairpins(void **state)
{
	const struct end one = { INSIDE, 4000 }, two = { INSIDE + 1, 5000 };
	struct end mine, other, source, destination;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n"
			      "filtering: endpoint-independent\n");
	mine = out(IPPROTO_UDP, one, at(REMOTE, 53));
	other = out(IPPROTO_UDP, two, at(REMOTE, 53));
	source = one;
	destination = other;
	assert_int_equal(send_packet(IPPROTO_UDP, &source, &destination), NAT_TRANSLATED);
	assert_true(end__equal(&source, &mine) && end__equal(&destination, &two));
	assert_int_equal(send_packet(IPPROTO_UDP, &destination, &source), NAT_TRANSLATED);
	/* The second host refuses the packet that it got. */
	assert_int_equal(send_error(INSIDE + 1, POOL, IPPROTO_UDP, mine, two), NAT_RELATED);
	assert_int_equal(scene.source.address, POOL);
	assert_int_equal(scene.destination.address, INSIDE);
	assert_true(end__equal(&scene.quoted_source, &one));
	assert_true(end__equal(&scene.quoted_destination, &other));
	close_scene();
}

static void test_closed(void **state)
{
	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	function__close(scene.function, true);
	out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 53));
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 54)), NAT_CLOSED);
	assert_int_equal(try_out(IPPROTO_UDP, at(INSIDE, 4001), at(REMOTE, 53)), NAT_CLOSED);
	function__close(scene.function, false);
	out(IPPROTO_UDP, at(INSIDE, 4001), at(REMOTE, 53));
	close_scene();
}

static unsigned int send_damaged(uint8_t protocol)
{
	uint8_t frame[200];
	const size_t length = make(frame, protocol, at(INSIDE, 4000), at(REMOTE, 53), 20);

	if (protocol == IPPROTO_UDP) {
		put16(transport_of(frame) + 4, 20);
	} else {
		transport_of(frame)[12] = 5 << 4;
		transport_of(frame)[13] = S;
	}
	return take(frame, length, true);
}

static void test_spoofed(void **state)
{
	const struct end inside = at(INSIDE, 4000), remote = at(REMOTE, 53);
	uint8_t frame[200];
	size_t length;
	struct nat_counts counts;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	length = make(frame, IPPROTO_UDP, inside, remote, 20);
	put16(frame + TCP + 4, 20);
	frame[11] = 0xb; /* from outside */
	assert_int_equal(take(frame, length, false), NAT_SPOOFED);
	nat__count(scene.function, &counts);
	assert_int_equal(counts.mappings, 0);
	assert_int_equal(counts.subscribers, 0);
	assert_int_equal(counts.ports[POLICY_UDP], 0);
	/* The switch asks no packet of a flow for its way, nor does the daemon. */
	out(IPPROTO_UDP, inside, remote);
	assert_int_equal(take(frame, length, false), NAT_TRANSLATED);
	length = make(frame, IPPROTO_UDP, inside, at(REMOTE + 1, 53), 20);
	put16(frame + TCP + 4, 20);
	frame[11] = 0xb;
	assert_int_equal(take(frame, length, false), NAT_SPOOFED);
	close_scene();
	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\nreverse_path: off\n");
	assert_int_equal(take(frame, length, false), NAT_TRANSLATED);
	close_scene();
}

static void test_what_begins_a_flow(void **state)
{
	static const uint8_t wrong[] = { 0, F, R, S | A, F | A, R | A, S | F, S | R, S | F | A };
	struct nat_counts counts;
	size_t i;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	for (i = 0; i < sizeof(wrong); i++)
		assert_int_equal(send_segment(at(INSIDE, 4000), at(REMOTE, 53), wrong[i], 1, 1),
				 NAT_UNKNOWN);
	assert_int_equal(send_damaged(IPPROTO_TCP), NAT_INVALID);
	assert_int_equal(send_damaged(IPPROTO_UDP), NAT_INVALID);
	assert_int_equal(scene.begun, 0);
	nat__count(scene.function, &counts);
	assert_int_equal(counts.mappings, 0);
	assert_int_equal(counts.ports[POLICY_TCP] + counts.ports[POLICY_UDP], 0);
	/* What belongs to a flow is for its receiver to judge. */
	assert_int_equal(send_segment(at(INSIDE, 4000), at(REMOTE, 53), S, 1, 1), NAT_TRANSLATED);
	assert_int_equal(send_damaged(IPPROTO_TCP), NAT_TRANSLATED);
	assert_int_equal(send_segment(at(INSIDE, 4001), at(REMOTE, 53), A, 1, 1), NAT_TRANSLATED);
	assert_int_equal(scene.begun, 2);
	close_scene();
}

/* Flows begin, age, are used and ended at random: no two mappings have a port at any time. */
static void test_ports_are_never_doubled(void **state)
{
	struct end inside, outside, to;
	uint64_t random = 11;
	int i;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1, ports: 3000-3099}]\n"
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
			function__tick(scene.function, scene.now, true);
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
		TEST("hosts reach static mappings, from inside, too",
		     test_static_mappings_and_hairpin),
		TEST("only SYN, ACK and datagrams that are not damaged begin a flow",
		     test_what_begins_a_flow),
		TEST("flows that another policy has no place for end", test_other_policies),
		TEST("an ICMP error comes with the packet that its receiver sent", test_errors),
		TEST("so does one from inside", test_errors_from_inside),
		TEST("so does one between two hosts inside", test_errors_of_hairpins),
		TEST("without a journal no flow begins", test_closed),
		TEST("a stranger begins no flow with the address of a host inside", test_spoofed),
		TEST("a port is never two mappings'", test_ports_are_never_doubled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
