// SPDX-License-Identifier: GPL-2.0-only
/* Frames of the switch, as dart-flows reads and rewrites them. */
#include <netinet/in.h>

#include "fuzz.h"
#include "tools/flows/packet/packet.h"
#include "tools/flows/packet/question.h"
#include "tools/flows/packet/tunnel.h"

static const struct end end_4 = { 0xcb007101, 5000 };
static struct end end; /* of the family of the packet */

static enum packet_flaw read_packet(struct packet *packet, uint8_t *frame, size_t length)
{
	const enum packet_flaw flaw = packet__read(packet, frame, length);

	end = end_4;
	if (packet->is_ipv6)
		end.address |= (address_t)0x20010db8 << 96;
	return flaw;
}

/* The answer is a sound packet to the sender, which is not answered in turn. */
static void refuse(struct packet packet)
{
	uint8_t answer[PACKET_ANSWER_MAX], again[PACKET_ANSWER_MAX];
	const address_t sender = packet.source.address;

	/* A segment whose header is cut is never refused. */
	if (!packet__is_sound(&packet) || !packet__refuse(&packet, answer))
		return;
	require(packet.length <= sizeof(answer));
	require(packet__is_sound(&packet));
	require(packet.destination.address == sender);
	if (!packet__read(&packet, answer, packet.length))
		require(!packet__refuse(&packet, again));
}

/* An error, and the packet that it quotes, get other ends. */
static void rewrite_error(struct packet packet)
{
	struct packet again;

	packet__complete(&packet);
	packet__set_quoted_source(&packet, &end);
	packet__set_quoted_destination(&packet, &end);
	packet__set_source(&packet, &end);
	packet__set_destination(&packet, &end);
	require(packet__is_sound(&packet));
	require(!packet__read(&again, packet.frame, packet.length));
	require(again.is_error && again.quoted_protocol == packet.quoted_protocol);
	require(again.quoted_source.address == end.address);
	require(again.quoted_destination.address == end.address);
	refuse(packet);
}

/* The same for the answer to a packet that is too long. */
static void tell_mtu(struct packet packet)
{
	uint8_t answer[PACKET_ANSWER_MAX], more[PACKET_ANSWER_MAX];
	struct packet again;

	if (!packet__tell_mtu(&packet, end.address, 1280, answer))
		return;
	require(packet.length <= sizeof(answer) && packet__is_sound(&packet));
	if (!packet__read(&again, answer, packet.length))
		require(again.is_error && !packet__tell_mtu(&again, end.address, 1280, more));
}

/*
 * A frame in a tunnel: answers fit, are sound and go to the sender; a packet that moves is sound
 * if it was, and has the same frame inside.
 */
static void take_tunnel(uint8_t *frame, size_t size)
{
	static const struct tunnel_host host = { { 2, 0, 0, 0, 0, 1 }, 0xac100001 };
	bool (*const answers[])(const struct tunnel *tunnel, const struct tunnel_host *host,
				struct packet *packet,
				uint8_t *frame) = { tunnel__reply, tunnel__refuse };
	uint8_t answer[PACKET_ANSWER_MAX];
	struct tunnel tunnel, again;
	struct packet packet, made;
	bool is_sound;
	size_t i;

	if (read_packet(&packet, frame, size) || packet.protocol != IPPROTO_UDP ||
	    packet.is_fragment)
		return;
	is_sound = packet__is_sound(&packet);
	tunnel__read(&tunnel, &packet);
	if (tunnel.content == TUNNEL_NONE)
		return;
	require(tunnel.end <= packet.frame + packet.length && tunnel.vni <= TUNNEL_VNI_MAX);
	for (i = 0; i < 3; i++) {
		made = packet;
		if (i == 2 ? tunnel.content != TUNNEL_IPV4 ||
				     !tunnel__tell_mtu(&tunnel, &host, &made, 1000, answer) :
			     (i == 1 && tunnel.content != TUNNEL_IPV4) ||
				     !answers[i](&tunnel, &host, &made, answer))
			continue;
		require(made.length <= sizeof(answer) && packet__is_sound(&made));
		require(made.destination.address == packet.source.address);
		tunnel__read(&again, &made);
		require(again.vni == tunnel.vni && again.content != TUNNEL_NONE);
	}
	if (tunnel.content != TUNNEL_IPV4)
		return;
	tunnel__move(&tunnel, &packet, end.address, 77);
	require(packet__is_sound(&packet) == is_sound);
	tunnel__read(&again, &packet);
	require(again.vni == 77 && again.content == TUNNEL_IPV4);
	require(again.destination == tunnel.destination && packet.source.port >= 49152);
}

/* A fragment gets other addresses, and what expires an answer, which is not answered in turn. */
static void take_flawed(enum packet_flaw flaw, struct packet packet)
{
	uint8_t answer[PACKET_ANSWER_MAX], more[PACKET_ANSWER_MAX];
	struct packet again;

	if (flaw == PACKET_FRAGMENT) {
		packet__set_addresses(&packet, end.address, end.address + 1);
		require(packet__read(&again, packet.frame, packet.length) == PACKET_FRAGMENT);
		require(again.source.address == end.address);
		require(again.destination.address == end.address + 1);
	} else if (flaw == PACKET_EXPIRED && packet__expire(&packet, end.address, answer)) {
		require(packet.length <= sizeof(answer));
		require(packet__is_sound(&packet));
		if (!packet__read(&again, answer, packet.length))
			require(again.is_error && !packet__expire(&again, end.address, more));
	}
}

/* An answer about the use of flows: no time is longer than the ages in it say. */
static void take_answer(const uint8_t *frame, size_t size)
{
	uint64_t idle[DART_TEA_USE_KEYS];
	uint32_t number;
	unsigned int i;

	if (!question__read_answer(frame, size, &number, idle))
		return;
	require(size >= DART_TEA_USE_LENGTH);
	for (i = 0; i < DART_TEA_USE_KEYS; i++)
		require(idle[i] <= (uint64_t)UINT32_MAX * 1048576000);
}

/* A request for an Ethernet address, after the header of Ethernet: the answer asks for none. */
static void take_neighbour(const uint8_t *frame, size_t size)
{
	static const uint32_t types[] = { 0x0806, 0x86dd };
	static const uint8_t mac[PACKET_MAC_LENGTH] = { 2 };
	uint8_t answer[NEIGHBOUR_ANSWER_MAX];
	struct neighbour_request request;
	size_t length, i;

	for (i = 0; size > 14 && i < 2; i++) {
		if (!neighbour__read(&request, types[i], frame + 14, size - 14))
			continue;
		require(address__is_ipv4(request.wanted) == !request.is_ipv6);
		length = neighbour__answer(&request, mac, answer);
		require(length <= sizeof(answer));
		require(!neighbour__read(&request, types[i], answer, length));
	}
}

static void rewrite(uint8_t *frame, size_t size)
{
	static const uint8_t next_hop[PACKET_MAC_LENGTH] = { 2 };
	struct packet packet, again;
	enum packet_flaw flaw;

	flaw = read_packet(&packet, frame, size);
	if (flaw) {
		take_flawed(flaw, packet);
		return;
	}
	require(packet.length <= size);
	tell_mtu(packet);
	if (packet.is_error) {
		rewrite_error(packet);
		return;
	}
	if (packet.protocol != IPPROTO_ICMP || !packet.is_reply)
		packet__set_source(&packet, &end);
	else
		packet__set_destination(&packet, &end);
	packet__route(&packet, next_hop);
	if (packet__read(&again, frame, packet.length) == PACKET_EXPIRED)
		return;
	/* It is the same packet with another end, and the checksum of its header is right. */
	require(!packet__read(&again, frame, packet.length));
	require(again.protocol == packet.protocol && again.length == packet.length);
	require(end__equal(&again.source, &packet.source));
	require(end__equal(&again.destination, &packet.destination));
	packet__complete(&again);
	refuse(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = exact_copy(data, size);

	uint8_t *copy;

	take_answer(frame, size);
	take_neighbour(frame, size);
	rewrite(frame, size);
	repair_ipv4(frame, size);
	copy = exact_copy(frame, size);
	take_tunnel(copy, size);
	free(copy);
	rewrite(frame, size);
	free(frame);
	return 0;
}
