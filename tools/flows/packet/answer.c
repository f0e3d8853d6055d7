// SPDX-License-Identifier: GPL-2.0-only
/* Answers to packets, which take their place: see packet.h. */
#include <netinet/in.h>
#include <string.h>

#include "packet.h"
#include "packet_internal.h"

bool packet__is_unicast(uint32_t address)
{
	return address >> 24 && address >> 24 != 127 && address >> 28 < 0xe;
}

/* RFC 9293, section 3.10.7.1. */
static size_t make_reset(const struct packet *packet, uint8_t *tcp)
{
	const struct segment segment = packet__segment(packet);
	const bool has_ack = segment.flags & SEGMENT_ACK;

	put16(tcp, packet->destination.port);
	put16(tcp + 2, packet->source.port);
	if (has_ack)
		put32(tcp + TCP_SEQUENCE, segment.acknowledgement);
	else
		put32(tcp + TCP_ACKNOWLEDGEMENT, segment.sequence + segment.length +
							 !!(segment.flags & SEGMENT_SYN) +
							 !!(segment.flags & SEGMENT_FIN));
	tcp[TCP_OFFSET] = TCP_LENGTH / 4 << 4;
	tcp[TCP_FLAGS] = has_ack ? SEGMENT_RST : SEGMENT_RST | SEGMENT_ACK;
	return TCP_LENGTH;
}

static size_t make_error(const struct packet *packet, uint8_t type, uint8_t code, uint8_t *icmp)
{
	const size_t most = PACKET_ANSWER_MAX - ETHERNET_LENGTH - IP_LENGTH - ICMP_LENGTH;
	const size_t whole = packet->frame + packet->length - packet->ip;
	const size_t quoted = whole < most ? whole : most;

	icmp[0] = type;
	icmp[1] = code;
	memcpy(icmp + ICMP_LENGTH, packet->ip, quoted);
	return ICMP_LENGTH + quoted;
}

/* May an answer be sent, in the name of @address? */
static bool is_answerable(const struct packet *packet, uint32_t address)
{
	return !packet->is_error && packet__is_unicast(packet->source.address) &&
	       packet__is_unicast(packet->destination.address) && packet__is_unicast(address);
}

uint8_t *packet__begin_answer(uint8_t *frame)
{
	memset(frame, 0, ETHERNET_LENGTH + IP_LENGTH + TCP_LENGTH);
	return frame + ETHERNET_LENGTH + IP_LENGTH;
}

void packet__end_answer(struct packet *packet, uint8_t *frame, const struct end *from,
			uint8_t protocol, size_t length)
{
	uint8_t *ip = frame + ETHERNET_LENGTH;
	struct packet answer = { .frame = frame, .ip = ip, .transport = ip + IP_LENGTH };

	memcpy(frame, packet->frame + PACKET_MAC_LENGTH, PACKET_MAC_LENGTH);
	memcpy(frame + PACKET_MAC_LENGTH, packet->frame, PACKET_MAC_LENGTH);
	put16(frame + 12, ETHERTYPE_IPV4);
	ip[0] = 4 << 4 | IP_LENGTH / 4;
	put16(ip + 2, IP_LENGTH + length);
	put16(ip + OFFSET_FRAGMENT, DO_NOT_FRAGMENT); /* its identification may be 0 (RFC 6864) */
	ip[OFFSET_TTL] = 64;
	ip[9] = protocol;
	put32(ip + OFFSET_SOURCE, from->address);
	put32(ip + OFFSET_DESTINATION, packet->source.address);
	put16(ip + OFFSET_CHECKSUM, ~add_up(ip, IP_LENGTH, 0) & 0xffff);
	answer.length = ETHERNET_LENGTH + IP_LENGTH + length;
	answer.protocol = protocol;
	answer.source = *from;
	answer.destination = packet->source;
	packet__complete(&answer);
	*packet = answer;
}

bool packet__refuse(struct packet *packet, uint8_t frame[static PACKET_ANSWER_MAX])
{
	const bool is_tcp = packet->protocol == IPPROTO_TCP;
	const struct end from = packet->destination;
	uint8_t *transport;
	size_t length;

	if (!is_answerable(packet, from.address) ||
	    (is_tcp && packet->transport[TCP_FLAGS] & SEGMENT_RST))
		return false;
	transport = packet__begin_answer(frame);
	length = is_tcp ? make_reset(packet, transport) :
			  make_error(packet, ICMP_UNREACHABLE, ICMP_PROHIBITED, transport);
	packet__end_answer(packet, frame, &from, is_tcp ? IPPROTO_TCP : IPPROTO_ICMP, length);
	return true;
}

bool packet__expire(struct packet *packet, uint32_t address,
		    uint8_t frame[static PACKET_ANSWER_MAX])
{
	const struct end from = { address, 0 };
	size_t length;

	if (!is_answerable(packet, address))
		return false;
	length = make_error(packet, ICMP_TIME_EXCEEDED, 0, packet__begin_answer(frame));
	packet__end_answer(packet, frame, &from, IPPROTO_ICMP, length);
	return true;
}

bool packet__tell_mtu(struct packet *packet, uint32_t address, uint16_t mtu,
		      uint8_t frame[static PACKET_ANSWER_MAX])
{
	const struct end from = { address, 0 };
	uint8_t *icmp;
	size_t length;

	if (!is_answerable(packet, address) ||
	    !(get16(packet->ip + OFFSET_FRAGMENT) & DO_NOT_FRAGMENT))
		return false;
	icmp = packet__begin_answer(frame);
	length = make_error(packet, ICMP_UNREACHABLE, ICMP_TOO_LONG, icmp);
	put16(icmp + ICMP_MTU, mtu);
	packet__end_answer(packet, frame, &from, IPPROTO_ICMP, length);
	return true;
}
