// SPDX-License-Identifier: GPL-2.0-only
/* Flows age, are compared with the table, and are known to the next process. */
#include <errno.h>

#include "flows_nat_scene.h"

static enum flow_state state_of(uint8_t protocol, struct end inside, struct end remote)
{
	const struct flow *flow = function__find(scene.function, protocol, &inside, &remote);

	assert_non_null(flow);
	return flow->state;
}

static void test_idle_flows_end(void **state)
{
	const struct end inside = at(INSIDE, 4000), remote = at(REMOTE, 53);
	struct nat_counts counts;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	out(IPPROTO_UDP, inside, remote);
	settle();
	scene.now += 100 * SECOND - 1;
	function__tick(scene.function, scene.now, true);
	assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_ENTERED);
	scene.now += 1;
	function__tick(scene.function, scene.now, false);
	assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_ENTERED);
	function__tick(scene.function, scene.now, true);
	assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_LEAVING);
	settle();
	assert_int_equal(state_of(IPPROTO_UDP, inside, remote), FLOW_ASKED);
	scene.now += 100 * SECOND - 1;
	function__tick(scene.function, scene.now, true);
	assert_int_equal(scene.ended, 0);
	scene.now += 1;
	function__tick(scene.function, scene.now, true);
	assert_int_equal(scene.ended, 1);
	nat__count(scene.function, &counts);
	assert_int_equal(function__counts(scene.function)->flows, 0);
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

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_UDP, inside, remote);
	settle();
	for (round = 0; round < 4; round++) {
		scene.now += 100 * SECOND;
		function__tick(scene.function, scene.now, true);
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

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	out(IPPROTO_UDP, inside, remote);
	settle();
	scene.now += 100 * SECOND;
	function__tick(scene.function, scene.now, true);
	out(IPPROTO_UDP, inside, remote);
	function__end(scene.function,
		      function__find(scene.function, IPPROTO_UDP, &inside, &remote));
	assert_int_equal(scene.changes, 3);
	settle();
	assert_int_equal(scene.ended, 1);
	assert_null(function__find(scene.function, IPPROTO_UDP, &inside, &remote));
	close_scene();
}

static void test_echoes_are_kept(void **state)
{
	struct end outside, inside;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	outside = out(IPPROTO_ICMP, at(INSIDE, 77), at(REMOTE, 0));
	assert_int_equal(scene.changes, 0);
	assert_int_equal(try_back(IPPROTO_ICMP, at(REMOTE, 0), outside, &inside), NAT_TRANSLATED);
	assert_int_equal(inside.port, 77);
	/* A host inside that answers has no mapping to answer by. */
	assert_int_equal(try_out(IPPROTO_ICMP, at(INSIDE, 0), at(REMOTE, 5)), NAT_UNRELATED);
	scene.now += 9 * SECOND;
	out(IPPROTO_ICMP, at(INSIDE, 77), at(REMOTE, 0));
	scene.now += 9 * SECOND;
	function__tick(scene.function, scene.now, false);
	assert_int_equal(scene.ended, 0);
	scene.now += SECOND;
	function__tick(scene.function, scene.now, false);
	assert_int_equal(scene.ended, 1);
	close_scene();
}

/* ---- connections of TCP */

static const struct end client = { INSIDE, 4000 }, server = { REMOTE, 80 };

/* Connects; returns the end outside. */
static struct end connect_out(void)
{
	struct end outside;

	assert_int_equal(send_segment(client, server, S, 100, 0), NAT_TRANSLATED);
	outside = scene.source;
	assert_int_equal(send_segment(server, outside, S | A, 700, 101), NAT_TRANSLATED);
	assert_true(end__equal(&scene.destination, &client));
	settle();
	return outside;
}

static const char *phase(void)
{
	return function__connection(scene.function,
				    function__find(scene.function, IPPROTO_TCP, &client, &server));
}

static void test_closed_connections_end(void **state)
{
	struct end outside;
	int round;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	outside = connect_out();
	/* The same ports again, before the flow has ended. */
	for (round = 0; round < 3; round++) {
		assert_string_equal(phase(), "established");
		assert_int_equal(send_segment(client, server, F | A, 101, 701), NAT_TRANSLATED);
		assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ENTERED);
		assert_int_equal(send_segment(server, outside, F | A, 701, 102), NAT_TRANSLATED);
		assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_LEAVING);
		assert_string_equal(phase(), "closing");
		if (round)
			settle();
		assert_int_equal(send_segment(client, server, A, 102, 702), NAT_TRANSLATED);
		assert_true(end__equal(&scene.source, &outside));
		assert_int_equal(scene.changes, round ? 0 : 1);
		tick(239);
		assert_int_equal(scene.ended, 0);
		assert_int_equal(connect_out().port, outside.port);
		assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ENTERED);
	}
	assert_int_equal(send_segment(server, outside, F | A, 701, 102), NAT_TRANSLATED);
	assert_int_equal(send_segment(client, server, F | A, 101, 702), NAT_TRANSLATED);
	settle();
	tick(240);
	assert_int_equal(scene.begun, 1);
	assert_int_equal(scene.ended, 1);
	close_scene();
}

static struct recorded recorded(void)
{
	return recorded_of(function__find(scene.function, IPPROTO_TCP, &client, &server));
}

static void test_closed_over_a_restart(void **state)
{
	struct recorded closed;
	struct nat_counts counts;
	struct end outside;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	outside = connect_out();
	assert_int_equal(send_segment(client, server, F | A, 101, 701), NAT_TRANSLATED);
	assert_int_equal(scene.closed, 0);
	assert_int_equal(send_segment(server, outside, F | A, 701, 102), NAT_TRANSLATED);
	assert_int_equal(scene.closed, 1);
	closed = recorded();
	restart(&nat_type, &closed);
	assert_string_equal(phase(), "closing");
	/* Its last segment passes, and it has its port for the time-out of such a connection. */
	assert_int_equal(send_segment(client, server, A, 102, 702), NAT_TRANSLATED);
	assert_true(end__equal(&scene.source, &outside));
	assert_int_equal(scene.changes, 0);
	tick(239);
	nat__count(scene.function, &counts);
	assert_int_equal(counts.ports[POLICY_TCP], 1);
	tick(1);
	nat__count(scene.function, &counts);
	assert_int_equal(counts.ports[POLICY_TCP], 0);
	assert_int_equal(scene.ended, 1);
	/* The same ports again, which the journal has to know. */
	restart(&nat_type, &closed);
	assert_int_equal(connect_out().port, outside.port);
	assert_int_equal(scene.closed, 2);
	closed = recorded();
	restart(&nat_type, &closed);
	assert_int_equal(scene.changes, 1);
	settle();
	assert_string_equal(phase(), "established");
	assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ENTERED);
	close_scene();
}

static void test_closures_replayed(void **state)
{
	struct flow_record record = { IPPROTO_UDP, client, { POOL, 2000 }, server };

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1, ports: 2000-2003}]\n");
	/* No flow, a flow of UDP, and a flow with another end inside. */
	function__restore_closure(scene.function, &record, FLOW_CLOSED, 0);
	assert_int_equal(function__counts(scene.function)->flows, 0);
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	function__restore_closure(scene.function, &record, FLOW_CLOSED, 0);
	assert_int_equal(state_of(IPPROTO_UDP, client, server), FLOW_ENTERING);
	record.protocol = IPPROTO_TCP;
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	record.inside.port++;
	function__restore_closure(scene.function, &record, FLOW_CLOSED, 0);
	assert_string_equal(phase(), "established");
	record.inside.port--;
	function__restore_closure(scene.function, &record, FLOW_RESET_OUT, 0);
	assert_string_equal(phase(), "reset");
	assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ASKED);
	/* It goes on: the journal says again that it began. */
	assert_int_equal(function__restore(scene.function, &record, 0), -EEXIST);
	function__restore_closure(scene.function, &record, FLOW_OPEN, 0);
	assert_string_equal(phase(), "established");
	assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ENTERING);
	close_scene();
}

static void test_forged_reset(void **state)
{
	struct end outside;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	/* There is nothing to reset. */
	assert_int_equal(send_segment(client, server, R, 1, 0), NAT_UNKNOWN);
	assert_int_equal(function__counts(scene.function)->flows, 0);
	outside = connect_out();
	assert_int_equal(send_segment(server, outside, R, 9, 0), NAT_TRANSLATED);
	settle();
	assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ASKED);
	assert_int_equal(send_segment(client, server, A, 101, 701), NAT_TRANSLATED);
	assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ASKED);
	assert_int_equal(send_segment(server, outside, A, 701, 101), NAT_TRANSLATED);
	settle();
	assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ENTERED);
	assert_string_equal(phase(), "established");
	close_scene();
}

/* What the receiver drops for its checksum ends no connection. */
static void test_damaged_reset(void **state)
{
	uint8_t frame[200];
	size_t length;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	connect_out();
	length = make(frame, IPPROTO_TCP, client, server, 20);
	frame[TCP + 12] = 5 << 4;
	frame[TCP + 13] = R;
	take(frame, length, true);
	assert_string_equal(phase(), "established");
	close_scene();
}

/* Whatever segments come, all flows end when none come any more, and give their ports back. */
static void test_random_segments(void **state)
{
	static const uint8_t flags[] = { S, S | A, A, F | A, R, R | A, 0, S | F };
	const struct function_counts *counts;
	struct nat_counts nat_counts;
	struct end inside, outside, to;
	uint64_t random = 12;
	unsigned int verdict;
	int i;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1, ports: 3000-3049}]\n"
			      "limits: {ports: 50, flows: 200}\n");
	for (i = 0; i < 50000; i++) {
		const uint8_t flag = flags[random__below(&random, 8)];

		inside = at(INSIDE + random__below(&random, 3), 4000 + random__below(&random, 10));
		to = at(REMOTE + random__below(&random, 2), 80);
		verdict = send_segment(inside, to, flag, 1, 1);
		outside = scene.source;
		if (verdict == NAT_TRANSLATED && random__below(&random, 2)) {
			verdict = send_segment(to, outside, flags[random__below(&random, 8)], 1, 1);
			assert_int_equal(verdict, NAT_TRANSLATED);
			assert_true(end__equal(&scene.destination, &inside));
		}
		scene.now += random__below(&random, 60) * SECOND;
		if (!random__below(&random, 4))
			function__tick(scene.function, scene.now, true);
		if (!random__below(&random, 3))
			settle();
	}
	assert_true(scene.ended > 100);
	for (i = 0; i < 4; i++) {
		settle();
		tick(1000);
	}
	settle();
	counts = function__counts(scene.function);
	nat__count(scene.function, &nat_counts);
	assert_int_equal(counts->flows, 0);
	assert_int_equal(scene.begun, scene.ended);
	assert_int_equal(nat_counts.ports[POLICY_TCP], 0);
	close_scene();
}

static void test_half_open_connections(void **state)
{
	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	assert_int_equal(send_segment(client, server, S, 100, 0), NAT_TRANSLATED);
	settle();
	tick(239);
	assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_ENTERED);
	tick(1);
	assert_int_equal(state_of(IPPROTO_TCP, client, server), FLOW_LEAVING);
	settle();
	tick(240);
	assert_int_equal(scene.ended, 1);
	close_scene();
}

static void test_tracked_values(void **state)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	struct flow *flow;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	connect_out();
	out(IPPROTO_UDP, client, server);
	flow = function__find(scene.function, IPPROTO_TCP, &client, &server);
	function__entry(scene.function, flow, FLOW_OUT, key, value);
	assert_int_equal(value[6], VALUE_SOURCE | VALUE_TRACKED);
	function__entry(scene.function, flow, FLOW_BACK, key, value);
	assert_int_equal(value[6], VALUE_TRACKED);
	/* As a program that did not track flows entered it. */
	value[6] = 0;
	assert_false(function__see(scene.function, key, value));
	flow = function__find(scene.function, IPPROTO_UDP, &client, &server);
	function__entry(scene.function, flow, FLOW_OUT, key, value);
	assert_int_equal(value[6], VALUE_SOURCE);
	close_scene();
}

static void see(const struct flow *flow, enum flow_direction direction, bool is_right)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];

	function__entry(scene.function, flow, direction, key, value);
	if (!is_right)
		value[5] ^= 1;
	assert_int_equal(function__see(scene.function, key, value), is_right);
}

static void test_comparison(void **state)
{
	static const uint8_t foreign[FLOW_VALUE_MAX] = { 192, 0, 2, 1, 0, 9, 1 };
	static const uint8_t stray[FLOW_VALUE_MAX] = { 203, 0, 113, 1, 0, 9, 1 };
	uint8_t key[FLOW_KEY_MAX] = { 10, 9, 9, 9, 198, 51, 100, 1, 0, 9, 0, 9, 17 };
	struct flow *flows[4];
	int i;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1}]\n");
	for (i = 0; i < 4; i++) {
		out(IPPROTO_UDP, at(INSIDE, 4000 + i), at(REMOTE, 53));
		flows[i] = function__find(scene.function, IPPROTO_UDP,
					  &(struct end){ INSIDE, 4000 + i },
					  &(struct end){ REMOTE, 53 });
	}
	settle();
	see(flows[0], FLOW_OUT, true);
	see(flows[0], FLOW_BACK, true);
	see(flows[1], FLOW_OUT, true);
	see(flows[2], FLOW_OUT, false);
	see(flows[2], FLOW_BACK, true);
	function__end(scene.function, flows[3]);
	scene.changes = 0; /* dartd went away */
	see(flows[3], FLOW_OUT, true);
	assert_true(function__see(scene.function, key, foreign));
	assert_false(function__see(scene.function, key, stray));
	function__compare(scene.function);
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
	struct flow_record record = {
		IPPROTO_UDP, { INSIDE, 4000 }, { POOL, 2000 }, { REMOTE, 53 }
	};
	struct end outside;

	open_scene(&nat_type, "pools: [{addresses: 203.0.113.1, ports: 2000-2003}]\n");
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	assert_int_equal(function__restore(scene.function, &record, 0), -EEXIST);
	outside = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 99));
	assert_int_equal(outside.port, 2000);
	settle();
	/* The end of the first one was lost: the later one has its port. */
	record.inside.address++;
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	outside = out(IPPROTO_UDP, at(INSIDE + 1, 4000), at(REMOTE, 99));
	assert_int_equal(outside.port, 2000);
	outside = out(IPPROTO_UDP, at(INSIDE, 4000), at(REMOTE, 99));
	assert_int_not_equal(outside.port, 2000);
	settle();
	function__forget(scene.function, &record);
	assert_null(function__find(scene.function, IPPROTO_UDP, &record.inside, &record.remote));
	/* A pool that is no more: the flow is about to end, and its host gets another port. */
	record = (struct flow_record){ IPPROTO_UDP, { INSIDE + 2, 1 }, { 5, 6 }, { REMOTE, 53 } };
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	function__compare(scene.function);
	outside = out(IPPROTO_UDP, at(INSIDE + 2, 1), at(REMOTE, 53));
	assert_int_equal(outside.address, POOL);
	settle();
	/* Of a function with IPv6, and of a protocol without ports: an entry could be another's. */
	record.inside.address |= (address_t)INSIDE_6 << 80;
	assert_int_equal(function__restore(scene.function, &record, 0), -EINVAL);
	record = (struct flow_record){ IPPROTO_GRE, { INSIDE + 3, 1 }, { POOL, 6 }, { REMOTE, 53 } };
	assert_int_equal(function__restore(scene.function, &record, 0), -EINVAL);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an idle flow is asked, and ends after another time-out", test_idle_flows_end),
		TEST("a flow in use keeps its port, whenever it is asked", test_used_flows_stay),
		TEST("a flow ends after the last of its changes", test_end_of_an_asked_flow),
		TEST("ICMP echoes are kept, and age by their packets", test_echoes_are_kept),
		TEST("a closed connection leaves the table, and ends or is opened again",
		     test_closed_connections_end),
		TEST("a closed connection is not entered again by another process",
		     test_closed_over_a_restart),
		TEST("the journal closes the flow with all of these ends, and opens it again",
		     test_closures_replayed),
		TEST("a reset connection whose alleged sender goes on is entered again",
		     test_forged_reset),
		TEST("a damaged reset ends nothing", test_damaged_reset),
		TEST("whatever segments come, flows end and give their ports back",
		     test_random_segments),
		TEST("a connection that does not open is asked early", test_half_open_connections),
		TEST("entries of TCP, and no others, are tracked", test_tracked_values),
		TEST("a comparison finds what is missing, wrong or nobody's", test_comparison),
		TEST("flows of an earlier process have their ports", test_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
