// SPDX-License-Identifier: GPL-2.0-only
/* Rewrites packets: see packet.h. */
#include <netinet/in.h>
#include <string.h>

#include "packet.h"
#include "packet_internal.h"

/* ---- checksums */

/* HC' = ~(~HC + ~m + m'), equation 3 of RFC 1624. */
static void adjust(uint8_t *checksum, uint32_t before, uint32_t after)
{
	put16(checksum, ~fold((~get16(checksum) & 0xffff) + (~before & 0xffff) + after) & 0xffff);
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
	put_covered(packet, packet__checksum(packet), field, value);
}

/* ---- rewriting */

/*
 * Writes the address at this offset of the header of IPv4 or IPv6; @checksum: another one that
 * covers it.
 */
static void set_address(struct packet *packet, size_t offset, uint8_t *checksum, address_t address)
{
	const size_t length = address_length_of(packet->is_ipv6);
	uint8_t *field = packet->ip + offset, bytes[ADDRESS_LENGTH];
	size_t i;

	address__put(bytes, length, address);
	for (i = 0; i < length; i += 2) {
		if (!packet->is_ipv6)
			adjust(packet->ip + OFFSET_CHECKSUM, get16(field + i), get16(bytes + i));
		put_covered(packet, checksum, field + i, get16(bytes + i));
	}
}

/* The same with the port at @port, NULL: none. */
static void set_end(struct packet *packet, size_t offset, uint8_t *port, const struct end *end)
{
	const bool is_covered = packet->protocol != IPPROTO_ICMP || packet->is_ipv6;
	uint8_t *checksum = packet__checksum(packet);

	set_address(packet, offset, is_covered ? checksum : NULL, end->address);
	if (port)
		put_covered(packet, checksum, port, end->port);
}

void packet__set_source(struct packet *packet, const struct end *source)
{
	uint8_t *port = packet->transport;

	if (packet->protocol == IPPROTO_ICMP)
		port = packet->is_reply || packet->is_error ? NULL : port + ICMP_IDENTIFIER;
	set_end(packet, source_of(packet->is_ipv6), port, source);
	packet->source = *source;
}

void packet__set_destination(struct packet *packet, const struct end *destination)
{
	uint8_t *port = packet->transport + 2;

	if (packet->protocol == IPPROTO_ICMP)
		port = packet->is_reply ? packet->transport + ICMP_IDENTIFIER : NULL;
	set_end(packet, destination_of(packet->is_ipv6), port, destination);
	packet->destination = *destination;
}

void packet__set_addresses(struct packet *packet, address_t source, address_t destination)
{
	set_address(packet, source_of(packet->is_ipv6), NULL, source);
	set_address(packet, destination_of(packet->is_ipv6), NULL, destination);
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
	return packet->transport + packet->quoted_transport;
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
	const bool is_covered = packet->quoted_protocol != IPPROTO_ICMP || packet->is_ipv6;
	uint8_t *ip = packet->transport + ICMP_LENGTH, *checksum = quoted_checksum(packet);
	const size_t length = address_length_of(packet->is_ipv6);
	uint8_t bytes[ADDRESS_LENGTH];
	uint32_t before;
	size_t i;

	address__put(bytes, length, end->address);
	for (i = 0; i < length; i += 2) {
		before = get16(ip + offset + i);
		put_quoted(packet, ip + offset + i, get16(bytes + i));
		if (!packet->is_ipv6)
			adjust_quoted(packet, ip + OFFSET_CHECKSUM, before, get16(bytes + i));
		if (is_covered)
			adjust_quoted(packet, checksum, before, get16(bytes + i));
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
		port = *port == echo_request_of(packet->is_ipv6) ? port + ICMP_IDENTIFIER : NULL;
	set_quoted_end(packet, source_of(packet->is_ipv6), port, source);
	packet->quoted_source = *source;
}

void packet__set_quoted_destination(struct packet *packet, const struct end *destination)
{
	uint8_t *port = quoted_transport(packet);

	if (packet->quoted_protocol == IPPROTO_ICMP)
		port = *port == echo_reply_of(packet->is_ipv6) ? port + ICMP_IDENTIFIER : NULL;
	else
		port += 2;
	set_quoted_end(packet, destination_of(packet->is_ipv6), port, destination);
	packet->quoted_destination = *destination;
}

void packet__route(struct packet *packet, const uint8_t next_hop[static PACKET_MAC_LENGTH])
{
	uint8_t *ttl = packet->ip + OFFSET_TTL;
	const uint32_t before = get16(ttl);

	if (packet->is_ipv6) {
		packet->ip[OFFSET6_HOPS]--;
	} else {
		--*ttl;
		adjust(packet->ip + OFFSET_CHECKSUM, before, get16(ttl));
	}
	memcpy(packet->frame + PACKET_MAC_LENGTH, packet->frame, PACKET_MAC_LENGTH);
	memcpy(packet->frame, next_hop, PACKET_MAC_LENGTH);
}
