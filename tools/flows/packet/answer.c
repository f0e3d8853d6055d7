// SPDX-License-Identifier: GPL-2.0-only
/* Answers to packets, which take their place: see packet.h. */
#include <netinet/in.h>
#include <string.h>

#include "packet.h"
#include "packet_internal.h"

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

/* The errors that there are, as types and codes of ICMP and ICMPv6. */
enum error { PROHIBITED, TOO_LONG, TIME_EXCEEDED };

static const struct {
	uint8_t type, code;
} errors[][2] = {
	[PROHIBITED] = { { ICMP_UNREACHABLE, ICMP_PROHIBITED },
			 { ICMP6_UNREACHABLE, ICMP6_PROHIBITED } },
	[TOO_LONG] = { { ICMP_UNREACHABLE, ICMP_TOO_LONG }, { ICMP6_TOO_LONG, 0 } },
	[TIME_EXCEEDED] = { { ICMP_TIME_EXCEEDED, 0 }, { ICMP6_TIME_EXCEEDED, 0 } },
};

/* Quotes as much as each host takes. */
static size_t make_error(const struct packet *packet, enum error error, uint8_t *icmp)
{
	const size_t most = packet->is_ipv6 ? PACKET_LEAST_6 - IPV6_LENGTH - ICMP_LENGTH :
					      PACKET_LEAST_4 - IP_LENGTH - ICMP_LENGTH;
	const size_t whole = packet->frame + packet->length - packet->ip;
	const size_t quoted = whole < most ? whole : most;

	icmp[0] = errors[error][packet->is_ipv6].type;
	icmp[1] = errors[error][packet->is_ipv6].code;
	memcpy(icmp + ICMP_LENGTH, packet->ip, quoted);
	return ICMP_LENGTH + quoted;
}

/* May an answer be sent, in the name of @address? */
static bool is_answerable(const struct packet *packet, address_t address)
{
	return !packet->is_error && address__is_ipv4(address) == !packet->is_ipv6 &&
	       address__is_unicast(packet->source.address) &&
	       address__is_unicast(packet->destination.address) && address__is_unicast(address);
}

static size_t header_length(const struct packet *packet)
{
	return packet->is_ipv6 ? IPV6_LENGTH : IP_LENGTH;
}

uint8_t *packet__begin_answer(const struct packet *packet, uint8_t *frame)
{
	const size_t link = packet->ip - packet->frame, header = header_length(packet);

	memset(frame, 0, link + header + TCP_LENGTH);
	return frame + link + header;
}

static void write_ipv4(uint8_t *ip, uint8_t protocol, size_t length)
{
	ip[0] = 4 << 4 | IP_LENGTH / 4;
	put16(ip + 2, IP_LENGTH + length);
	put16(ip + OFFSET_FRAGMENT, DO_NOT_FRAGMENT); /* its identification may be 0 (RFC 6864) */
	ip[OFFSET_TTL] = 64;
	ip[9] = protocol;
}

static void write_ipv6(uint8_t *ip, uint8_t protocol, size_t length)
{
	ip[0] = 6 << 4;
	put16(ip + OFFSET6_PAYLOAD, length);
	ip[OFFSET6_NEXT_HEADER] = protocol == IPPROTO_ICMP ? IPPROTO_ICMPV6 : protocol;
	ip[OFFSET6_HOPS] = 64;
}

void packet__end_answer(struct packet *packet, uint8_t *frame, const struct end *from,
			uint8_t protocol, size_t length)
{
	const size_t link = packet->ip - packet->frame, header = header_length(packet);
	const size_t address_length = address_length_of(packet->is_ipv6);
	uint8_t *ip = frame + link;
	struct packet answer = {
		.frame = frame,
		.length = link + header + length,
		.ip = ip,
		.transport = ip + header,
		.is_ipv6 = packet->is_ipv6,
		.protocol = protocol,
		.source = *from,
		.destination = packet->source,
	};

	memcpy(frame, packet->frame + PACKET_MAC_LENGTH, PACKET_MAC_LENGTH);
	memcpy(frame + PACKET_MAC_LENGTH, packet->frame, PACKET_MAC_LENGTH);
	/* With its tags. */
	memcpy(frame + ETHERTYPE, packet->frame + ETHERTYPE, link - ETHERTYPE);
	if (packet->is_ipv6)
		write_ipv6(ip, protocol, length);
	else
		write_ipv4(ip, protocol, length);
	address__put(ip + source_of(packet->is_ipv6), address_length, from->address);
	address__put(ip + destination_of(packet->is_ipv6), address_length, packet->source.address);
	if (!packet->is_ipv6)
		put16(ip + OFFSET_CHECKSUM, ~add_up(ip, IP_LENGTH, 0) & 0xffff);
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
	transport = packet__begin_answer(packet, frame);
	length = is_tcp ? make_reset(packet, transport) : make_error(packet, PROHIBITED, transport);
	packet__end_answer(packet, frame, &from, is_tcp ? IPPROTO_TCP : IPPROTO_ICMP, length);
	return true;
}

bool packet__expire(struct packet *packet, address_t address,
		    uint8_t frame[static PACKET_ANSWER_MAX])
{
	const struct end from = { address, 0 };
	size_t length;

	if (!is_answerable(packet, address))
		return false;
	length = make_error(packet, TIME_EXCEEDED, packet__begin_answer(packet, frame));
	packet__end_answer(packet, frame, &from, IPPROTO_ICMP, length);
	return true;
}

bool packet__tell_mtu(struct packet *packet, address_t address, uint16_t mtu,
		      uint8_t frame[static PACKET_ANSWER_MAX])
{
	const struct end from = { address, 0 };
	uint8_t *icmp;
	size_t length;

	if (!is_answerable(packet, address) ||
	    (!packet->is_ipv6 && !(get16(packet->ip + OFFSET_FRAGMENT) & DO_NOT_FRAGMENT)))
		return false;
	icmp = packet__begin_answer(packet, frame);
	length = make_error(packet, TOO_LONG, icmp);
	/* Of ICMPv6 it has 32 bits, of which the first 16 are 0. */
	put16(icmp + ICMP_MTU, mtu);
	packet__end_answer(packet, frame, &from, IPPROTO_ICMP, length);
	return true;
}
