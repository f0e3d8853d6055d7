// SPDX-License-Identifier: GPL-2.0-only
/* Connections, pseudo-connections, rules and limits of the firewall. */
#include <errno.h>

#define BASE                                                     \
	"function: firewall\ninterface: eth1\ntable: firewall\n" \
	"routes:\n"                                              \
	" - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}\n"      \
	" - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}\n"       \
	"zones:\n"                                               \
	" - {name: inside, addresses: [10.0.0.0/8]}\n"           \
	" - {name: outside, addresses: [0.0.0.0/0]}\n"           \
	"timeouts: {tcp: 1000s, udp: 100s, icmp: 10s, transitory: 50s}\n"

#include "flows_scene.h"
#include "tools/flows/firewall/firewall.h"

#define CLIENT 0x0a000001 /* 10.0.0.1 */
#define SERVER 0xc6336401 /* 198.51.100.1 */
#define ALL_FLAGS 64
#define RULES                              \
	"rules:\n"                         \
	" - {from: inside, to: outside}\n" \
	" - {from: outside, to: inside, protocol: tcp, ports: [22], action: reject}\n"

static const struct end client = { CLIENT, 4000 }, server = { SERVER, 80 };

static enum firewall_verdict out(uint8_t flags, uint32_t sequence, uint32_t acknowledgement)
{
	return send_segment(client, server, flags, sequence, acknowledgement);
}

static enum firewall_verdict back(uint8_t flags, uint32_t sequence, uint32_t acknowledgement)
{
	return send_segment(server, client, flags, sequence, acknowledgement);
}

static void connect_tcp(void)
{
	assert_int_equal(out(S, 100, 0), FIREWALL_PASSED);
	assert_int_equal(back(S | A, 700, 101), FIREWALL_PASSED);
	assert_int_equal(out(A, 101, 701), FIREWALL_PASSED);
}

static struct flow *flow_of(uint8_t protocol)
{
	return function__find(scene.function, protocol, &client, &server);
}

static void assert_connection(const char *phase, enum flow_state state)
{
	struct flow *flow = flow_of(IPPROTO_TCP);

	assert_non_null(flow);
	assert_string_equal(function__connection(scene.function, flow), phase);
	assert_int_equal(flow->state, state);
}

static void test_connection(void **state)
{
	open_scene(&firewall_type, RULES);
	assert_int_equal(out(S, 100, 0), FIREWALL_PASSED);
	assert_connection("opening", FLOW_KEPT);
	assert_int_equal(back(S | A, 700, 101), FIREWALL_PASSED);
	assert_connection("opening", FLOW_KEPT);
	assert_int_equal(scene.begun + scene.changes, 0);
	assert_int_equal(out(A, 101, 701), FIREWALL_PASSED);
	assert_connection("established", FLOW_ENTERING);
	assert_int_equal(scene.begun, 1);
	settle();
	assert_connection("established", FLOW_ENTERED);
	assert_int_equal(back(A, 701, 101), FIREWALL_PASSED);
	assert_int_equal(scene.changes, 0);
	assert_int_equal(out(F | A, 101, 701), FIREWALL_PASSED);
	assert_connection("established", FLOW_ENTERED);
	assert_int_equal(back(F | A, 701, 102), FIREWALL_PASSED);
	assert_connection("closing", FLOW_LEAVING);
	settle();
	assert_int_equal(out(A, 102, 702), FIREWALL_PASSED);
	assert_connection("closing", FLOW_ASKED);
	assert_int_equal(scene.changes, 0);
	tick(49);
	assert_non_null(flow_of(IPPROTO_TCP));
	tick(1);
	assert_null(flow_of(IPPROTO_TCP));
	assert_int_equal(scene.ended, 1);
	assert_int_equal(function__counts(scene.function)->flows, 0);
	close_scene();
}

/* No segment but a SYN begins a connection, and no other flags than a host can send pass. */
static void test_flags(void **state)
{
	static const uint8_t valid[] = { S, S | A, A, F | A, R, R | A };
	unsigned int flags;
	size_t i;

	open_scene(&firewall_type, RULES);
	for (flags = 0; flags < ALL_FLAGS; flags++) {
		enum firewall_verdict wanted = FIREWALL_INVALID;

		for (i = 0; i < sizeof(valid); i++)
			if ((flags & (S | A | F | R)) == valid[i])
				wanted = valid[i] == S ? FIREWALL_PASSED : FIREWALL_UNKNOWN;
		assert_int_equal(send_segment((struct end){ CLIENT, flags }, server, flags, 1, 1),
				 wanted);
	}
	/* SYN, with and without PSH and URG. */
	assert_int_equal(function__counts(scene.function)->flows, 4);
	assert_int_equal(scene.begun + scene.changes, 0);
	close_scene();
}

static void test_forged_handshakes(void **state)
{
	open_scene(&firewall_type, RULES);
	out(S, 100, 0);
	assert_int_equal(back(S | A, 700, 102), FIREWALL_INVALID);
	assert_int_equal(back(S | A, 700, 100), FIREWALL_INVALID);
	assert_int_equal(back(R | A, 0, 102), FIREWALL_INVALID);
	assert_int_equal(back(R, 5, 0), FIREWALL_INVALID);
	assert_int_equal(back(F | A, 5, 101), FIREWALL_INVALID);
	/* A host with an old connection asks in this way; it makes nothing of this one. */
	assert_int_equal(back(A, 5, 6), FIREWALL_PASSED);
	assert_int_equal(out(R, 6, 0), FIREWALL_PASSED);
	assert_connection("opening", FLOW_KEPT);
	assert_int_equal(back(S | A, 700, 101), FIREWALL_PASSED);
	assert_int_equal(back(S, 9, 0), FIREWALL_INVALID);
	assert_int_equal(out(A, 101, 700), FIREWALL_INVALID);
	assert_int_equal(out(A, 101, 701 + 65536), FIREWALL_INVALID);
	assert_int_equal(out(A, 101 + 65536, 701), FIREWALL_INVALID);
	assert_connection("opening", FLOW_KEPT);
	/* The first ACK may be lost, and data come before it. */
	assert_int_equal(out(A, 1101, 701), FIREWALL_PASSED);
	assert_connection("established", FLOW_ENTERING);
	assert_int_equal(back(S, 9, 0), FIREWALL_INVALID);
	close_scene();
}

static void test_refused_connection(void **state)
{
	open_scene(&firewall_type, RULES);
	out(S, 100, 0);
	assert_int_equal(back(R | A, 0, 101), FIREWALL_PASSED);
	assert_null(flow_of(IPPROTO_TCP));
	assert_int_equal(scene.begun + scene.changes, 0);
	close_scene();
}

static void test_simultaneous_open(void **state)
{
	open_scene(&firewall_type, RULES);
	assert_int_equal(out(S, 100, 0), FIREWALL_PASSED);
	assert_int_equal(back(S, 700, 0), FIREWALL_PASSED);
	assert_int_equal(out(S | A, 100, 701), FIREWALL_PASSED);
	assert_connection("opening", FLOW_KEPT);
	assert_int_equal(back(S | A, 700, 101), FIREWALL_PASSED);
	assert_connection("established", FLOW_ENTERING);
	close_scene();
}

static void test_resets(void **state)
{
	open_scene(&firewall_type, RULES);
	connect_tcp();
	settle();
	assert_int_equal(back(R, 5, 0), FIREWALL_PASSED);
	assert_connection("reset", FLOW_LEAVING);
	settle();
	/* Segments that were on their way do not enter it again. */
	assert_int_equal(out(A, 200, 701), FIREWALL_PASSED);
	assert_connection("reset", FLOW_ASKED);
	/* The alleged sender goes on. */
	assert_int_equal(back(A, 701, 200), FIREWALL_PASSED);
	assert_connection("established", FLOW_ENTERING);
	settle();
	tick(999);
	assert_connection("established", FLOW_ENTERED);
	assert_int_equal(out(R, 200, 0), FIREWALL_PASSED);
	settle();
	tick(50);
	assert_null(flow_of(IPPROTO_TCP));
	close_scene();
}

/* The table refuses an insertion when the flow has two further changes under way. */
static void test_refused_early_insertion(void **state)
{
	struct flow *flow;

	open_scene(&firewall_type, RULES);
	connect_tcp();
	out(R, 101, 0);
	out(A, 101, 701);
	assert_int_equal(scene.changes, 3);
	flow = scene.changed[0];
	assert_false(function__waits_for(flow));
	function__entered(scene.function, flow, false, scene.now);
	assert_int_equal(flow->state, FLOW_ENTERING);
	function__left(scene.function, flow, scene.now);
	assert_true(function__waits_for(flow));
	function__entered(scene.function, flow, true, scene.now);
	assert_int_equal(flow->state, FLOW_ENTERED);
	scene.changes = 0;
	close_scene();
}

static void test_ports_again(void **state)
{
	open_scene(&firewall_type, RULES);
	connect_tcp();
	settle();
	out(F | A, 101, 701);
	back(F | A, 701, 102);
	/* Its entries are still there. */
	assert_int_equal(out(S, 9000, 0), FIREWALL_ENDED);
	assert_int_equal(scene.action, FUNCTION_DROPS);
	settle();
	assert_int_equal(out(S, 9000, 0), FIREWALL_PASSED);
	assert_connection("opening", FLOW_KEPT);
	assert_int_equal(scene.ended, 1);
	/* The remote end never begins a connection, even after one that it has reset. */
	out(R, 9001, 0);
	assert_int_equal(back(S, 1, 0), FIREWALL_DROPPED);
	close_scene();
}

static void test_ports_again_without_table(void **state)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];

	open_scene(&firewall_type, RULES);
	connect_tcp();
	settle();
	scene.is_away = true;
	out(F | A, 101, 701);
	back(F | A, 701, 102);
	assert_connection("closing", FLOW_ASKED);
	/* dartd comes back, and still has an entry. */
	function__entry(scene.function, flow_of(IPPROTO_TCP), FLOW_OUT, key, value);
	assert_false(function__see(scene.function, key, value));
	assert_int_equal(out(S, 9000, 0), FIREWALL_PASSED);
	assert_connection("opening", FLOW_KEPT);
	assert_false(function__see(scene.function, key, value));
	close_scene();
}

/* It goes away before it has removed the entries of a closed connection. */
static void test_ports_again_after_the_table(void **state)
{
	open_scene(&firewall_type, RULES);
	connect_tcp();
	settle();
	out(F | A, 101, 701);
	back(F | A, 701, 102);
	assert_connection("closing", FLOW_LEAVING);
	lose_table();
	assert_connection("closing", FLOW_ASKED);
	assert_int_equal(out(S, 9000, 0), FIREWALL_PASSED);
	assert_connection("opening", FLOW_KEPT);
	/* A closed connection that is not used again ends without the table, too. */
	assert_int_equal(back(S | A, 700, 9001), FIREWALL_PASSED);
	out(A, 9001, 701);
	out(F | A, 9001, 701);
	back(F | A, 701, 9002);
	tick(50);
	assert_null(flow_of(IPPROTO_TCP));
	close_scene();
}

static void test_rules(void **state)
{
	open_scene(&firewall_type, RULES);
	assert_int_equal(back(S, 1, 0), FIREWALL_DROPPED);
	assert_int_equal(send_segment(server, (struct end){ CLIENT, 22 }, S, 1, 0),
			 FIREWALL_REJECTED);
	assert_int_equal(send_datagram(server, client), FIREWALL_DROPPED);
	assert_int_equal(send_datagram(client, server), FIREWALL_PASSED);
	assert_int_equal(send_datagram(server, client), FIREWALL_PASSED);
	assert_int_equal(send_datagram((struct end){ SERVER, 81 }, client), FIREWALL_DROPPED);
	assert_int_equal(send_datagram(client, (struct end){ CLIENT + 1, 1 }), FIREWALL_DROPPED);
	close_scene();
}

static void test_pseudo_connections(void **state)
{
	const struct end echo = { CLIENT, 77 }, host = { SERVER, 0 };

	open_scene(&firewall_type, RULES);
	send_datagram(client, server);
	settle();
	assert_int_equal(flow_of(IPPROTO_UDP)->state, FLOW_ENTERED);
	tick(100);
	settle();
	assert_int_equal(flow_of(IPPROTO_UDP)->state, FLOW_ASKED);
	assert_int_equal(send_datagram(server, client), FIREWALL_PASSED);
	assert_int_equal(flow_of(IPPROTO_UDP)->state, FLOW_ENTERING);
	settle();
	assert_int_equal(send_echo(host, echo, true), FIREWALL_UNKNOWN);
	assert_int_equal(send_echo(echo, host, false), FIREWALL_PASSED);
	assert_int_equal(send_echo(host, echo, true), FIREWALL_PASSED);
	assert_int_equal(send_echo(host, (struct end){ CLIENT, 78 }, true), FIREWALL_UNKNOWN);
	assert_int_equal(scene.changes, 0);
	tick(10);
	assert_null(function__find(scene.function, IPPROTO_ICMP, &echo, &host));
	close_scene();
}

static void test_errors(void **state)
{
	const uint32_t router = SERVER + 7;

	open_scene(&firewall_type, RULES);
	assert_int_equal(send_error(router, CLIENT, IPPROTO_TCP, client, server), FIREWALL_UNKNOWN);
	connect_tcp();
	assert_int_equal(send_error(router, CLIENT, IPPROTO_TCP, client, server), FIREWALL_RELATED);
	assert_int_equal(send_error(router, CLIENT + 1, IPPROTO_TCP, client, server),
			 FIREWALL_INVALID);
	assert_int_equal(send_error(router, CLIENT, IPPROTO_TCP, client, at(SERVER, 81)),
			 FIREWALL_UNKNOWN);
	close_scene();
}

static void test_hostile_packets(void **state)
{
	uint8_t frame[200];
	size_t length;

	open_scene(&firewall_type, RULES);
	length = make(frame, IPPROTO_TCP, client, server, 20);
	frame[TCP + 12] = 5 << 4;
	frame[TCP + 13] = S;
	assert_int_equal(take(frame, length, true), FIREWALL_INVALID);
	frame[TCP + 12] = 4 << 4;
	assert_int_equal(take(frame, length, false), FIREWALL_INVALID);
	frame[TCP + 12] = 5 << 4;
	frame[11] = 0xb; /* from outside, with an address of the inside */
	assert_int_equal(take(frame, length, false), FIREWALL_SPOOFED);
	frame[11] = 0xa;
	assert_int_equal(take(frame, length, false), FIREWALL_PASSED);
	close_scene();
	open_scene(&firewall_type, RULES "reverse_path: off\n");
	frame[11] = 0xb;
	assert_int_equal(take(frame, length, false), FIREWALL_PASSED);
	close_scene();
}

static void test_limits(void **state)
{
	const struct function_counts *counts;
	unsigned int i;

	open_scene(&firewall_type, RULES "flows: 40\nlimits: {flows: 5, opening: 10}\n");
	counts = function__counts(scene.function);
	for (i = 0; i < 5; i++)
		assert_int_equal(send_datagram((struct end){ CLIENT, i }, server), FIREWALL_PASSED);
	assert_int_equal(out(S, 1, 0), FIREWALL_LIMITED);
	assert_int_equal(send_datagram((struct end){ CLIENT, 5 }, server), FIREWALL_LIMITED);
	/* A flood of SYN takes the places of connections that open, and of nothing else. */
	for (i = 0; i < 1000; i++)
		assert_int_equal(send_segment((struct end){ CLIENT + 1 + i, 1 }, server, S, 1, 0),
				 FIREWALL_PASSED);
	assert_int_equal(counts->flows, 15);
	assert_int_equal(counts->by_state[FLOW_KEPT], 10);
	for (i = 0; i < 25; i++)
		assert_int_equal(send_datagram((struct end){ CLIENT + 1 + i, 1 }, server),
				 FIREWALL_PASSED);
	assert_int_equal(send_datagram((struct end){ CLIENT + 50, 1 }, server), FIREWALL_EXHAUSTED);
	close_scene();
}

static void test_unwritable_journal(void **state)
{
	open_scene(&firewall_type, RULES);
	out(S, 100, 0);
	back(S | A, 700, 101);
	function__close(scene.function, true);
	assert_int_equal(out(A, 101, 701), FIREWALL_CLOSED);
	assert_int_equal(send_datagram(client, server), FIREWALL_CLOSED);
	function__close(scene.function, false);
	assert_int_equal(out(A, 101, 701), FIREWALL_PASSED);
	close_scene();
}

static void test_restored(void **state)
{
	struct flow_record record = { IPPROTO_TCP, client, client, server };

	open_scene(&firewall_type, RULES);
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	assert_int_equal(function__restore(scene.function, &record, 0), -EEXIST);
	assert_connection("established", FLOW_ENTERING);
	assert_int_equal(back(A, 12345, 67890), FIREWALL_PASSED);
	assert_int_equal(out(F | A, 1, 1), FIREWALL_PASSED);
	/* A flow of NAT, and a flow that the rules no longer permit. */
	record.outside.port++;
	assert_int_equal(function__restore(scene.function, &record, 0), -EINVAL);
	record = (struct flow_record){ IPPROTO_UDP, server, server, client };
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	assert_int_equal(send_datagram(server, client), FIREWALL_ENDED);
	function__compare(scene.function);
	settle();
	assert_null(flow_of(IPPROTO_UDP));
	record = (struct flow_record){ IPPROTO_TCP, client, client, server };
	function__forget(scene.function, &record);
	assert_null(flow_of(IPPROTO_TCP));
	close_scene();
}

static void test_reset_over_a_restart(void **state)
{
	struct recorded recorded;

	open_scene(&firewall_type, RULES);
	connect_tcp();
	settle();
	assert_int_equal(back(R, 9, 0), FIREWALL_PASSED);
	assert_int_equal(scene.closed, 1);
	recorded = recorded_of(flow_of(IPPROTO_TCP));
	restart(&firewall_type, &recorded);
	assert_connection("reset", FLOW_ASKED);
	/* What the other host sent before it got the RST. */
	assert_int_equal(out(A, 101, 701), FIREWALL_PASSED);
	assert_connection("reset", FLOW_ASKED);
	assert_int_equal(scene.changes, 0);
	/* The RST was forged. */
	assert_int_equal(back(A, 701, 101), FIREWALL_PASSED);
	assert_connection("established", FLOW_ENTERING);
	assert_int_equal(scene.closed, 2);
	assert_int_equal(recorded_of(flow_of(IPPROTO_TCP)).closure, FLOW_OPEN);
	/* Otherwise it ends early. */
	restart(&firewall_type, &recorded);
	tick(49);
	assert_connection("reset", FLOW_ASKED);
	tick(1);
	assert_null(flow_of(IPPROTO_TCP));
	/* The other direction. */
	connect_tcp();
	assert_int_equal(out(R, 9, 0), FIREWALL_PASSED);
	recorded = recorded_of(flow_of(IPPROTO_TCP));
	restart(&firewall_type, &recorded);
	assert_int_equal(back(A, 701, 101), FIREWALL_PASSED);
	assert_connection("reset", FLOW_ASKED);
	assert_int_equal(out(A, 101, 701), FIREWALL_PASSED);
	assert_connection("established", FLOW_ENTERING);
	close_scene();
}

static void test_comparison(void **state)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	const uint8_t open = 3;

	open_scene(&firewall_type, RULES);
	connect_tcp();
	settle();
	function__entry(scene.function, flow_of(IPPROTO_TCP), FLOW_OUT, key, value);
	assert_true(function__see(scene.function, key, value));
	key[0] = 11; /* of no flow, with the state of a flow, or with one that the operator chose */
	assert_false(function__see(scene.function, key, value));
	assert_true(function__see(scene.function, key, &open));
	function__compare(scene.function);
	assert_int_equal(scene.changes, 1);
	assert_connection("established", FLOW_ENTERING);
	settle();
	close_scene();
}

static void test_other_rules(void **state)
{
	open_scene(&firewall_type, RULES);
	connect_tcp();
	send_datagram(client, server);
	settle();
	set_policy(read_policy("rules: [{from: inside, to: outside, protocol: udp}]\n"));
	assert_int_equal(out(A, 101, 701), FIREWALL_ENDED);
	settle();
	assert_null(flow_of(IPPROTO_TCP));
	assert_int_equal(flow_of(IPPROTO_UDP)->state, FLOW_ENTERED);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a connection is entered when it is established, and leaves when it closes",
		     test_connection),
		TEST("only SYN begins a connection", test_flags),
		TEST("a handshake with wrong numbers makes no connection", test_forged_handshakes),
		TEST("a connection that the server refuses leaves nothing",
		     test_refused_connection),
		TEST("both ends may open a connection", test_simultaneous_open),
		TEST("a RST closes a connection until its sender goes on", test_resets),
		TEST("the last change of a flow decides whether it is in the table",
		     test_refused_early_insertion),
		TEST("ports of a closed connection are used again", test_ports_again),
		TEST("so they are while dartd is away", test_ports_again_without_table),
		TEST("so they are when it goes away with their entries",
		     test_ports_again_after_the_table),
		TEST("rules decide who may begin", test_rules),
		TEST("UDP and echoes make pseudo-connections", test_pseudo_connections),
		TEST("an ICMP error passes if it quotes a flow", test_errors),
		TEST("damaged and spoofed packets are dropped", test_hostile_packets),
		TEST("flows and connections that open are limited", test_limits),
		TEST("nothing begins while the journal cannot be written", test_unwritable_journal),
		TEST("flows of an earlier process are known", test_restored),
		TEST("a reset connection is not entered by another process, unless it goes on",
		     test_reset_over_a_restart),
		TEST("a comparison removes entries of lost flows", test_comparison),
		TEST("flows that other rules refuse end", test_other_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
