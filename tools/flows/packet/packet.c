// SPDX-License-Identifier: GPL-2.0-only
/* Reads and rewrites frames: see packet.h. */
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

/* HC' = ~(~HC + ~m + m'), equation 3 of RFC 1624. */
static void adjust(uint8_t *checksum, uint32_t before, uint32_t after)
{
	put16(checksum, ~fold((~get16(checksum) & 0xffff) + (~before & 0xffff) + after) & 0xffff);
}

/* The checksum after the IPv4 header; NULL if the packet has none. */
static uint8_t *transport_checksum(const struct packet *packet)
{
	uint8_t *checksum;

	switch (packet->protocol) {
	case IPPROTO_TCP:
		return packet->transport + TCP_CHECKSUM;
	case IPPROTO_UDP:
		checksum = packet->transport + UDP_CHECKSUM;
		return get16(checksum) ? checksum : NULL;
	default:
		return packet->transport + ICMP_CHECKSUM;
	}
}

/* @checksum: that of the transport; NULL: none */
static void put_covered(const struct packet *packet, uint8_t *checksum, uint8_t *field,
			uint32_t value)
{
	const uint32_t before = get16(field);

	put16(field, value);
	if (!checksum)
		return;
	adjust(checksum, before, value);
	/* 0 would mean that there is none (RFC 768). */
	if (packet->protocol == IPPROTO_UDP && !get16(checksum))
		put16(checksum, 0xffff);
}

void packet__put_covered(const struct packet *packet, uint8_t *field, uint32_t value)
{
	put_covered(packet, transport_checksum(packet), field, value);
}

/* Bytes after the IPv4 header. */
static size_t transport_length(const struct packet *packet)
{
	return packet->frame + packet->length - packet->transport;
}

/* The sum of @length bytes after the IPv4 header, and of the pseudo header if it is covered. */
static uint32_t sum_of(const struct packet *packet, size_t length)
{
	uint32_t sum = 0;

	if (packet->protocol != IPPROTO_ICMP)
		sum = add_up(packet->ip + OFFSET_SOURCE, 8, packet->protocol + length);
	return add_up(packet->transport, length, sum);
}

void packet__complete(struct packet *packet)
{
	uint8_t *checksum = transport_checksum(packet);
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
	return !transport_checksum(packet) || sum_of(packet, length) == 0xffff;
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

/* The packet that an ICMP error quotes. */
static enum packet_flaw read_quoted(struct packet *packet, const uint8_t *ip, size_t length)
{
	const uint8_t *transport;
	size_t header;

	if (length < IP_LENGTH)
		return PACKET_CUT;
	header = 4 * (ip[0] & 15);
	if (header < IP_LENGTH || header + QUOTED_LENGTH > length)
		return PACKET_CUT;
	if (ip[0] >> 4 != 4 || get16(ip + 6) & 0x1fff)
		return PACKET_OTHER;
	if (add_up(ip, header, 0) != 0xffff)
		return PACKET_DAMAGED;
	transport = ip + header;
	packet->quoted_protocol = ip[9];
	packet->quoted_source.address = get32(ip + OFFSET_SOURCE);
	packet->quoted_destination.address = get32(ip + OFFSET_DESTINATION);
	if (ip[9] == IPPROTO_TCP || ip[9] == IPPROTO_UDP) {
		packet->quoted_source.port = get16(transport);
		packet->quoted_destination.port = get16(transport + 2);
	} else if (ip[9] == IPPROTO_ICMP && transport[0] == ICMP_ECHO_REQUEST) {
		packet->quoted_source.port = get16(transport + ICMP_IDENTIFIER);
	} else if (ip[9] == IPPROTO_ICMP && transport[0] == ICMP_ECHO_REPLY) {
		packet->quoted_destination.port = get16(transport + ICMP_IDENTIFIER);
	} else {
		return PACKET_OTHER;
	}
	packet->is_error = true;
	return PACKET_GOOD;
}

static enum packet_flaw read_icmp(struct packet *packet, size_t length)
{
	const uint16_t identifier = get16(packet->transport + ICMP_IDENTIFIER);

	switch (packet->transport[0]) {
	case ICMP_ECHO_REPLY:
		packet->is_reply = true;
		packet->destination.port = identifier;
		break;
	case ICMP_ECHO_REQUEST:
		packet->source.port = identifier;
		break;
	case ICMP_UNREACHABLE:
	case ICMP_TIME_EXCEEDED:
	case ICMP_PARAMETER_PROBLEM:
		return read_quoted(packet, packet->transport + ICMP_LENGTH, length - ICMP_LENGTH);
	default:
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
	packet->is_error = true; /* it gets no answer, as an error gets none */
	return packet->ip[OFFSET_TTL] <= 1 ? PACKET_EXPIRED : PACKET_FRAGMENT;
}

static enum packet_flaw read_ip(struct packet *packet, size_t length)
{
	uint8_t *ip = packet->ip;
	enum packet_flaw flaw;
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
	packet->length = ETHERNET_LENGTH + total;
	packet->transport = ip + header;
	packet->protocol = ip[9];
	packet->source.address = get32(ip + OFFSET_SOURCE);
	packet->destination.address = get32(ip + OFFSET_DESTINATION);
	packet->identification = get16(ip + 4);
	packet->is_fragment = get16(ip + OFFSET_FRAGMENT) & (MORE_FRAGMENTS | FRAGMENT_OFFSET);
	if (packet->is_fragment) {
		flaw = read_fragment(packet, total - header);
		if (flaw)
			return flaw;
	}
	flaw = read_transport(packet);
	/* A packet of another protocol expires as well, but not one that may be an ICMP error. */
	if (ip[OFFSET_TTL] > 1)
		return flaw;
	packet->is_error |= flaw && packet->protocol == IPPROTO_ICMP;
	return flaw == PACKET_CUT ? flaw : PACKET_EXPIRED;
}

enum packet_flaw packet__read(struct packet *packet, uint8_t *frame, size_t length)
{
	*packet = (struct packet){ .frame = frame, .ip = frame + ETHERNET_LENGTH };
	if (length < ETHERNET_LENGTH)
		return PACKET_CUT;
	if (get16(frame + 12) != ETHERTYPE_IPV4)
		return PACKET_OTHER;
	return read_ip(packet, length - ETHERNET_LENGTH);
}

/* ---- rewriting */

/* Writes the address at this offset of the IPv4 header; @checksum: another one that covers it. */
static void set_address(struct packet *packet, size_t offset, uint8_t *checksum, uint32_t address)
{
	uint8_t *field = packet->ip + offset;
	size_t i;

	for (i = 0; i < 4; i += 2) {
		const uint32_t half = address >> (16 - 8 * i) & 0xffff;

		adjust(packet->ip + OFFSET_CHECKSUM, get16(field + i), half);
		put_covered(packet, checksum, field + i, half);
	}
}

/* The same with the port at @port, NULL: none. */
static void set_end(struct packet *packet, size_t offset, uint8_t *port, const struct end *end)
{
	uint8_t *checksum = transport_checksum(packet);

	set_address(packet, offset, packet->protocol == IPPROTO_ICMP ? NULL : checksum,
		    end->address);
	if (port)
		put_covered(packet, checksum, port, end->port);
}

void packet__set_source(struct packet *packet, const struct end *source)
{
	uint8_t *port = packet->transport;

	if (packet->protocol == IPPROTO_ICMP)
		port = packet->is_reply || packet->is_error ? NULL : port + ICMP_IDENTIFIER;
	set_end(packet, OFFSET_SOURCE, port, source);
	packet->source = *source;
}

void packet__set_destination(struct packet *packet, const struct end *destination)
{
	uint8_t *port = packet->transport + 2;

	if (packet->protocol == IPPROTO_ICMP)
		port = packet->is_reply ? packet->transport + ICMP_IDENTIFIER : NULL;
	set_end(packet, OFFSET_DESTINATION, port, destination);
	packet->destination = *destination;
}

void packet__set_addresses(struct packet *packet, uint32_t source, uint32_t destination)
{
	set_address(packet, OFFSET_SOURCE, NULL, source);
	set_address(packet, OFFSET_DESTINATION, NULL, destination);
	packet->source.address = source;
	packet->destination.address = destination;
}

/* ---- rewriting a quoted packet */

/* Writes 16 bits of it, which the checksum of the error covers. */
static void put_quoted(struct packet *packet, uint8_t *field, uint32_t value)
{
	adjust(packet->transport + ICMP_CHECKSUM, get16(field), value);
	put16(field, value);
}

/* Adjusts a checksum of the quoted packet by the change of 16 bits. */
static void adjust_quoted(struct packet *packet, uint8_t *checksum, uint32_t before, uint32_t after)
{
	uint8_t adjusted[2];

	if (!checksum)
		return;
	memcpy(adjusted, checksum, sizeof(adjusted));
	adjust(adjusted, before, after);
	/* 0 would mean that there is none (RFC 768). */
	if (packet->quoted_protocol == IPPROTO_UDP && !get16(adjusted))
		put16(adjusted, 0xffff);
	put_quoted(packet, checksum, get16(adjusted));
}

static uint8_t *quoted_transport(const struct packet *packet)
{
	uint8_t *ip = packet->transport + ICMP_LENGTH;

	return ip + 4 * (ip[0] & 15);
}

/* The checksum after the quoted header; NULL if there is none, or it is not quoted. */
static uint8_t *quoted_checksum(const struct packet *packet)
{
	uint8_t *transport = quoted_transport(packet);
	const size_t length = packet->frame + packet->length - transport;

	switch (packet->quoted_protocol) {
	case IPPROTO_TCP:
		return length >= TCP_CHECKSUM + 2 ? transport + TCP_CHECKSUM : NULL;
	case IPPROTO_UDP:
		return get16(transport + UDP_CHECKSUM) ? transport + UDP_CHECKSUM : NULL;
	default:
		return transport + ICMP_CHECKSUM;
	}
}

/* Writes the address at this offset of the quoted header, and the port at @port, NULL: none. */
static void set_quoted_end(struct packet *packet, size_t offset, uint8_t *port,
			   const struct end *end)
{
	uint8_t *ip = packet->transport + ICMP_LENGTH, *checksum = quoted_checksum(packet);
	uint32_t before;
	size_t i;

	for (i = 0; i < 4; i += 2) {
		const uint32_t half = end->address >> (16 - 8 * i) & 0xffff;

		before = get16(ip + offset + i);
		put_quoted(packet, ip + offset + i, half);
		adjust_quoted(packet, ip + OFFSET_CHECKSUM, before, half);
		if (packet->quoted_protocol != IPPROTO_ICMP)
			adjust_quoted(packet, checksum, before, half);
	}
	if (!port)
		return;
	before = get16(port);
	put_quoted(packet, port, end->port);
	adjust_quoted(packet, checksum, before, end->port);
}

void packet__set_quoted_source(struct packet *packet, const struct end *source)
{
	uint8_t *port = quoted_transport(packet);

	if (packet->quoted_protocol == IPPROTO_ICMP)
		port = *port == ICMP_ECHO_REQUEST ? port + ICMP_IDENTIFIER : NULL;
	set_quoted_end(packet, OFFSET_SOURCE, port, source);
	packet->quoted_source = *source;
}

void packet__set_quoted_destination(struct packet *packet, const struct end *destination)
{
	uint8_t *port = quoted_transport(packet);

	if (packet->quoted_protocol == IPPROTO_ICMP)
		port = *port == ICMP_ECHO_REPLY ? port + ICMP_IDENTIFIER : NULL;
	else
		port += 2;
	set_quoted_end(packet, OFFSET_DESTINATION, port, destination);
	packet->quoted_destination = *destination;
}

void packet__route(struct packet *packet, const uint8_t next_hop[static PACKET_MAC_LENGTH])
{
	uint8_t *ttl = packet->ip + OFFSET_TTL;
	const uint32_t before = get16(ttl);

	--*ttl;
	adjust(packet->ip + OFFSET_CHECKSUM, before, get16(ttl));
	memcpy(packet->frame + PACKET_MAC_LENGTH, packet->frame, PACKET_MAC_LENGTH);
	memcpy(packet->frame, next_hop, PACKET_MAC_LENGTH);
}
