// SPDX-License-Identifier: GPL-2.0-only
/* The load balancer with IPv6 beside IPv4: translation, entries, errors and the past. */
#include <errno.h>

#define BASE                                                                    \
	"function: balancer\ninterface: eth1\ntable: t\nfamilies: both\n"       \
	"routes:\n"                                                             \
	" - {prefix: '2001:db8:1::/48', mac: 02:00:00:00:00:0a}\n"              \
	" - {prefix: '::/0', mac: 02:00:00:00:00:0b}\n"                         \
	" - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}\n"                     \
	" - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}\n"                      \
	"services:\n"                                                           \
	" - {address: '[2001:db8::10]:80', protocol: tcp, servers: [{address: " \
	"'[2001:db8:1::1]:8080'}, {address: '[2001:db8:1::2]:8080'}]}\n"        \
	" - {address: '[2001:db8::10]:53', protocol: udp, servers: [{address: " \
	"'[2001:db8:1::1]:5353'}]}\n"                                           \
	" - {address: 192.0.2.10:80, protocol: tcp, servers: [{address: 10.1.0.1:8080}]}\n"

#include "flows_scene.h"
#include "tools/flows/balancer/balancer.h"

static struct end client, web, names, first;
static const struct end client_4 = { 0xc6336401, 4000 }, web_4 = { 0xc000020a, 80 },
			server_4 = { 0x0a010001, 8080 };

static int set_ends(void **state)
{
	return end__parse("[2001:db8:9::7]:4000", &client) &&
			       end__parse("[2001:db8::10]:80", &web) &&
			       end__parse("[2001:db8::10]:53", &names) &&
			       end__parse("[2001:db8:1::1]:8080", &first) ?
		       0 :
		       -1;
}

/* Opens a connection; returns its server. */
static struct end connect_from(struct end one, struct end service)
{
	struct end server;

	assert_int_equal(send_segment(one, service, S, 100, 0), BALANCER_TRANSLATED);
	server = scene.destination;
	assert_int_equal(send_segment(server, one, S | A, 700, 101), BALANCER_TRANSLATED);
	assert_true(end__equal(&scene.source, &service));
	assert_int_equal(send_segment(one, service, A, 101, 701), BALANCER_TRANSLATED);
	assert_true(end__equal(&scene.destination, &server));
	return server;
}

static void test_translation(void **state)
{
	unsigned int counts[2] = {}, i;
	struct end server;

	open_scene(&balancer_type, "");
	for (i = 0; i < 60; i++) {
		server = connect_from(at(client.address, 4000 + i), web);
		assert_int_equal(server.port, 8080);
		assert_true(server.address == first.address ||
			    server.address == first.address + 1);
		counts[server.address - first.address]++;
	}
	assert_true(counts[0] >= 15 && counts[1] >= 15);
	server = connect_from(client_4, web_4);
	assert_true(end__equal(&server, &server_4));
	assert_int_equal(send_datagram(client, names), BALANCER_TRANSLATED);
	assert_int_equal(scene.destination.port, 5353);
	assert_int_equal(send_segment(client, at(web.address, 81), S, 1, 0), BALANCER_UNSERVED);
	close_scene();
}

/* The key and the value that nat6.p4 looks up, of 37 and 19 bytes. */
static void test_entries(void **state)
{
	static const uint8_t key_back[FLOW_KEY_LENGTH_6] = {
		0x20, 1, 0x0d, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0x20, 1, 0x0d,
		0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x0f, 0xa0, 0, 53, 17,
	}, value_back[FLOW_NAT_LENGTH_6] = {
		0x20, 1, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x14, 0xe9, 0,
	}, value_out[FLOW_NAT_LENGTH_6] = {
		0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 53, 1,
	}, value_4[FLOW_NAT_LENGTH_6] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 10, 0, 80, 3,
	};
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	struct flow *flow;

	open_scene(&balancer_type, "");
	assert_int_equal(function__value_length(scene.function), FLOW_NAT_LENGTH_6);
	send_datagram(client, names);
	connect_from(client_4, web_4);
	settle();
	flow = function__find(scene.function, IPPROTO_UDP, &names, &client);
	function__entry(scene.function, flow, FLOW_BACK, key, value);
	assert_memory_equal(key, key_back, sizeof(key_back));
	assert_memory_equal(value, value_back, sizeof(value_back));
	assert_true(function__see(scene.function, key, value));
	function__entry(scene.function, flow, FLOW_OUT, key, value);
	assert_memory_equal(value, value_out, sizeof(value_out));
	assert_true(function__see(scene.function, key, value));
	/* Of no flow, but from a service: it is one of a lost flow, others are the operator's. */
	key[31]++;
	assert_false(function__see(scene.function, key, value));
	value[15]++;
	assert_true(function__see(scene.function, key, value));
	flow = function__find(scene.function, IPPROTO_TCP, &web_4, &client_4);
	function__entry(scene.function, flow, FLOW_OUT, key, value);
	assert_memory_equal(value, value_4, sizeof(value_4));
	assert_true(function__see(scene.function, key, value));
	close_scene();
}

static void test_errors(void **state)
{
	struct end server;

	open_scene(&balancer_type, "");
	server = connect_from(client, web);
	/* Of a router before the client, about an answer; and of the server. */
	assert_int_equal(send_error(client.address + 77, web.address, IPPROTO_TCP, web, client),
			 BALANCER_RELATED);
	assert_true(scene.destination.address == server.address);
	assert_true(end__equal(&scene.quoted_source, &server));
	assert_int_equal(send_error(server.address, client.address, IPPROTO_TCP, client, server),
			 BALANCER_RELATED);
	assert_true(scene.source.address == web.address);
	assert_true(end__equal(&scene.quoted_destination, &web));
	close_scene();
}

static void test_limits(void **state)
{
	address_t network;
	unsigned int i;

	open_scene(&balancer_type, "limits: {flows: 5}\n");
	network = client.address >> 64 << 64;
	for (i = 0; i < 5; i++)
		assert_int_equal(send_datagram(at(network + 1 + ((address_t)i << 60), 1), names),
				 BALANCER_TRANSLATED);
	assert_int_equal(send_datagram(at(network + 99, 1), names), BALANCER_LIMITED);
	assert_int_equal(send_datagram(at(network + ((address_t)1 << 64) + 1, 1), names),
			 BALANCER_TRANSLATED);
	for (i = 0; i < 6; i++)
		assert_int_equal(send_segment(at(client_4.address + i, 1), web_4, S, 1, 0),
				 BALANCER_TRANSLATED);
	close_scene();
}

static void test_restored(void **state)
{
	struct recorded recorded;
	struct flow_record mixed;

	open_scene(&balancer_type, "");
	connect_from(client, web);
	settle();
	recorded = recorded_of(function__find(scene.function, IPPROTO_TCP, &web, &client));
	restart(&balancer_type, &recorded);
	assert_int_equal(send_segment(client, web, A, 101, 701), BALANCER_TRANSLATED);
	mixed = recorded.record;
	mixed.inside = server_4;
	assert_int_equal(function__restore(scene.function, &mixed, scene.now), -EINVAL);
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("packets of both families get servers of their own, and answers the service",
		     test_translation),
		TEST("entries have the bytes that the P4 program nat6 reads", test_entries),
		TEST("errors of ICMPv6 are translated with the packet that they quote",
		     test_errors),
		TEST("a client with many addresses of one network of IPv6 has the limit of one",
		     test_limits),
		TEST("a flow of an earlier process keeps its server", test_restored),
	};

	return cmocka_run_group_tests(tests, set_ends, NULL);
}
