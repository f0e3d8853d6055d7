/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets of a NAT, for its tests. */
#ifndef FLOWS_NAT_SCENE_H
#define FLOWS_NAT_SCENE_H

#define BASE                                                  \
	"interface: eth1\ntable: nat\ninside: [10.0.0.0/8]\n" \
	"routes:\n"                                           \
	" - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a}\n"   \
	" - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}\n"    \
	"timeouts: {tcp: 1000s, udp: 100s, icmp: 10s}\n"

#include "flows_scene.h"
#include "tools/flows/nat/nat.h"

#define INSIDE 0x0a000001 /* 10.0.0.1 */
#define REMOTE 0xc6336401 /* 198.51.100.1 */
#define POOL 0xcb007101 /* 203.0.113.1 */

/* Sends a packet; *@source and *@destination become the ends that it leaves with. */
static inline enum nat_verdict send_packet(uint8_t protocol, struct end *source,
					   struct end *destination)
{
	enum nat_verdict verdict;

	switch (protocol) {
	case IPPROTO_TCP:
		verdict = send_segment(*source, *destination, A, 1, 1);
		break;
	case IPPROTO_UDP:
		verdict = send_datagram(*source, *destination);
		break;
	default:
		verdict = send_echo(*source, *destination, destination->port);
		break;
	}
	assert_int_equal(scene.action == FUNCTION_PASSES, verdict == NAT_TRANSLATED);
	*source = scene.source;
	*destination = scene.destination;
	return verdict;
}

/* From inside to outside; returns the end that the pool gave. */
static inline struct end out(uint8_t protocol, struct end inside, struct end remote)
{
	const struct end before = remote;

	assert_int_equal(send_packet(protocol, &inside, &remote), NAT_TRANSLATED);
	assert_true(end__equal(&before, &remote));
	return inside;
}

static inline enum nat_verdict try_out(uint8_t protocol, struct end inside, struct end remote)
{
	return send_packet(protocol, &inside, &remote);
}

static inline enum nat_verdict try_back(uint8_t protocol, struct end remote, struct end outside,
					struct end *inside)
{
	const enum nat_verdict verdict = send_packet(protocol, &remote, &outside);

	*inside = outside;
	return verdict;
}

#endif /* FLOWS_NAT_SCENE_H */
