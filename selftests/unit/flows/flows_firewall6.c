// SPDX-License-Identifier: GPL-2.0-only
/* The firewall with IPv6 beside IPv4: connections, errors, rules, keys and names. */
#include <errno.h>

#define BASE                                                              \
	"function: firewall\ninterface: eth1\ntable: firewall6\n"         \
	"families: both\naddress6: 2001:db8::1\n"                         \
	"routes:\n"                                                       \
	" - {prefix: '2001:db8:1::/48', mac: 02:00:00:00:00:0a}\n"        \
	" - {prefix: '::/0', mac: 02:00:00:00:00:0b}\n"                   \
	" - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}\n"               \
	" - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}\n"                \
	"zones:\n"                                                        \
	" - {name: inside, addresses: ['2001:db8:1::/48', 10.0.0.0/8]}\n" \
	" - {name: outside, addresses: ['::/0', 0.0.0.0/0]}\n"            \
	"timeouts: {tcp: 1000s, udp: 100s, icmp: 10s, transitory: 50s}\n"

#include "flows_scene.h"
#include "tools/flows/firewall/firewall.h"

#define RULES                              \
	"rules:\n"                         \
	" - {from: inside, to: outside}\n" \
	" - {from: outside, to: inside, protocol: tcp, ports: [22], action: reject}\n"

static struct end client, server; /* 2001:db8:1::9 and 2001:db8:2::1 */
static const struct end client_4 = { 0x0a000001, 4000 }, server_4 = { 0xc6336401, 80 };

static int set_ends(void **state)
{
	const char *texts[] = { "[2001:db8:1::9]:4000", "[2001:db8:2::1]:80" };

	return end__parse(texts[0], &client) && end__parse(texts[1], &server) ? 0 : -1;
}

static void connect_tcp(struct end one, struct end other)
{
	assert_int_equal(send_segment(one, other, S, 100, 0), FIREWALL_PASSED);
	assert_int_equal(send_segment(other, one, S | A, 700, 101), FIREWALL_PASSED);
	assert_int_equal(send_segment(one, other, A, 101, 701), FIREWALL_PASSED);
}

static struct flow *flow_of(uint8_t protocol)
{
	return function__find(scene.function, protocol, &client, &server);
}

static void test_connection(void **state)
{
	open_scene(&firewall_type, RULES);
	connect_tcp(client, server);
	settle();
	assert_int_equal(flow_of(IPPROTO_TCP)->state, FLOW_ENTERED);
	assert_int_equal(send_segment(client, server, F | A, 101, 701), FIREWALL_PASSED);
	assert_int_equal(send_segment(server, client, F | A, 701, 102), FIREWALL_PASSED);
	settle();
	assert_int_equal(flow_of(IPPROTO_TCP)->state, FLOW_ASKED);
	/* A flow of IPv4 with the same ports is another one. */
	assert_int_equal(send_segment(server_4, client_4, A, 1, 1), FIREWALL_UNKNOWN);
	connect_tcp(client_4, server_4);
	assert_int_equal(function__counts(scene.function)->flows, 2);
	close_scene();
}

static void test_rules(void **state)
{
	open_scene(&firewall_type, RULES);
	assert_int_equal(send_segment(server, client, S, 1, 0), FIREWALL_DROPPED);
	assert_int_equal(send_segment(server, at(client.address, 22), S, 1, 0), FIREWALL_REJECTED);
	assert_int_equal(scene.action, FUNCTION_ANSWERS);
	assert_int_equal(send_datagram(server, client), FIREWALL_DROPPED);
	assert_int_equal(send_datagram(client, server), FIREWALL_PASSED);
	assert_int_equal(send_datagram(server, client), FIREWALL_PASSED);
	close_scene();
	/* Limits are of a host, by its whole address. */
	open_scene(&firewall_type, RULES "limits: {flows: 1}\n");
	assert_int_equal(send_datagram(client, server), FIREWALL_PASSED);
	assert_int_equal(send_datagram(at(client.address, 5), server), FIREWALL_LIMITED);
	assert_int_equal(send_datagram(at(client.address + ((address_t)1 << 64), 5), server),
			 FIREWALL_PASSED);
	close_scene();
}

static void test_pseudo_connections(void **state)
{
	const struct end echo = { client.address, 77 }, host = { server.address, 0 };

	open_scene(&firewall_type, RULES);
	assert_int_equal(send_echo(host, echo, true), FIREWALL_UNKNOWN);
	assert_int_equal(send_echo(echo, host, false), FIREWALL_PASSED);
	assert_int_equal(send_echo(host, echo, true), FIREWALL_PASSED);
	assert_int_equal(send_echo(host, at(client.address, 78), true), FIREWALL_UNKNOWN);
	assert_int_equal(scene.changes, 0);
	assert_int_equal(send_error(server.address + 7, client.address, IPPROTO_ICMP, echo, host),
			 FIREWALL_RELATED);
	tick(10);
	assert_null(function__find(scene.function, IPPROTO_ICMP, &echo, &host));
	close_scene();
}

static void test_errors(void **state)
{
	const address_t router = server.address + 7;

	open_scene(&firewall_type, RULES);
	assert_int_equal(send_error(router, client.address, IPPROTO_TCP, client, server),
			 FIREWALL_UNKNOWN);
	connect_tcp(client, server);
	assert_int_equal(send_error(router, client.address, IPPROTO_TCP, client, server),
			 FIREWALL_RELATED);
	assert_int_equal(send_error(router, client.address + 1, IPPROTO_TCP, client, server),
			 FIREWALL_INVALID);
	assert_int_equal(send_error(router, client.address, IPPROTO_TCP, client,
				    at(server.address, 81)),
			 FIREWALL_UNKNOWN);
	close_scene();
}

static void test_spoofed(void **state)
{
	uint8_t frame[200];
	size_t length;

	open_scene(&firewall_type, RULES);
	length = make(frame, IPPROTO_UDP, client, server, 20);
	put16(transport_of(frame) + 4, 20);
	frame[11] = 0xb;
	assert_int_equal(take(frame, length, false), FIREWALL_SPOOFED);
	frame[11] = 0xa;
	assert_int_equal(take(frame, length, false), FIREWALL_PASSED);
	assert_int_equal(take(frame, length, true), FIREWALL_INVALID);
	close_scene();
}

/* The key that firewall6.p4 looks up, of 37 bytes: source, destination, ports and protocol. */
static void test_keys(void **state)
{
	static const uint8_t out[FLOW_KEY_LENGTH_6] = {
		0x20, 1, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0x20, 1, 0x0d,
		0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x0f, 0xa0, 0, 80, 6,
	}, back_4[FLOW_KEY_LENGTH_6] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100, 1, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1, 0, 80, 0x0f, 0xa0, 6,
	};
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	const uint8_t tracked = 4;

	open_scene(&firewall_type, RULES);
	assert_int_equal(function__key_length(scene.function), FLOW_KEY_LENGTH_6);
	assert_int_equal(function__value_length(scene.function), 1);
	connect_tcp(client, server);
	connect_tcp(client_4, server_4);
	settle();
	function__entry(scene.function, flow_of(IPPROTO_TCP), FLOW_OUT, key, value);
	assert_memory_equal(key, out, sizeof(out));
	assert_int_equal(*value, tracked);
	assert_true(function__see(scene.function, key, value));
	function__entry(scene.function,
			function__find(scene.function, IPPROTO_TCP, &client_4, &server_4),
			FLOW_BACK, key, value);
	assert_memory_equal(key, back_4, sizeof(back_4));
	assert_true(function__see(scene.function, key, value));
	/* A packet without a flow; then an address below 2^32, which is not read as IPv4. */
	key[15]++;
	assert_false(function__see(scene.function, key, &tracked));
	key[15]--;
	memset(key, 0, 12);
	assert_true(function__see(scene.function, key, &tracked));
	close_scene();
}

static void test_names(void **state)
{
	struct flow_names names;
	struct flow *flow;

	open_scene(&firewall_type, RULES);
	send_datagram(client, server);
	flow = function__find_named(scene.function, "udp", "[2001:db8:1:0:0::9]:4000",
				    "[2001:db8:2::1]:80");
	assert_ptr_equal(flow, flow_of(IPPROTO_UDP));
	function__names(scene.function, flow, &names);
	assert_string_equal(names.inside, "[2001:db8:1::9]:4000");
	assert_string_equal(names.remote, "[2001:db8:2::1]:80");
	assert_null(function__find_named(scene.function, "udp", "2001:db8:1::9:4000",
					 "[2001:db8:2::1]:80"));
	close_scene();
}

static void test_restored(void **state)
{
	struct recorded recorded;
	struct flow_record mixed;

	open_scene(&firewall_type, RULES);
	connect_tcp(client, server);
	settle();
	recorded = recorded_of(flow_of(IPPROTO_TCP));
	restart(&firewall_type, &recorded);
	assert_int_equal(send_segment(server, client, A, 701, 101), FIREWALL_PASSED);
	mixed = recorded.record;
	mixed.remote = server_4;
	assert_int_equal(function__restore(scene.function, &mixed, scene.now), -EINVAL);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a connection of IPv6 is entered, and leaves when it closes", test_connection),
		TEST("rules and limits are about whole addresses", test_rules),
		TEST("echoes of ICMPv6 make pseudo-connections", test_pseudo_connections),
		TEST("an error of ICMPv6 passes if it quotes a flow", test_errors),
		TEST("spoofed and damaged packets of IPv6 are dropped", test_spoofed),
		TEST("keys have the bytes that the P4 program firewall6 reads", test_keys),
		TEST("flows are named and found by addresses of IPv6", test_names),
		TEST("a flow of an earlier process is known", test_restored),
	};

	return cmocka_run_group_tests(tests, set_ends, NULL);
}
