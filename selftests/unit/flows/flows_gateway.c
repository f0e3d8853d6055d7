// SPDX-License-Identifier: GPL-2.0-only
/* Tunnels of a gateway: packets that are moved, answers inside, and tunnels that come and go. */
#include <errno.h>

#define BASE                                                                     \
	"function: gateway\ninterface: eth1\ntable: gateway\ntunnels: /t.yaml\n" \
	"flows: 20\nroutes:\n"                                                   \
	" - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}\n"                      \
	" - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}\n"

#include "flows_scene.h"
#include "tools/flows/gateway/gateway.h"

#define OFFICE 0x0a000002 /* 10.0.0.2 */
#define SWITCH 0xc0000201 /* 192.0.2.1 */
#define SERVER 0xc6336402 /* 198.51.100.2 */
#define CLIENT 0xac100002 /* 172.16.0.2 */
#define GATEWAY 0xac100001 /* 172.16.0.1 */
#define MACHINE 0xac100902 /* 172.16.9.2 */
#define VXLAN (TCP + 8)
#define INSIDE (VXLAN + 8) /* Ethernet */
#define PAYLOAD (INSIDE + 14)
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_IPV6 0x86dd
#define TENANT                                                                 \
	"tenants:\n - {vni: 5001, gateway: 172.16.0.1, gateway6: 'fd00::1',\n" \
	"    mac: '02:00:00:00:50:01', machines: [\n"                          \
	"     {address: 172.16.9.2, server: 198.51.100.2, vni: 9001}"
#define END "]}\n"

static uint8_t frame[2000], answer[PACKET_ANSWER_MAX];
static struct packet packet;
static unsigned int verdict;

static struct policy *with_tunnels(const char *rest, const char *tunnels)
{
	struct policy *policy = read_policy(rest);
	struct dart_error error;

	if (policy__parse_tunnels(policy, tunnels, strlen(tunnels), "t.yaml", &error))
		fail_msg("%s", error.text);
	return policy;
}

static void open_gateway(const char *rest, const char *tunnels)
{
	struct dart_error error;

	memset(&scene, 0, sizeof(scene));
	scene.now = SECOND;
	scene.policy = with_tunnels(rest, tunnels);
	assert_int_equal(function__new(&gateway_type, scene.policy, &handlers, NULL,
				       &scene.function, &error),
			 0);
}

static void open_entered(void)
{
	open_gateway("", TENANT END);
	function__compare(scene.function);
	settle();
}

static uint16_t get16(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static uint32_t get32(const uint8_t *bytes)
{
	return (uint32_t)get16(bytes) << 16 | get16(bytes + 2);
}

/* RFC 1071. */
static uint16_t sum_of(const uint8_t *bytes, size_t length, uint32_t sum)
{
	size_t i;

	for (i = 0; i < length; i++)
		sum += i & 1 ? bytes[i] : bytes[i] << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* A frame of the office, with @length bytes after the Ethernet header inside, which are zero. */
static size_t wrap(uint32_t vni, uint16_t type, size_t length)
{
	const size_t tunnel = 8 + 8 + 14 + length;
	const size_t whole = make(frame, IPPROTO_UDP, at(OFFICE, 50000), at(SWITCH, 4789), tunnel);

	put16(frame + TCP + 4, tunnel);
	frame[VXLAN] = 8;
	put32(frame + VXLAN + 4, vni << 8);
	frame[INSIDE] = 2;
	frame[INSIDE + 6] = 2;
	frame[INSIDE + 11] = 0x77; /* the client */
	put16(frame + INSIDE + 12, type);
	return whole;
}

/* The function takes the frame, and the packet is what leaves. */
static enum function_action take_frame(size_t length)
{
	const struct function_counts before = *function__counts(scene.function);
	enum function_action action;

	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	packet__complete(&packet);
	action = function__take(scene.function, &packet, scene.now);
	for (verdict = 0;
	     function__counts(scene.function)->verdicts[verdict] == before.verdicts[verdict];)
		verdict++;
	if (action == FUNCTION_ANSWERS && !function__answer(scene.function, &packet, answer))
		return FUNCTION_DROPS;
	if (action != FUNCTION_DROPS)
		assert_true(packet__is_sound(&packet));
	return action;
}

/* An IPv4 header inside, of a packet from the client, with @length bytes after it. */
static size_t wrap_ipv4(uint32_t destination, uint8_t protocol, size_t length)
{
	const size_t whole = wrap(5001, ETHERTYPE_IPV4, 20 + length);
	uint8_t *ip = frame + PAYLOAD;

	ip[0] = 0x45;
	put16(ip + 2, 20 + length);
	put16(ip + 6, 0x4000);
	ip[8] = 64;
	ip[9] = protocol;
	put32(ip + 12, CLIENT);
	put32(ip + 16, destination);
	put16(ip + 10, ~sum_of(ip, 20, 0));
	return whole;
}

static void test_moved(void **state)
{
	uint8_t before[2000];
	size_t length;

	open_entered();
	length = wrap_ipv4(MACHINE, IPPROTO_UDP, 100);
	memcpy(before, frame, length);
	assert_int_equal(take_frame(length), FUNCTION_PASSES);
	assert_int_equal(verdict, GATEWAY_MOVED);
	assert_int_equal(packet.destination.address, SERVER);
	assert_int_equal(packet.source.address, OFFICE);
	assert_int_equal(get32(frame + VXLAN + 4), 9001 << 8);
	assert_true(packet.source.port >= 49152);
	assert_int_equal(packet.source.port, tunnel__port(50000, CLIENT, MACHINE, IPPROTO_UDP));
	/* The frame inside stays as it is. */
	assert_memory_equal(frame + INSIDE, before + INSIDE, length - INSIDE);
	close_scene();
}

static void test_ports(void **state)
{
	unsigned int seen = 0, i;
	bool is_seen[16384] = {};

	assert_int_equal(tunnel__port(0, 0, 0, 0), 49152);
	/* By a table of CRC-16/ARC. */
	assert_int_equal(tunnel__port(50000, CLIENT, MACHINE, IPPROTO_UDP), 55768);
	for (i = 0; i < 10000; i++) {
		const uint16_t port = tunnel__port(50000, CLIENT + i / 100, MACHINE + i % 100, 6);

		assert_true(port >= 49152);
		seen += !is_seen[port - 49152];
		is_seen[port - 49152] = true;
	}
	/* A CRC is linear, so hosts with neighbouring addresses have fewer than by chance. */
	assert_true(seen > 3000);
}

static void test_no_tunnel(void **state)
{
	size_t length;

	open_entered();
	assert_int_equal(take_frame(wrap_ipv4(MACHINE + 1, IPPROTO_UDP, 100)), FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_UNKNOWN);
	length = wrap_ipv4(MACHINE, IPPROTO_UDP, 100);
	put32(frame + VXLAN + 4, 5002 << 8);
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_FOREIGN);
	length = wrap_ipv4(MACHINE, IPPROTO_UDP, 100);
	frame[VXLAN] = 0xf7;
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_KEYLESS);
	length = wrap_ipv4(MACHINE, IPPROTO_UDP, 100);
	frame[11] = 0xb;
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_SPOOFED);
	/* Damaged inside. */
	length = wrap_ipv4(MACHINE, IPPROTO_UDP, 100);
	frame[PAYLOAD + 8]++;
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_KEYLESS);
	close_scene();
}

/* Each header may end anywhere. */
static void test_cut(void **state)
{
	size_t length, whole;

	open_entered();
	for (length = 0; length < 60; length++) {
		whole = wrap_ipv4(MACHINE, IPPROTO_ICMP, 40);
		put16(frame + TCP + 4, 8 + length);
		if (take_frame(whole) == FUNCTION_PASSES)
			assert_true(length >= 8 + 14 + 60);
	}
	close_scene();
}

static void test_refused(void **state)
{
	const uint8_t *ip = answer + PAYLOAD;
	size_t length;

	open_gateway("refusal: reject\n", TENANT END);
	length = wrap_ipv4(MACHINE + 1, IPPROTO_UDP, 1000);
	assert_int_equal(take_frame(length), FUNCTION_ANSWERS);
	assert_true(packet.length <= PACKET_ANSWER_MAX);
	assert_int_equal(packet.source.address, SWITCH);
	assert_int_equal(packet.destination.address, OFFICE);
	assert_int_equal(packet.destination.port, 4789);
	assert_int_equal(get32(answer + VXLAN + 4), 5001 << 8);
	assert_int_equal(answer[INSIDE + 5], 0x77);
	assert_int_equal(get32(ip + 12), GATEWAY);
	assert_int_equal(get32(ip + 16), CLIENT);
	assert_int_equal(sum_of(ip, 20, 0), 0xffff);
	assert_int_equal(get16(ip + 20), 3 << 8 | 1);
	assert_int_equal(sum_of(ip + 20, get16(ip + 2) - 20, 0), 0xffff);
	assert_memory_equal(ip + 28, frame + PAYLOAD, get16(ip + 2) - 28);
	/* An error gets no error. */
	length = wrap_ipv4(MACHINE + 1, IPPROTO_ICMP, 100);
	frame[PAYLOAD + 20] = 3;
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	assert_int_equal(take_frame(wrap_ipv4(0xffffffff, IPPROTO_UDP, 100)), FUNCTION_DROPS);
	close_scene();
}

/* The packet that is quoted may have been cut before. */
static void test_mtu(void **state)
{
	const uint8_t *ip = answer + PAYLOAD;
	size_t length;

	open_entered();
	length = wrap_ipv4(MACHINE, IPPROTO_UDP, 1400);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	packet.length = PACKET_ANSWER_MAX;
	assert_true(function__tell_mtu(scene.function, &packet, 1000, answer));
	assert_int_equal(packet.length, IP + PACKET_LEAST_4);
	assert_int_equal(get16(ip + 20), 3 << 8 | 4);
	assert_int_equal(get16(ip + 26), 950);
	assert_int_equal(sum_of(ip + 20, get16(ip + 2) - 20, 0), 0xffff);
	length = wrap_ipv4(MACHINE, IPPROTO_UDP, 1400);
	put16(frame + PAYLOAD + 6, 0);
	put16(frame + PAYLOAD + 10, 0);
	put16(frame + PAYLOAD + 10, ~sum_of(frame + PAYLOAD, 20, 0));
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	assert_false(function__tell_mtu(scene.function, &packet, 1000, answer));
	close_scene();
}

static void test_arp(void **state)
{
	static const uint8_t request[] = { 0,	1,  8, 0, 6, 4, 0, 1, 2, 0, 0,	 0,  0, 0x77,
					   172, 16, 0, 2, 0, 0, 0, 0, 0, 0, 172, 16, 0, 1 };
	static const uint8_t reply[] = { 0,   1,  8, 0, 6, 4, 0, 2, 2, 0,    0,	  0,  0x50, 1,
					 172, 16, 0, 1, 2, 0, 0, 0, 0, 0x77, 172, 16, 0,    2 };
	size_t length;

	open_entered();
	length = wrap(5001, ETHERTYPE_ARP, sizeof(request));
	memcpy(frame + PAYLOAD, request, sizeof(request));
	assert_int_equal(take_frame(length), FUNCTION_ANSWERS);
	assert_int_equal(verdict, GATEWAY_RESOLVED);
	assert_memory_equal(answer + PAYLOAD, reply, sizeof(reply));
	assert_int_equal(packet.length, length);
	length = wrap(5001, ETHERTYPE_ARP, sizeof(request));
	memcpy(frame + PAYLOAD, request, sizeof(request));
	frame[PAYLOAD + 27] = 9;
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_KEYLESS);
	close_scene();
}

/* A solicitation of fd00::1, of this host; 0: it asks whether the address is free. */
static size_t wrap_solicitation(uint8_t host)
{
	const size_t whole = wrap(5001, ETHERTYPE_IPV6, 64);
	uint8_t *ip = frame + PAYLOAD;

	ip[0] = 6 << 4;
	put16(ip + 4, 24);
	ip[6] = IPPROTO_ICMPV6;
	ip[7] = 255;
	ip[8] = host ? 0xfd : 0;
	ip[23] = host;
	put16(ip + 24, 0xff02);
	ip[39] = 1;
	ip[40] = 135;
	ip[48] = 0xfd;
	ip[63] = 1;
	put16(ip + 42, ~sum_of(ip + 8, 32 + 24, 24 + IPPROTO_ICMPV6));
	return whole;
}

static void test_solicitation(void **state)
{
	const uint8_t *ip = answer + PAYLOAD;
	size_t length;

	open_entered();
	assert_int_equal(take_frame(wrap_solicitation(2)), FUNCTION_ANSWERS);
	assert_int_equal(verdict, GATEWAY_RESOLVED);
	assert_int_equal(ip[40], 136);
	assert_int_equal(ip[44], 0xe0);
	assert_int_equal(ip[39], 2);
	assert_int_equal(get32(ip + 64), 2 << 24 | 1 << 16 | 0x0200);
	assert_int_equal(sum_of(ip + 8, 32 + 32, 32 + IPPROTO_ICMPV6), 0xffff);
	assert_int_equal(take_frame(wrap_solicitation(0)), FUNCTION_ANSWERS);
	assert_int_equal(get16(ip + 24), 0xff02);
	assert_int_equal(ip[44], 0xa0);
	/* Of another address, and damaged. */
	length = wrap_solicitation(2);
	frame[PAYLOAD + 63] = 2;
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	length = wrap_solicitation(2);
	frame[PAYLOAD + 7] = 254;
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	close_scene();
}

static void test_echo(void **state)
{
	size_t length;

	open_entered();
	length = wrap_ipv4(GATEWAY, IPPROTO_ICMP, 64);
	frame[PAYLOAD + 20] = 8;
	put16(frame + PAYLOAD + 22, ~(8 << 8));
	assert_int_equal(take_frame(length), FUNCTION_ANSWERS);
	assert_int_equal(verdict, GATEWAY_ECHOED);
	assert_int_equal(answer[PAYLOAD + 20], 0);
	assert_int_equal(sum_of(answer + PAYLOAD + 20, 64, 0), 0xffff);
	length = wrap_ipv4(GATEWAY, IPPROTO_ICMP, 1400);
	frame[PAYLOAD + 20] = 8;
	put16(frame + PAYLOAD + 22, ~(8 << 8));
	assert_int_equal(take_frame(length), FUNCTION_DROPS);
	close_scene();
}

/* ---- tunnels */

static bool see(uint32_t machine, uint32_t vni)
{
	uint8_t key[FLOW_KEY_MAX] = { 0, 0x13, 0x89 }, value[FLOW_VALUE_MAX];

	put32(key + 3, machine);
	put32(value, SERVER);
	put16(value + 4, vni >> 8);
	value[6] = vni;
	return function__see(scene.function, key, value);
}

static void test_comparison(void **state)
{
	open_gateway("", TENANT ",{address: 172.16.9.3, server: 198.51.100.2, vni: 9003}" END);
	assert_int_equal(function__key_length(scene.function), 7);
	assert_true(see(MACHINE, 9001));
	assert_false(see(MACHINE + 1, 9001));
	assert_false(see(MACHINE + 2, 9001));
	function__compare(scene.function);
	/* Both are entering, so both are written. */
	assert_int_equal(scene.changes, 2);
	settle();
	assert_int_equal(function__counts(scene.function)->by_state[FLOW_ENTERED], 2);
	assert_true(see(MACHINE, 9001));
	function__compare(scene.function);
	assert_int_equal(scene.changes, 1);
	settle();
	tick(7 * 24 * 3600);
	assert_int_equal(scene.changes, 0);
	assert_int_equal(function__counts(scene.function)->flows, 2);
	assert_int_equal(scene.begun + scene.ended, 0);
	close_scene();
}

static void test_reload(void **state)
{
	open_entered();
	set_policy(with_tunnels("", TENANT ",{address: 172.16.9.3, server: 198.51.100.2}" END));
	assert_int_equal(scene.changes, 1);
	settle();
	assert_true(see(MACHINE + 1, 5001));
	/* Another tunnel, and one less. */
	set_policy(with_tunnels("", "tenants: [{vni: 5001, machines: [\n"
				    "{address: 172.16.9.2, server: 198.51.100.2, vni: 9002}]}]"));
	assert_int_equal(scene.changes, 2);
	assert_int_equal(take_frame(wrap_ipv4(MACHINE + 1, IPPROTO_UDP, 10)), FUNCTION_DROPS);
	/* Before dartd has removed it, it is there again. */
	set_policy(with_tunnels("", TENANT ",{address: 172.16.9.3, server: 198.51.100.2}" END));
	settle();
	assert_int_equal(function__counts(scene.function)->by_state[FLOW_ENTERED], 2);
	assert_true(see(MACHINE, 9001));
	set_policy(with_tunnels("", ""));
	settle();
	assert_int_equal(function__counts(scene.function)->flows, 0);
	close_scene();
}

/* A tunnel that the table has no place for is tried again at a comparison, and a reload. */
static void test_full(void **state)
{
	struct flow *flow;

	open_gateway("", TENANT END);
	function__compare(scene.function);
	flow = scene.changed[0];
	function__entered(scene.function, flow, false, scene.now);
	scene.changes = 0;
	assert_int_equal(flow->state, FLOW_KEPT);
	assert_int_equal(take_frame(wrap_ipv4(MACHINE, IPPROTO_UDP, 10)), FUNCTION_PASSES);
	set_policy(with_tunnels("", TENANT END));
	assert_int_equal(scene.changes, 1);
	function__entered(scene.function, flow, false, scene.now);
	scene.changes = 0;
	function__compare(scene.function);
	assert_int_equal(scene.changes, 1);
	settle();
	assert_int_equal(flow->state, FLOW_ENTERED);
	close_scene();
}

static void test_names(void **state)
{
	struct flow_names names;
	struct flow *flow;

	open_entered();
	flow = function__find_named(scene.function, "vxlan", "172.16.9.2:5001",
				    "198.51.100.2:9001");
	assert_non_null(flow);
	function__names(scene.function, flow, &names);
	assert_string_equal(names.inside, "172.16.9.2:5001");
	assert_string_equal(names.remote, "198.51.100.2:9001");
	assert_null(function__find_named(scene.function, "udp", "172.16.9.2:5001",
					 "198.51.100.2:9001"));
	assert_null(function__find_named(scene.function, "vxlan", "172.16.9.2:5002",
					 "198.51.100.2:9001"));
	assert_null(function__find_named(scene.function, "vxlan", "172.16.9.2", ":"));
	close_scene();
}

/* ---- the file */

static void refuse(const char *tunnels, const char *sentence)
{
	struct policy *policy = read_policy("");
	struct dart_error error;

	assert_int_equal(policy__parse_tunnels(policy, tunnels, strlen(tunnels), "t", &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, sentence));
}

static void test_file(void **state)
{
	char many[2000] = "tenants: [{vni: 1, machines: [";
	unsigned int i;

	memset(&scene, 0, sizeof(scene));
	refuse("tenants: [{machines: []}]", "a tenant without 'vni'");
	refuse("tenants: [{vni: 16777216}]", "'16777216' is not a number");
	refuse("tenants: [{vni: 1}, {vni: 1}]", "two tenants have the VNI 1");
	refuse("tenants: [{vni: 1, gateway: 10.0.0.1}]", "but no 'mac'");
	refuse("tenants: [{vni: 1, gateway6: 10.0.0.1}]", "not the IPv6 address");
	refuse("tenants: [{vni: 1, machines: [{address: 10.0.0.1}]}]", "'address' and 'server'");
	refuse("tenants: [{vni: 1, machines: [{address: 10.0.0.1, server: 10.0.0.1},"
	       "{address: 10.0.0.1, server: 10.0.0.2}]}]",
	       "two machines of a tenant have the address 10.0.0.1");
	refuse("tenants: [{vni: 1, gateway: 172.16.9.2, mac: '02:00:00:00:00:01', machines: ["
	       "{address: 172.16.9.2, server: 10.0.0.2}]}]",
	       "the address of its gateway");
	for (i = 0; i < 21; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many),
			 "{address: 10.0.0.%u, server: 10.9.9.9},", i + 1);
	strcat(many, "]}]");
	refuse(many, "21 machines are more than the 'flows'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a packet gets the tunnel of its machine, and its frame stays", test_moved),
		TEST("flows of a tunnel have many source ports", test_ports),
		TEST("packets without a tunnel, and others, are dropped", test_no_tunnel),
		TEST("headers that are cut are not read", test_cut),
		TEST("a packet without a tunnel is refused in the name of the gateway",
		     test_refused),
		TEST("a packet that is too long gets the MTU inside", test_mtu),
		TEST("ARP requests for the gateway are answered", test_arp),
		TEST("neighbour solicitations for the gateway are answered", test_solicitation),
		TEST("echo requests to the gateway are answered", test_echo),
		TEST("a comparison makes the table equal to the file", test_comparison),
		TEST("a reload changes tunnels that differ", test_reload),
		TEST("a tunnel that the table has no place for is tried again", test_full),
		TEST("a tunnel is named by its ends", test_names),
		TEST("files with a mistake are refused", test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
