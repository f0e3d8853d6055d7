// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments, datagrams, time and changes of the table in any order, as the firewall of dart-flows
 * gets them.
 */
#include "flows_steps.h"
#include "tools/flows/firewall/firewall.h"

static const char text[] = "function: firewall\ninterface: eth1\ntable: firewall\nflows: 12\n"
			   "limits: {flows: 8, opening: 4}\nfamilies: both\n"
			   "routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b},\n"
			   " {prefix: '::/0', mac: 02:00:00:00:00:0b}]\n"
			   "zones: [{name: inside, addresses: [10.0.0.0/8, '2001:db8::/64']}]\n"
			   "rules: [{from: inside}]\n";

static struct policy policy;

/* Few hosts and ports; addresses of IPv6 end with the bits of the IPv4 addresses. */
static address_t family_of(const uint8_t *step, uint16_t network)
{
	return step[2] & 0x80 ? (address_t)0x20010db80000 << 80 | (address_t)network << 64 : 0;
}

static struct end inside_of(const uint8_t *step)
{
	return (struct end){ family_of(step, 0) + 0x0a000001 + (step[2] & 1),
			     1000 + (step[2] >> 1 & 3) };
}

static struct end outside_of(const uint8_t *step)
{
	return (struct end){ family_of(step, 1) + 0xc6336401, 80 + (step[2] >> 3 & 1) };
}

static void send_some(const uint8_t *step, bool is_tcp, bool is_back)
{
	const struct end inside = inside_of(step), outside = outside_of(step);
	enum function_action action;
	bool is_known;

	is_known = function__find(scene.function, is_tcp ? IPPROTO_TCP : IPPROTO_UDP, &inside,
				  &outside);
	action = send_packet(step, is_back ? &outside : &inside, is_back ? &inside : &outside,
			     is_tcp, is_back);
	if (action != FUNCTION_PASSES || is_known)
		return;
	/* Only hosts inside begin, and over TCP only by SYN. */
	require(!is_back);
	require(!is_tcp || (step[1] & (SEGMENT_SYN | SEGMENT_ACK)) == SEGMENT_SYN);
}

static void end_flow(const uint8_t *step)
{
	const struct end inside = inside_of(step), outside = outside_of(step);
	struct flow *flow = function__find(scene.function, IPPROTO_TCP, &inside, &outside);

	if (flow)
		function__end(scene.function, flow);
}

static void take_step(const uint8_t *step)
{
	if (take_common_step(step))
		return;
	if ((step[0] & 15) == 6)
		end_flow(step);
	else
		send_some(step, step[0] & 16, step[0] & 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_error error;
	size_t i;

	if (!policy.zone_count)
		require(!policy__parse(&policy, text, sizeof(text) - 1, "flows.yaml", &error));
	open_scene(&firewall_type, &policy);
	for (i = 0; i + STEP <= size && i < STEPS_BYTES_MAX; i += STEP) {
		take_step(data + i);
		look();
	}
	close_scene();
	return 0;
}
