// SPDX-License-Identifier: GPL-2.0-only
/* A gateway whose tunnels are of IPv6 and of IPv4: packets, answers and entries. */
#include <errno.h>

#define BASE                                                                     \
	"function: gateway\ninterface: eth1\ntable: gateway\ntunnels: /t.yaml\n" \
	"families: both\nflows: 20\nroutes:\n"                                   \
	" - {prefix: '2001:db8:1::/48', mac: 02:00:00:00:00:0a}\n"               \
	" - {prefix: '::/0', mac: 02:00:00:00:00:0b}\n"                          \
	" - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}\n"                      \
	" - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}\n"
#define TUNNELS                                                             \
	"tenants:\n - {vni: 5001, gateway: 172.16.0.1,\n"                   \
	"    mac: '02:00:00:00:50:01', machines: [\n"                       \
	"     {address: 172.16.9.2, server: '2001:db8:2::9', vni: 9001},\n" \
	"     {address: 172.16.9.3, server: 198.51.100.2, vni: 9003}]}\n"

#include "flows_scene.h"
#include "tools/flows/gateway/gateway.h"

#define CLIENT 0xac100002 /* 172.16.0.2 */
#define GATEWAY 0xac100001 /* 172.16.0.1 */
#define MACHINE 0xac100902 /* 172.16.9.2, whose server has an address of IPv6 */
#define MACHINE_4 0xac100903
#define OFFICE_4 0x0a000002 /* 10.0.0.2 */
#define SWITCH_4 0xc0000201 /* 192.0.2.1 */
#define AROUND (8 + 8 + 14) /* bytes of a tunnel after the header of IP */

static uint8_t frame[2000], answer[PACKET_ANSWER_MAX];
static struct packet packet;
static unsigned int verdict;
static address_t office, own, server;

static int set_addresses(void **state)
{
	return address__parse("2001:db8:1::2", &office) && address__parse("2001:db8::1", &own) &&
			       address__parse("2001:db8:2::9", &server) ?
		       0 :
		       -1;
}

static void open_gateway(void)
{
	struct dart_error error;

	memset(&scene, 0, sizeof(scene));
	scene.now = SECOND;
	scene.policy = read_policy("refusal: reject\n");
	if (policy__parse_tunnels(scene.policy, TUNNELS, strlen(TUNNELS), "t.yaml", &error))
		fail_msg("%s", error.text);
	assert_int_equal(function__new(&gateway_type, scene.policy, &handlers, NULL,
				       &scene.function, &error),
			 0);
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
static uint16_t sum_of(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < length; i++)
		sum += i & 1 ? bytes[i] : bytes[i] << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* A packet in a tunnel from one end to the other, for a machine, with @length bytes after IPv4. */
static size_t wrap(address_t from, address_t to, uint32_t machine, uint8_t protocol, size_t length)
{
	const size_t tunnel = AROUND + 20 + length;
	const size_t whole = make(frame, IPPROTO_UDP, at(from, 50000), at(to, 4789), tunnel);
	uint8_t *udp = transport_of(frame), *inside = udp + 16, *ip = inside + 14;

	put16(udp + 4, tunnel);
	udp[8] = 8;
	put32(udp + 12, 5001 << 8);
	inside[6] = 2;
	inside[11] = 0x77; /* the client */
	put16(inside + 12, 0x0800);
	ip[0] = 0x45;
	put16(ip + 2, 20 + length);
	put16(ip + 6, 0x4000);
	ip[8] = 64;
	ip[9] = protocol;
	put32(ip + 12, CLIENT);
	put32(ip + 16, machine);
	put16(ip + 10, ~sum_of(ip, 20));
	return whole;
}

/* The function takes the frame, with a checksum unless @has_none, and the packet is what leaves. */
static enum function_action take_frame(size_t length, bool has_none)
{
	const struct function_counts before = *function__counts(scene.function);
	enum function_action action;

	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	packet__complete(&packet);
	if (has_none)
		put16(packet.transport + 6, 0);
	action = function__take(scene.function, &packet, scene.now);
	for (verdict = 0;
	     function__counts(scene.function)->verdicts[verdict] == before.verdicts[verdict];)
		verdict++;
	if (action == FUNCTION_ANSWERS)
		assert_true(function__answer(scene.function, &packet, answer));
	return action;
}

static void test_moved(void **state)
{
	uint8_t before[2000], *udp = frame + TCP_6;
	size_t length;

	open_gateway();
	length = wrap(office, own, MACHINE, IPPROTO_UDP, 100);
	memcpy(before, frame, length);
	assert_int_equal(take_frame(length, false), FUNCTION_PASSES);
	assert_int_equal(verdict, GATEWAY_MOVED);
	assert_true(packet.destination.address == server);
	assert_true(address__get(frame + IP + 24, 16) == server);
	assert_true(address__get(frame + IP + 8, 16) == office);
	assert_int_equal(packet.source.port, tunnel__port(50000, CLIENT, MACHINE, IPPROTO_UDP));
	assert_int_equal(get32(udp + 12), 9001 << 8);
	assert_true(packet__is_sound(&packet));
	assert_memory_equal(udp + 16, before + TCP_6 + 16, length - TCP_6 - 16);
	close_scene();
}

/* A tunnel over IPv6 may have no checksum, and then gets none; its length must be right. */
static void test_no_checksum(void **state)
{
	uint8_t *udp = frame + TCP_6;
	size_t length;

	open_gateway();
	assert_int_equal(take_frame(wrap(office, own, MACHINE, IPPROTO_UDP, 100), true),
			 FUNCTION_PASSES);
	assert_int_equal(verdict, GATEWAY_MOVED);
	assert_int_equal(get16(udp + 6), 0);
	assert_true(address__get(frame + IP + 24, 16) == server);
	assert_int_equal(get32(udp + 12), 9001 << 8);
	length = wrap(office, own, MACHINE, IPPROTO_UDP, 100);
	put16(udp + 4, get16(udp + 4) + 1);
	assert_int_equal(take_frame(length, true), FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_INVALID);
	length = wrap(office, own, MACHINE, IPPROTO_UDP, 100);
	put16(udp + 4, 7);
	assert_int_equal(take_frame(length, true), FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_INVALID);
	/* A frame may lack the checksum, but must not have a wrong one. */
	length = wrap(office, own, MACHINE, IPPROTO_UDP, 100);
	assert_int_equal(packet__read(&packet, frame, length), PACKET_GOOD);
	packet__complete(&packet);
	udp[6] ^= 1;
	assert_int_equal(function__take(scene.function, &packet, scene.now), FUNCTION_DROPS);
	close_scene();
}

/* No packet changes its family. */
static void test_families(void **state)
{
	open_gateway();
	assert_int_equal(take_frame(wrap(OFFICE_4, SWITCH_4, MACHINE_4, IPPROTO_UDP, 100), false),
			 FUNCTION_PASSES);
	assert_int_equal(packet.destination.address, 0xc6336402);
	assert_true(packet__is_sound(&packet));
	assert_int_equal(take_frame(wrap(office, own, MACHINE_4, IPPROTO_UDP, 100), false),
			 FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_FAMILY);
	assert_int_equal(take_frame(wrap(OFFICE_4, SWITCH_4, MACHINE, IPPROTO_UDP, 100), false),
			 FUNCTION_DROPS);
	assert_int_equal(verdict, GATEWAY_FAMILY);
	close_scene();
}

static void test_answers(void **state)
{
	uint8_t *inside = answer + TCP_6 + 16, *ip = inside + 14, *request;
	size_t length;

	open_gateway();
	assert_int_equal(take_frame(wrap(office, own, MACHINE + 9, IPPROTO_UDP, 1200), false),
			 FUNCTION_ANSWERS);
	assert_int_equal(verdict, GATEWAY_UNKNOWN);
	assert_true(packet.is_ipv6 && packet.source.address == own);
	assert_true(packet.destination.address == office);
	assert_int_equal(packet.destination.port, 4789);
	assert_true(packet__is_sound(&packet));
	assert_true(packet.length <= PACKET_ANSWER_MAX);
	assert_int_equal(get32(answer + TCP_6 + 12), 5001 << 8);
	assert_int_equal(inside[5], 0x77);
	assert_int_equal(get16(ip + 20), 3 << 8 | 1);
	assert_int_equal(sum_of(ip, 20), 0xffff);
	assert_int_equal(sum_of(ip + 20, get16(ip + 2) - 20), 0xffff);
	length = wrap(office, own, GATEWAY, IPPROTO_ICMP, 64);
	request = frame + TCP_6 + AROUND + 20;
	request[0] = 8;
	put16(request + 2, ~(8 << 8));
	assert_int_equal(take_frame(length, false), FUNCTION_ANSWERS);
	assert_int_equal(verdict, GATEWAY_ECHOED);
	assert_true(packet__is_sound(&packet));
	assert_int_equal(ip[20], 0);
	assert_int_equal(sum_of(ip + 20, 64), 0xffff);
	close_scene();
}

/* 20 bytes more are around a packet than with IPv4. */
static void test_mtu(void **state)
{
	const uint8_t *ip = answer + TCP_6 + AROUND;

	open_gateway();
	assert_int_equal(packet__read(&packet, frame,
				      wrap(office, own, MACHINE, IPPROTO_UDP, 1400)),
			 PACKET_GOOD);
	packet__complete(&packet);
	assert_true(function__tell_mtu(scene.function, &packet, 1400, answer));
	assert_int_equal(get16(ip + 20), 3 << 8 | 4);
	assert_int_equal(get16(ip + 26), 1400 - 40 - AROUND);
	assert_true(packet__is_sound(&packet));
	close_scene();
}

/* The key and the values that gateway6.p4 looks up, of 7 and 19 bytes. */
static void test_entries(void **state)
{
	static const uint8_t right_key[] = { 0, 0x13, 0x89, 172, 16, 9, 2 };
	static const uint8_t right[] = { 0x20, 1, 0x0d, 0xb8, 0, 2, 0, 0,    0,	  0,
					 0,    0, 0,	0,    0, 9, 0, 0x23, 0x29 };
	static const uint8_t right_4[] = { 0,	 0,    0,   0,	0,   0, 0, 0,	 0,   0,
					   0xff, 0xff, 198, 51, 100, 2, 0, 0x23, 0x2b };
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX];
	struct flow *flow;

	open_gateway();
	assert_int_equal(function__key_length(scene.function), sizeof(right_key));
	assert_int_equal(function__value_length(scene.function), sizeof(right));
	flow = function__find_named(scene.function, "vxlan", "172.16.9.2:5001",
				    "[2001:db8:2::9]:9001");
	assert_non_null(flow);
	function__entry(scene.function, flow, FLOW_OUT, key, value);
	assert_memory_equal(key, right_key, sizeof(right_key));
	assert_memory_equal(value, right, sizeof(right));
	assert_true(function__see(scene.function, key, value));
	flow = function__find_named(scene.function, "vxlan", "172.16.9.3:5001",
				    "198.51.100.2:9003");
	assert_non_null(flow);
	function__entry(scene.function, flow, FLOW_OUT, key, value);
	assert_memory_equal(value, right_4, sizeof(right_4));
	assert_null(function__find_named(scene.function, "vxlan", "172.16.9.2:5001",
					 "[2001:db8:2::9]"));
	assert_null(function__find_named(scene.function, "vxlan", "172.16.9.2:5001",
					 "[2001:db8:2::9:9001"));
	assert_null(function__find_named(scene.function, "vxlan", "172.16.9.2:5001",
					 "2001:db8:2::9:9001"));
	close_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a packet over IPv6 gets the server and the tunnel of its machine",
		     test_moved),
		TEST("a tunnel over IPv6 without a checksum stays without", test_no_checksum),
		TEST("a packet for a server of the other family is dropped", test_families),
		TEST("echoes and refusals are answered over IPv6", test_answers),
		TEST("the MTU inside leaves room for the header of IPv6", test_mtu),
		TEST("entries have the server as an address of IPv6, or a mapped one",
		     test_entries),
	};

	return cmocka_run_group_tests(tests, set_addresses, NULL);
}
