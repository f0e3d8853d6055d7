// SPDX-License-Identifier: GPL-2.0-only
/* Reads frames: see packet.h. */
#include "packet.h"

#include <netinet/in.h>
#include <string.h>

#include "packet_internal.h"

const char *const packet_flaw_names[PACKET_FLAWS] = {
	[PACKET_GOOD] = "good",		 [PACKET_CUT] = "cut",
	[PACKET_OTHER] = "other",	 [PACKET_DAMAGED] = "damaged",
	[PACKET_FRAGMENT] = "fragments", [PACKET_EXPIRED] = "expired",
};

/* ---- checksums */

uint8_t *packet__checksum(const struct packet *packet)
{
	uint8_t *checksum;

	switch (packet->protocol) {
	case IPPROTO_TCP:
		return packet->transport + TCP_CHECKSUM;
	case IPPROTO_UDP:
		checksum = packet->transport + UDP_CHECKSUM;
		/* Over IPv6 there must be one (RFC 8200, 8.1). */
		return packet->is_ipv6 || get16(checksum) ? checksum : NULL;
	default:
		return packet->transport + ICMP_CHECKSUM;
	}
}

/* Bytes after the header of IPv4 or IPv6. */
static size_t transport_length(const struct packet *packet)
{
	return packet->frame + packet->length - packet->transport;
}

/* The sum of @length bytes of the transport, and of the pseudo header if it is covered. */
static uint32_t sum_of(const struct packet *packet, size_t length)
{
	const bool is_icmp = packet->protocol == IPPROTO_ICMP, is_ipv6 = packet->is_ipv6;
	uint32_t sum = 0;

	if (!is_icmp || is_ipv6)
		sum = add_up(packet->ip + source_of(is_ipv6), 2 * address_length_of(is_ipv6),
			     (is_icmp ? IPPROTO_ICMPV6 : packet->protocol) + length);
	return add_up(packet->transport, length, sum);
}

void packet__complete(struct packet *packet)
{
	uint8_t *checksum = packet__checksum(packet);
	uint32_t sum;

	if (!checksum || packet->is_fragment)
		return;
	put16(checksum, 0);
	sum = ~sum_of(packet, transport_length(packet)) & 0xffff;
	put16(checksum, !sum && packet->protocol == IPPROTO_UDP ? 0xffff : sum);
}

bool packet__is_sound(const struct packet *packet)
{
	size_t length = transport_length(packet), header;
	const uint8_t *checksum;

	if (packet->protocol == IPPROTO_UDP) {
		header = get16(packet->transport + UDP_LENGTH_FIELD);
		if (header < UDP_LENGTH || (header > length && !packet->is_fragment))
			return false;
		length = header;
	} else if (packet->protocol == IPPROTO_TCP) {
		header = packet->transport[TCP_OFFSET] >> 4;
		if (4 * header < TCP_LENGTH || 4 * header > length)
			return false;
	}
	/* The checksum of a first fragment is about all of them. */
	if (packet->is_fragment)
		return true;
	checksum = packet__checksum(packet);
	if (packet->protocol == IPPROTO_UDP && checksum && !get16(checksum))
		return false;
	return !checksum || sum_of(packet, length) == 0xffff;
}

uint8_t packet__flags(const struct packet *packet)
{
	return packet->transport[TCP_FLAGS];
}

struct segment packet__segment(const struct packet *packet)
{
	const uint8_t *tcp = packet->transport;

	return (struct segment){
		.flags = tcp[TCP_FLAGS],
		.sequence = get32(tcp + TCP_SEQUENCE),
		.acknowledgement = get32(tcp + TCP_ACKNOWLEDGEMENT),
		.length = transport_length(packet) - 4 * (tcp[TCP_OFFSET] >> 4),
	};
}

/* ---- reading */

/* The header of the packet that an ICMP error quotes, and its ends without ports. */
static enum packet_flaw read_quoted_ipv4(struct packet *packet, const uint8_t *ip, size_t length)
{
	size_t header;

	if (length < IP_LENGTH)
		return PACKET_CUT;
	header = 4 * (ip[0] & 15);
	if (header < IP_LENGTH || header + QUOTED_LENGTH > length)
		return PACKET_CUT;
	if (ip[0] >> 4 != 4 || get16(ip + OFFSET_FRAGMENT) & FRAGMENT_OFFSET)
		return PACKET_OTHER;
	if (add_up(ip, header, 0) != 0xffff)
		return PACKET_DAMAGED;
	packet->quoted_protocol = ip[9];
	packet->quoted_transport = ICMP_LENGTH + header;
	return PACKET_GOOD;
}

static enum packet_flaw read_quoted_ipv6(struct packet *packet, const uint8_t *ip, size_t length)
{
	struct ipv6_chain chain;
	enum packet_flaw flaw;

	if (length < IPV6_LENGTH)
		return PACKET_CUT;
	if (ip[0] >> 4 != 6)
		return PACKET_OTHER;
	flaw = packet_ipv6__follow(ip, length, &chain);
	if (flaw)
		return flaw == PACKET_FRAGMENT ? PACKET_OTHER : flaw;
	if (ip + length - chain.transport < QUOTED_LENGTH)
		return PACKET_CUT;
	packet->quoted_protocol = chain.protocol;
	packet->quoted_transport = chain.transport - packet->transport;
	return PACKET_GOOD;
}

static enum packet_flaw read_quoted(struct packet *packet, const uint8_t *ip, size_t length)
{
	const bool is_ipv6 = packet->is_ipv6;
	const size_t address_length = address_length_of(is_ipv6);
	const uint8_t *transport;
	enum packet_flaw flaw;

	flaw = is_ipv6 ? read_quoted_ipv6(packet, ip, length) :
			 read_quoted_ipv4(packet, ip, length);
	if (flaw)
		return flaw;
	transport = packet->transport + packet->quoted_transport;
	packet->quoted_source.address = address__get(ip + source_of(is_ipv6), address_length);
	packet->quoted_destination.address =
		address__get(ip + destination_of(is_ipv6), address_length);
	if (packet->quoted_protocol == IPPROTO_TCP || packet->quoted_protocol == IPPROTO_UDP) {
		packet->quoted_source.port = get16(transport);
		packet->quoted_destination.port = get16(transport + 2);
	} else if (packet->quoted_protocol != IPPROTO_ICMP) {
		return PACKET_OTHER;
	} else if (transport[0] == echo_request_of(is_ipv6)) {
		packet->quoted_source.port = get16(transport + ICMP_IDENTIFIER);
	} else if (transport[0] == echo_reply_of(is_ipv6)) {
		packet->quoted_destination.port = get16(transport + ICMP_IDENTIFIER);
	} else {
		return PACKET_OTHER;
	}
	packet->is_error = true;
	return PACKET_GOOD;
}

static bool is_error_type(bool is_ipv6, uint8_t type)
{
	if (is_ipv6)
		return type >= ICMP6_UNREACHABLE && type <= ICMP6_PARAMETER_PROBLEM;
	return type == ICMP_UNREACHABLE || type == ICMP_TIME_EXCEEDED ||
	       type == ICMP_PARAMETER_PROBLEM;
}

static enum packet_flaw read_icmp(struct packet *packet, size_t length)
{
	const uint16_t identifier = get16(packet->transport + ICMP_IDENTIFIER);
	const uint8_t type = packet->transport[0];

	if (is_error_type(packet->is_ipv6, type))
		return read_quoted(packet, packet->transport + ICMP_LENGTH, length - ICMP_LENGTH);
	if (type == echo_reply_of(packet->is_ipv6)) {
		packet->is_reply = true;
		packet->destination.port = identifier;
	} else if (type == echo_request_of(packet->is_ipv6)) {
		packet->source.port = identifier;
	} else {
		return PACKET_OTHER;
	}
	return packet->transport[1] ? PACKET_OTHER : PACKET_GOOD;
}

static enum packet_flaw read_transport(struct packet *packet)
{
	const size_t length = packet->frame + packet->length - packet->transport;

	switch (packet->protocol) {
	case IPPROTO_TCP:
		if (length < TCP_LENGTH)
			return PACKET_CUT;
		break;
	case IPPROTO_UDP:
		if (length < UDP_LENGTH)
			return PACKET_CUT;
		break;
	case IPPROTO_ICMP:
		return length < ICMP_LENGTH ? PACKET_CUT : read_icmp(packet, length);
	default:
		return PACKET_OTHER;
	}
	packet->source.port = get16(packet->transport);
	packet->destination.port = get16(packet->transport + 2);
	return PACKET_GOOD;
}

/* @length: bytes after the IPv4 header.  Good if it is the first fragment. */
static enum packet_flaw read_fragment(struct packet *packet, size_t length)
{
	const uint32_t word = get16(packet->ip + OFFSET_FRAGMENT);
	const uint32_t offset = 8 * (word & FRAGMENT_OFFSET);

	if ((word & MORE_FRAGMENTS && length % 8) || offset + length > UINT16_MAX)
		return PACKET_CUT;
	if (!offset)
		return PACKET_GOOD;
	/* It would replace a part of the header that was judged (RFC 3128). */
	if (packet->protocol == IPPROTO_TCP && offset < TCP_LENGTH)
		return PACKET_CUT;
	return PACKET_FRAGMENT;
}

/*
 * Does a sender name further nodes?  The last destination would be another one (RFC 7126, 4.3, 4.4).
 * Options after a malformed option are not looked at: no node uses them.
 */
static bool has_source_route(const uint8_t *ip, size_t header)
{
	size_t at = IP_LENGTH;

	while (at < header && ip[at] != OPTION_END) {
		if (ip[at] == OPTION_LOOSE_ROUTE || ip[at] == OPTION_STRICT_ROUTE)
			return true;
		if (ip[at] == OPTION_NOTHING)
			at++;
		else if (at + 1 < header && ip[at + 1] >= 2)
			at += ip[at + 1];
		else
			break;
	}
	return false;
}

static enum packet_flaw read_ipv4(struct packet *packet, size_t length)
{
	uint8_t *ip = packet->ip;
	size_t header, total;

	if (length < IP_LENGTH)
		return PACKET_CUT;
	header = 4 * (ip[0] & 15);
	total = get16(ip + 2);
	if (ip[0] >> 4 != 4)
		return PACKET_OTHER;
	if (header < IP_LENGTH || total < header || total > length)
		return PACKET_CUT;
	if (add_up(ip, header, 0) != 0xffff)
		return PACKET_DAMAGED;
	packet->length = ip + total - packet->frame;
	packet->transport = ip + header;
	packet->protocol = ip[9];
	packet->source.address = get32(ip + OFFSET_SOURCE);
	packet->destination.address = get32(ip + OFFSET_DESTINATION);
	packet->identification = get16(ip + 4);
	packet->is_fragment = get16(ip + OFFSET_FRAGMENT) & (MORE_FRAGMENTS | FRAGMENT_OFFSET);
	if (has_source_route(ip, header))
		return PACKET_OTHER;
	return packet->is_fragment ? read_fragment(packet, total - header) : PACKET_GOOD;
}

static enum packet_flaw read_ip(struct packet *packet, size_t length)
{
	enum packet_flaw flaw;
	uint8_t hops;

	flaw = packet->is_ipv6 ? packet_ipv6__read(packet, length) : read_ipv4(packet, length);
	if (flaw && flaw != PACKET_FRAGMENT)
		return flaw;
	hops = packet->ip[packet->is_ipv6 ? OFFSET6_HOPS : OFFSET_TTL];
	if (flaw) {
		packet->is_error = true; /* no error answers an error */
		return hops <= 1 ? PACKET_EXPIRED : flaw;
	}
	flaw = read_transport(packet);
	/* A packet of another protocol expires as well, but not one that may be an ICMP error. */
	if (hops > 1)
		return flaw;
	packet->is_error |= flaw && packet->protocol == IPPROTO_ICMP;
	return flaw == PACKET_CUT ? flaw : PACKET_EXPIRED;
}

enum packet_flaw packet__read(struct packet *packet, uint8_t *frame, size_t length)
{
	size_t link = ETHERNET_LENGTH;
	uint32_t type;

	*packet = (struct packet){ .frame = frame };
	if (length < link)
		return PACKET_CUT;
	type = get16(frame + ETHERTYPE);
	while ((type == ETHERTYPE_TAG || type == ETHERTYPE_OUTER_TAG) && link < PACKET_LINK_MAX) {
		link += TAG_LENGTH;
		if (length < link)
			return PACKET_CUT;
		type = get16(frame + link - 2);
	}
	if (type != ETHERTYPE_IPV4 && type != ETHERTYPE_IPV6)
		return PACKET_OTHER;
	packet->ip = frame + link;
	packet->is_ipv6 = type == ETHERTYPE_IPV6;
	return read_ip(packet, length - link);
}
