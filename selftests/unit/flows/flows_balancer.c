// SPDX-License-Identifier: GPL-2.0-only
/* Services, servers that come and go, and flows of the balancer. */
#include <errno.h>

#define BASE                                                     \
	"function: balancer\ninterface: eth1\ntable: balancer\n" \
	"routes:\n"                                              \
	" - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}\n"      \
	" - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}\n"       \
	"timeouts: {tcp: 1000s, udp: 100s, transitory: 50s}\n"

#include "flows_scene.h"
#include "tools/flows/balancer/balancer.h"

#define CLIENT 0xc6336401 /* 198.51.100.1 */
#define SERVICE 0xc000020a /* 192.0.2.10 */
#define FIRST 0x0a010001 /* 10.1.0.1 */
#define SERVERS 4

#define ITEM(number, more) "   - {address: 10.1.0." number ":8080" more "}\n"
#define TCP_SERVICE(first_more, more)                                                   \
	"services:\n"                                                                   \
	" - address: 192.0.2.10:80\n   protocol: tcp\n" more                            \
	"   check: {}\n   servers:\n" ITEM("1", first_more) ITEM("2", "") ITEM("3", "") \
		ITEM("4", "")
#define UDP_SERVICE                                                                              \
	" - {address: 192.0.2.10:53, protocol: udp, when_down: end, check: {port: 9}, servers: " \
	"[{address: 10.1.0.1:5353}, {address: 10.1.0.2:5353}]}\n"
#define ALL TCP_SERVICE("", "") UDP_SERVICE

/* Numbers of the first servers of both. */
#define TCP_FIRST 0
#define UDP_FIRST SERVERS

static const struct end web = { SERVICE, 80 }, names = { SERVICE, 53 };

/* The server that a new flow of UDP gets; 0: none. */
static uint32_t server_of_datagram(uint16_t port)
{
	return send_datagram(at(CLIENT, port), names) == BALANCER_TRANSLATED ?
		       scene.destination.address :
		       0;
}

/* The server that a SYN gets; 0: none. */
static uint32_t server_of_syn(uint16_t port)
{
	return send_segment(at(CLIENT, port), web, S, 100, 0) == BALANCER_TRANSLATED ?
		       scene.destination.address :
		       0;
}

/* Opens a connection; returns its server. */
static struct end connect_from(struct end client)
{
	struct end server;

	assert_int_equal(send_segment(client, web, S, 100, 0), BALANCER_TRANSLATED);
	server = scene.destination;
	assert_true(end__equal(&scene.source, &client));
	assert_int_equal(send_segment(server, client, S | A, 700, 101), BALANCER_TRANSLATED);
	assert_true(end__equal(&scene.source, &web));
	assert_true(end__equal(&scene.destination, &client));
	assert_int_equal(send_segment(client, web, A, 101, 701), BALANCER_TRANSLATED);
	assert_true(end__equal(&scene.destination, &server));
	return server;
}

static size_t index_of(struct end server)
{
	return server.address - FIRST;
}

static struct flow *flow_of(struct end client)
{
	return function__find(scene.function, IPPROTO_TCP, &web, &client);
}

static void test_connection(void **state)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	const struct end client = { CLIENT, 4000 };
	struct end server;
	struct flow *flow;

	open_scene(&balancer_type, ALL);
	assert_int_equal(send_segment(client, web, S, 100, 0), BALANCER_TRANSLATED);
	/* Before both ends have acknowledged each other, it is in neither journal nor table. */
	assert_int_equal(scene.begun + scene.changes, 0);
	server = connect_from(client);
	assert_int_equal(server.port, 8080);
	assert_in_range(server.address, FIRST, FIRST + SERVERS - 1);
	assert_int_equal(scene.begun, 1);
	assert_int_equal(scene.changes, 1);
	settle();
	flow = flow_of(client);
	assert_ptr_equal(flow, function__find(scene.function, IPPROTO_TCP, &server, &client));
	assert_string_equal(function__connection(scene.function, flow), "established");
	/* Packets of the client get the server as destination, answers the service as source. */
	function__entry(scene.function, flow, FLOW_BACK, key, value);
	assert_memory_equal(key, ((uint8_t[]){ 198, 51, 100, 1, 192, 0, 2, 10, 15, 160, 0, 80, 6 }),
			    FLOW_KEY_LENGTH);
	assert_memory_equal(value,
			    ((uint8_t[]){ 10, 1, 0, server.address, 8080 >> 8, 8080 & 255, 2 }), 7);
	function__entry(scene.function, flow, FLOW_OUT, key, value);
	assert_memory_equal(key,
			    ((uint8_t[]){ 10, 1, 0, server.address, 198, 51, 100, 1, 8080 >> 8,
					  8080 & 255, 15, 160, 6 }),
			    FLOW_KEY_LENGTH);
	assert_memory_equal(value, ((uint8_t[]){ 192, 0, 2, 10, 0, 80, 3 }), 7);
	close_scene();
}

/* The switch sends FIN of both ends here, by the flags of the values. */
static void test_closed_connection(void **state)
{
	const struct end client = { CLIENT, 4000 };
	struct end server;

	open_scene(&balancer_type, ALL);
	server = connect_from(client);
	settle();
	assert_int_equal(send_segment(client, web, F | A, 102, 702), BALANCER_TRANSLATED);
	assert_int_equal(scene.changes, 0);
	assert_int_equal(send_segment(server, client, F | A, 702, 103), BALANCER_TRANSLATED);
	assert_int_equal(scene.changes, 1);
	assert_false(scene.is_insertion[0]);
	settle();
	/* The last segments pass, but enter nothing. */
	assert_int_equal(send_segment(client, web, A, 103, 703), BALANCER_TRANSLATED);
	assert_int_equal(scene.changes, 0);
	tick(240);
	assert_int_equal(scene.ended, 1);
	close_scene();
}

static void test_refused_connection(void **state)
{
	const struct end client = { CLIENT, 4000 };
	struct end server;

	open_scene(&balancer_type, ALL);
	assert_int_equal(send_segment(client, web, S, 100, 0), BALANCER_TRANSLATED);
	server = scene.destination;
	assert_int_equal(send_segment(server, client, R | A, 0, 101), BALANCER_TRANSLATED);
	assert_true(end__equal(&scene.source, &web));
	assert_null(flow_of(client));
	assert_int_equal(scene.begun + scene.ended + scene.changes, 0);
	close_scene();
}

static void test_choices(void **state)
{
	uint32_t chosen[1000], counts[SERVERS] = {}, moved = 0;
	unsigned int i;

	open_scene(&balancer_type, ALL);
	for (i = 0; i < 1000; i++) {
		chosen[i] = server_of_syn(i);
		counts[chosen[i] - FIRST]++;
	}
	for (i = 0; i < SERVERS; i++)
		assert_in_range(counts[i], 200, 300);
	close_scene();
	/* Another process chooses alike, and without the first server few others move. */
	open_scene(&balancer_type, ALL);
	assert_int_equal(server_of_syn(7), chosen[7]);
	balancer__set_up(scene.function, TCP_FIRST, false);
	for (i = 0; i < 1000; i++) {
		const uint32_t server = server_of_syn(i);

		assert_int_not_equal(server, FIRST);
		moved += chosen[i] != FIRST && server != chosen[i];
	}
	assert_in_range(moved, 0, 30);
	close_scene();
}

static void test_unserved(void **state)
{
	open_scene(&balancer_type, ALL "refusal: reject\n");
	assert_int_equal(send_datagram(at(CLIENT, 1), web), BALANCER_UNSERVED);
	assert_int_equal(scene.action, FUNCTION_DROPS);
	assert_int_equal(send_segment(at(CLIENT, 1), at(SERVICE, 81), S, 1, 0), BALANCER_UNSERVED);
	assert_int_equal(send_echo(at(CLIENT, 1), at(SERVICE, 0), false), BALANCER_UNSERVED);
	assert_int_equal(send_datagram(at(CLIENT, 1), at(CLIENT + 1, 1)), BALANCER_UNRELATED);
	assert_int_equal(send_datagram(at(FIRST, 5353), at(CLIENT, 1)), BALANCER_UNRELATED);
	assert_int_equal(send_segment(at(CLIENT, 1), web, A, 1, 1), BALANCER_UNKNOWN);
	assert_int_equal(scene.action, FUNCTION_ANSWERS);
	assert_int_equal(send_segment(at(CLIENT, 1), web, S | F, 1, 1), BALANCER_INVALID);
	assert_int_equal(function__counts(scene.function)->flows, 0);
	close_scene();
	open_scene(&balancer_type, ALL);
	assert_int_equal(send_segment(at(CLIENT, 1), web, A, 1, 1), BALANCER_UNKNOWN);
	assert_int_equal(scene.action, FUNCTION_DROPS);
	close_scene();
}

static void test_errors(void **state)
{
	const struct end client = { CLIENT, 4000 };
	struct end server;

	open_scene(&balancer_type, ALL);
	server = connect_from(client);
	/* Of a router before the client, about an answer. */
	assert_int_equal(send_error(CLIENT + 77, SERVICE, IPPROTO_TCP, web, client),
			 BALANCER_RELATED);
	assert_int_equal(scene.source.address, CLIENT + 77);
	assert_int_equal(scene.destination.address, server.address);
	assert_true(end__equal(&scene.quoted_source, &server));
	assert_true(end__equal(&scene.quoted_destination, &client));
	/* Of the server, or a router before it, about a packet of the client. */
	assert_int_equal(send_error(FIRST + 77, CLIENT, IPPROTO_TCP, client, server),
			 BALANCER_RELATED);
	assert_int_equal(scene.source.address, SERVICE);
	assert_int_equal(scene.destination.address, CLIENT);
	assert_true(end__equal(&scene.quoted_source, &client));
	assert_true(end__equal(&scene.quoted_destination, &web));
	assert_int_equal(send_error(CLIENT + 77, SERVICE, IPPROTO_TCP, web, at(CLIENT, 1)),
			 BALANCER_UNRELATED);
	assert_int_equal(send_error(CLIENT + 77, SERVICE + 1, IPPROTO_TCP, web, client),
			 BALANCER_INVALID);
	close_scene();
}

static void test_spoofed(void **state)
{
	uint8_t frame[200];
	size_t length;

	open_scene(&balancer_type, ALL);
	length = make(frame, IPPROTO_UDP, at(CLIENT, 1), names, 20);
	put16(frame + TCP + 4, 20);
	frame[11] = 0xa; /* from the side of the servers */
	assert_int_equal(take(frame, length, false), BALANCER_SPOOFED);
	frame[11] = 0xb;
	assert_int_equal(take(frame, length, true), BALANCER_INVALID);
	assert_int_equal(take(frame, length, false), BALANCER_TRANSLATED);
	close_scene();
}

static void test_no_server(void **state)
{
	size_t i;

	open_scene(&balancer_type, ALL "refusal: reject\n");
	for (i = 0; i < SERVERS; i++)
		balancer__set_up(scene.function, TCP_FIRST + i, false);
	assert_int_equal(send_segment(at(CLIENT, 1), web, S, 1, 0), BALANCER_DOWN);
	assert_int_equal(scene.action, FUNCTION_ANSWERS);
	/* The other service has servers of its own. */
	assert_int_not_equal(server_of_datagram(1), 0);
	balancer__set_up(scene.function, TCP_FIRST + 2, true);
	for (i = 0; i < 20; i++)
		assert_int_equal(server_of_syn(i), FIRST + 2);
	close_scene();
}

static void test_server_down(void **state)
{
	const struct end client = { CLIENT, 4000 };
	struct end server;
	uint16_t port = 5000;

	/* By default the balancer keeps flows, except connections that open. */
	open_scene(&balancer_type, ALL);
	server = connect_from(client);
	settle();
	while (server_of_syn(++port) != server.address)
		;
	balancer__set_up(scene.function, TCP_FIRST + index_of(server), false);
	assert_null(flow_of(at(CLIENT, port)));
	assert_int_equal(flow_of(client)->state, FLOW_ENTERED);
	assert_int_equal(scene.changes, 0);
	assert_int_not_equal(server_of_syn(port), server.address);
	close_scene();
}

static void test_server_down_ends_flows(void **state)
{
	const struct end client = { CLIENT, 4000 };
	struct end server;
	uint64_t others;

	open_scene(&balancer_type, TCP_SERVICE("", "   when_down: end\n") UDP_SERVICE);
	server = connect_from(client);
	connect_from(at(CLIENT, 4001));
	connect_from(at(CLIENT, 4002));
	settle();
	others = 3 - balancer__flows(scene.function, TCP_FIRST + index_of(server));
	balancer__set_up(scene.function, TCP_FIRST + index_of(server), false);
	assert_int_equal(scene.changes, 3 - others);
	assert_int_equal(send_segment(client, web, A, 101, 701), BALANCER_ENDED);
	settle();
	assert_int_equal(scene.ended, 3 - others);
	assert_int_equal(function__counts(scene.function)->flows, others);
	assert_int_equal(balancer__flows(scene.function, TCP_FIRST + index_of(server)), 0);
	assert_int_equal(send_segment(client, web, A, 101, 701), BALANCER_UNKNOWN);
	server = connect_from(client);
	settle();
	close_scene();
}

/* Without a table flows that end are there until it is back, and their clients do not wait for it. */
static void test_refused_while_ending(void **state)
{
	const struct end client = { CLIENT, 4000 };
	struct end server;

	open_scene(&balancer_type,
		   TCP_SERVICE("", "   when_down: end\n") UDP_SERVICE "refusal: reject\n");
	server = connect_from(client);
	settle();
	lose_table();
	balancer__set_up(scene.function, TCP_FIRST + index_of(server), false);
	assert_int_equal(send_segment(client, web, A, 101, 701), BALANCER_ENDED);
	assert_int_equal(scene.action, FUNCTION_ANSWERS);
	assert_int_equal(send_segment(server, client, A, 701, 101), BALANCER_ENDED);
	assert_int_equal(scene.action, FUNCTION_ANSWERS);
	/* It is sent again. */
	assert_int_equal(send_segment(client, web, S, 9000, 0), BALANCER_ENDED);
	assert_int_equal(scene.action, FUNCTION_DROPS);
	close_scene();
}

static uint64_t broken;

static void look_for_broken(void *subject, const char *group, const char *name, uint64_t count)
{
	if (!strcmp(name, "broken"))
		broken = count;
}

static void test_broken_is_counted(void **state)
{
	open_scene(&balancer_type, ALL);
	assert_int_not_equal(server_of_datagram(1), 0);
	assert_int_not_equal(server_of_datagram(2), 0);
	settle();
	balancer__set_up(scene.function, UDP_FIRST, false);
	balancer__set_up(scene.function, UDP_FIRST + 1, false);
	/* A second time there is nothing left to end. */
	balancer__set_up(scene.function, UDP_FIRST + 1, false);
	function__tell_counts(scene.function, look_for_broken, NULL);
	assert_int_equal(broken, 2);
	assert_int_equal(scene.changes, 2);
	settle();
	assert_int_equal(scene.ended, 2);
	close_scene();
}

static void test_draining(void **state)
{
	const struct end client = { CLIENT, 4000 };
	struct end server;
	uint16_t port;

	open_scene(&balancer_type, ALL);
	server = connect_from(client);
	settle();
	/* The first server drains: its flows go on, and it gets no other ones. */
	set_policy(read_policy(TCP_SERVICE(", drain: true", "") UDP_SERVICE));
	assert_int_equal(scene.changes, 0);
	assert_int_equal(flow_of(client)->state, FLOW_ENTERED);
	assert_int_equal(send_segment(client, web, A, 101, 701), BALANCER_TRANSLATED);
	assert_true(end__equal(&scene.destination, &server));
	for (port = 1; port < 100; port++)
		assert_int_not_equal(server_of_syn(port), FIRST);
	close_scene();
}

static void test_other_servers(void **state)
{
	struct end servers[50];
	unsigned int i, lost = 0;

	open_scene(&balancer_type, ALL);
	for (i = 0; i < 50; i++)
		servers[i] = connect_from(at(CLIENT, 4000 + i));
	settle();
	balancer__set_up(scene.function, TCP_FIRST + 3, false);
	/* Other weights, and no first server any more: its flows end, and all others stay. */
	set_policy(read_policy(
		"services: [{address: 192.0.2.10:80, protocol: tcp, check: {}, servers: ["
		"{address: 10.1.0.4:8080}, {address: 10.1.0.9:8080, weight: 200},"
		"{address: 10.1.0.3:8080, weight: 7}, {address: 10.1.0.2:8080}]}]\n"));
	for (i = 0; i < 50; i++) {
		const bool is_lost = servers[i].address == FIRST;

		lost += is_lost;
		assert_int_equal(send_segment(at(CLIENT, 4000 + i), web, A, 101, 701),
				 is_lost ? BALANCER_ENDED : BALANCER_TRANSLATED);
		if (!is_lost)
			assert_true(end__equal(&scene.destination, &servers[i]));
	}
	assert_in_range(lost, 1, 49);
	assert_int_equal(scene.changes, lost);
	/* A server that was down still is; by their addresses, it is the third one now. */
	assert_true(balancer__is_up(scene.function, 0));
	assert_false(balancer__is_up(scene.function, 2));
	settle();
	assert_int_equal(scene.ended, lost);
	/* Without checks nothing could say that it is up again. */
	set_policy(read_policy("services: [{address: 192.0.2.10:80, protocol: tcp, servers: ["
			       "{address: 10.1.0.4:8080}]}]\n"));
	assert_true(balancer__is_up(scene.function, 0));
	close_scene();
}

/* A server moves to another service while a flow of the first one is still being ended. */
static void test_server_of_another_service(void **state)
{
	const struct end client = { CLIENT, 4000 }, other = { SERVICE + 1, 80 };

	open_scene(&balancer_type, "services: [{address: 192.0.2.10:80, protocol: tcp, servers: "
				   "[{address: 10.1.0.1:8080}]}]\n");
	connect_from(client);
	settle();
	set_policy(read_policy("services: [{address: 192.0.2.11:80, protocol: tcp, servers: "
			       "[{address: 10.1.0.1:8080}]}]\n"));
	assert_int_equal(send_segment(client, other, S, 1, 0), BALANCER_ENDED);
	settle();
	assert_int_equal(send_segment(client, other, S, 1, 0), BALANCER_TRANSLATED);
	close_scene();
}

static void test_limits(void **state)
{
	unsigned int i;

	open_scene(&balancer_type, ALL "flows: 30\nlimits: {flows: 5, opening: 10}\n");
	for (i = 0; i < 5; i++)
		assert_int_not_equal(server_of_datagram(i), 0);
	assert_int_equal(send_datagram(at(CLIENT, 5), names), BALANCER_LIMITED);
	/* A flood of SYN takes the places of connections that open, and of nothing else. */
	for (i = 0; i < 1000; i++)
		assert_int_equal(send_segment(at(CLIENT + 1 + i, 1), web, S, 1, 0),
				 BALANCER_TRANSLATED);
	assert_int_equal(function__counts(scene.function)->flows, 15);
	for (i = 0; i < 15; i++)
		assert_int_equal(send_datagram(at(CLIENT + 1 + i, 1), names), BALANCER_TRANSLATED);
	assert_int_equal(send_datagram(at(CLIENT + 50, 1), names), BALANCER_EXHAUSTED);
	function__close(scene.function, true);
	assert_int_equal(send_datagram(at(CLIENT + 50, 1), names), BALANCER_CLOSED);
	close_scene();
}

static void test_ageing(void **state)
{
	const struct end client = { CLIENT, 4000 }, asker = { CLIENT, 1 };
	struct end server;

	open_scene(&balancer_type, ALL);
	connect_from(client);
	assert_int_not_equal(server_of_datagram(asker.port), 0);
	server = scene.destination;
	settle();
	tick(100);
	settle();
	/* The answer of a server, too, says that a flow is in use. */
	assert_int_equal(send_datagram(server, asker), BALANCER_TRANSLATED);
	assert_int_equal(scene.changes, 1);
	settle();
	tick(100);
	settle();
	tick(100);
	assert_int_equal(scene.ended, 1);
	assert_int_equal(send_datagram(server, asker), BALANCER_UNRELATED);
	assert_int_equal(flow_of(client)->state, FLOW_ENTERED);
	close_scene();
}

static void test_restored(void **state)
{
	const struct end client = { CLIENT, 4000 };
	struct flow_record record = { IPPROTO_TCP, { FIRST, 8080 }, web, client };

	open_scene(&balancer_type, ALL);
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	assert_int_equal(function__restore(scene.function, &record, 0), -EEXIST);
	assert_int_equal(flow_of(client)->state, FLOW_ENTERING);
	assert_int_equal(send_segment(client, web, A, 12345, 67890), BALANCER_TRANSLATED);
	assert_int_equal(scene.destination.address, FIRST);
	assert_int_equal(balancer__flows(scene.function, TCP_FIRST), 1);
	/* Another one was closed. */
	record.remote.port = 4001;
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	function__restore_closure(scene.function, &record, FLOW_CLOSED, 0);
	assert_int_equal(flow_of(record.remote)->state, FLOW_ASKED);
	assert_int_equal(send_segment(record.remote, web, A, 1, 1), BALANCER_TRANSLATED);
	assert_int_equal(flow_of(record.remote)->state, FLOW_ASKED);
	function__forget(scene.function, &record);
	record.remote.port = 4000;
	/* The end of that one was lost: the client has another server since. */
	record.inside.address++;
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	assert_int_equal(send_segment(client, web, A, 12345, 67890), BALANCER_TRANSLATED);
	assert_int_equal(scene.destination.address, FIRST + 1);
	assert_int_equal(function__counts(scene.function)->flows, 1);
	/* A server that the policy has no longer: the flow is about to end. */
	record.inside.address = FIRST + 77;
	record.remote.port++;
	assert_int_equal(function__restore(scene.function, &record, 0), 0);
	assert_int_equal(send_segment(record.remote, web, A, 1, 1), BALANCER_ENDED);
	record.protocol = IPPROTO_ICMP;
	assert_int_equal(function__restore(scene.function, &record, 0), -EINVAL);
	close_scene();
}

static void test_comparison(void **state)
{
	static const uint8_t stray[FLOW_VALUE_MAX] = { 192, 0, 2, 10, 0, 80, 1 };
	static const uint8_t foreign[FLOW_VALUE_MAX] = { 192, 0, 2, 99, 0, 80, 1 };
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	const struct end client = { CLIENT, 4000 };

	open_scene(&balancer_type, ALL);
	connect_from(client);
	settle();
	function__entry(scene.function, flow_of(client), FLOW_OUT, key, value);
	assert_true(function__see(scene.function, key, value));
	function__entry(scene.function, flow_of(client), FLOW_BACK, key, value);
	value[3] ^= 1; /* another server */
	assert_false(function__see(scene.function, key, value));
	key[0] = 11; /* no flow */
	assert_false(function__see(scene.function, key, value));
	assert_false(function__see(scene.function, key, stray));
	assert_true(function__see(scene.function, key, foreign));
	function__compare(scene.function);
	assert_int_equal(scene.changes, 1);
	settle();
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a connection gets a server, and two entries when it is established",
		     test_connection),
		TEST("a closed connection leaves the table, and ends", test_closed_connection),
		TEST("a connection that the server refuses leaves nothing",
		     test_refused_connection),
		TEST("flows are shared out, alike in all processes", test_choices),
		TEST("packets to no service are dropped", test_unserved),
		TEST("an ICMP error comes with the packet that its receiver sent", test_errors),
		TEST("damaged and spoofed packets are dropped", test_spoofed),
		TEST("without a server that is up, packets are refused", test_no_server),
		TEST("flows of a server that is down stay, except connections that open",
		     test_server_down),
		TEST("flows of a server that is down end if the policy says so",
		     test_server_down_ends_flows),
		TEST("their clients are refused while they end, whether or not there is a table",
		     test_refused_while_ending),
		TEST("flows that end so are counted", test_broken_is_counted),
		TEST("a server that drains keeps its flows, and gets no other ones", test_draining),
		TEST("flows keep their servers under another policy", test_other_servers),
		TEST("a server of another service gets no flow that is in the way",
		     test_server_of_another_service),
		TEST("flows and connections that open are limited", test_limits),
		TEST("idle flows end", test_ageing),
		TEST("flows of an earlier process are known", test_restored),
		TEST("a comparison removes entries of lost flows", test_comparison),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
