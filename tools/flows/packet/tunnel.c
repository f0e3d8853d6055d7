// SPDX-License-Identifier: GPL-2.0-only
/* Frames in VXLAN: see tunnel.h. */
#include "tunnel.h"

#include <netinet/in.h>
#include <string.h>

#include "packet_internal.h"

#define VXLAN_PORT 4789
#define VXLAN_LENGTH 8
#define VXLAN_HAS_VNI 0x08 /* among the flags, the first byte */
#define VXLAN_VNI 4
/* Bytes of a tunnel before the frame, after the header of IPv4 or IPv6. */
#define TUNNEL_LENGTH (UDP_LENGTH + VXLAN_LENGTH)

#define ICMP_HOST 1 /* code of ICMP_UNREACHABLE */

static size_t header_length(const struct packet *packet)
{
	return packet->is_ipv6 ? IPV6_LENGTH : IP_LENGTH;
}

/* Bytes of the tunnel around an IPv4 packet. */
static size_t around(const struct packet *packet)
{
	return header_length(packet) + TUNNEL_LENGTH + ETHERNET_LENGTH;
}

/* ---- reading */

static bool has_no_checksum(const struct packet *packet)
{
	return packet->protocol == IPPROTO_UDP && !get16(packet->transport + UDP_CHECKSUM);
}

bool tunnel__is_sound(const struct packet *packet)
{
	const size_t whole = packet->frame + packet->length - packet->transport;
	size_t told;

	if (!packet->is_ipv6 || !has_no_checksum(packet))
		return packet__is_sound(packet);
	told = get16(packet->transport + UDP_LENGTH_FIELD);
	return told >= UDP_LENGTH && told <= whole;
}

/* @told: bytes that the tunnel says there are; a packet that was cut has fewer, @length. */
static void read_ipv4(struct tunnel *tunnel, uint8_t *ip, size_t length, size_t told)
{
	size_t header, total;
	uint32_t fragment;
	uint8_t *icmp;

	if (length < IP_LENGTH)
		return;
	header = 4 * (ip[0] & 15);
	total = get16(ip + 2);
	if (ip[0] >> 4 != 4 || header < IP_LENGTH || header > length || total < header ||
	    total > told || add_up(ip, header, 0) != 0xffff)
		return;
	fragment = get16(ip + OFFSET_FRAGMENT);
	tunnel->content = TUNNEL_IPV4;
	tunnel->end = ip + (total < length ? total : length);
	tunnel->source = get32(ip + OFFSET_SOURCE);
	tunnel->destination = get32(ip + OFFSET_DESTINATION);
	tunnel->may_be_fragmented = !(fragment & DO_NOT_FRAGMENT);
	tunnel->is_error = fragment & FRAGMENT_OFFSET;
	icmp = ip + header;
	if (ip[9] != IPPROTO_ICMP || tunnel->is_error)
		return;
	if (total - header < ICMP_LENGTH || length - header < ICMP_LENGTH) {
		tunnel->is_error = true;
		return;
	}
	tunnel->is_echo = icmp[0] == ICMP_ECHO_REQUEST && !icmp[1] &&
			  !(fragment & MORE_FRAGMENTS) && total <= length &&
			  add_up(icmp, total - header, 0) == 0xffff;
	tunnel->is_error = icmp[0] != ICMP_ECHO_REQUEST && icmp[0] != ICMP_ECHO_REPLY;
}

static void read_request(struct tunnel *tunnel, uint32_t type, const uint8_t *bytes, size_t length)
{
	if (neighbour__read(&tunnel->request, type, bytes, length))
		tunnel->content = TUNNEL_NEIGHBOUR;
}

void tunnel__read(struct tunnel *tunnel, const struct packet *packet)
{
	uint8_t *vxlan = packet->transport + UDP_LENGTH, *payload;
	const size_t whole = packet->frame + packet->length - packet->transport;
	const size_t told = get16(packet->transport + UDP_LENGTH_FIELD);
	const size_t length = told < whole ? told : whole;

	*tunnel = (struct tunnel){ .content = TUNNEL_NONE };
	if (packet->destination.port != VXLAN_PORT ||
	    length < TUNNEL_LENGTH + ETHERNET_LENGTH || !(vxlan[0] & VXLAN_HAS_VNI))
		return;
	tunnel->content = TUNNEL_OTHER;
	tunnel->vni = get32(vxlan + VXLAN_VNI) >> 8;
	tunnel->frame = vxlan + VXLAN_LENGTH;
	tunnel->end = packet->transport + length;
	payload = tunnel->frame + ETHERNET_LENGTH;
	switch (get16(tunnel->frame + 12)) {
	case ETHERTYPE_IPV4:
		read_ipv4(tunnel, payload, tunnel->end - payload,
			  told - TUNNEL_LENGTH - ETHERNET_LENGTH);
		break;
	default:
		read_request(tunnel, get16(tunnel->frame + ETHERTYPE), payload,
			     tunnel->end - payload);
		break;
	}
}

/* ---- moving */

uint16_t tunnel__port(uint16_t port, uint32_t source, uint32_t destination, uint8_t protocol)
{
	uint8_t bytes[11];
	uint16_t crc = 0;
	size_t i;
	int bit;

	put16(bytes, port);
	put32(bytes + 2, source);
	put32(bytes + 6, destination);
	bytes[10] = protocol;
	for (i = 0; i < sizeof(bytes); i++) {
		crc ^= bytes[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1;
	}
	return 0xc000 | (crc & 0x3fff);
}

void tunnel__move(const struct tunnel *tunnel, struct packet *packet, address_t server, uint32_t vni)
{
	const bool was_without = has_no_checksum(packet);
	const struct end source = { packet->source.address,
				    tunnel__port(packet->source.port, tunnel->source,
						 tunnel->destination,
						 tunnel->frame[ETHERNET_LENGTH + 9]) };
	uint8_t *field = packet->transport + UDP_LENGTH + VXLAN_VNI;
	const struct end destination = { server, VXLAN_PORT };

	packet__set_source(packet, &source);
	packet__set_destination(packet, &destination);
	packet__put_covered(packet, field, vni >> 8);
	packet__put_covered(packet, field + 2, (vni & 0xff) << 8 | field[3]);
	if (was_without)
		put16(packet->transport + UDP_CHECKSUM, 0);
}

/* ---- answers */

static bool is_answerable(const struct tunnel *tunnel, const struct packet *packet)
{
	const uint8_t *sender = tunnel->frame + PACKET_MAC_LENGTH;

	return !(*sender & 1) && address__is_unicast(packet->source.address) &&
	       address__is_unicast(packet->destination.address);
}

/* Returns the place after the Ethernet header inside. */
static uint8_t *begin(const struct tunnel *tunnel, const struct packet *packet,
		      const struct tunnel_host *host, uint32_t type, uint8_t *frame)
{
	uint8_t *udp = packet__begin_answer(packet, frame), *vxlan = udp + UDP_LENGTH,
		*inside = vxlan + VXLAN_LENGTH;

	vxlan[0] = VXLAN_HAS_VNI;
	put32(vxlan + VXLAN_VNI, tunnel->vni << 8);
	memcpy(inside, tunnel->frame + PACKET_MAC_LENGTH, PACKET_MAC_LENGTH);
	memcpy(inside + PACKET_MAC_LENGTH, host->mac, PACKET_MAC_LENGTH);
	put16(inside + 12, type);
	return inside + ETHERNET_LENGTH;
}

/* With @length bytes after the Ethernet header inside. */
static void end(struct packet *packet, uint8_t *frame, size_t length)
{
	const size_t whole = TUNNEL_LENGTH + ETHERNET_LENGTH + length;
	const struct end from = { packet->destination.address, packet->source.port };
	uint8_t *udp = frame + (packet->ip - packet->frame) + header_length(packet);

	/* As a port of the sender, it is as random as that of the packet. */
	put16(udp, packet->source.port);
	put16(udp + 2, VXLAN_PORT);
	put16(udp + UDP_LENGTH_FIELD, whole);
	packet__end_answer(packet, frame, &from, IPPROTO_UDP, whole);
	packet->destination.port = VXLAN_PORT;
}

/* Writes an IPv4 header of @host, and the checksum of ICMP, which has @length bytes. */
static size_t write_icmp(const struct tunnel *tunnel, const struct tunnel_host *host, uint8_t *ip,
			 size_t length)
{
	uint8_t *icmp = ip + IP_LENGTH;

	memset(ip, 0, IP_LENGTH);
	ip[0] = 4 << 4 | IP_LENGTH / 4;
	put16(ip + 2, IP_LENGTH + length);
	put16(ip + OFFSET_FRAGMENT, DO_NOT_FRAGMENT);
	ip[OFFSET_TTL] = 64;
	ip[9] = IPPROTO_ICMP;
	put32(ip + OFFSET_SOURCE, host->address);
	put32(ip + OFFSET_DESTINATION, tunnel->source);
	put16(ip + OFFSET_CHECKSUM, ~add_up(ip, IP_LENGTH, 0) & 0xffff);
	put16(icmp + ICMP_CHECKSUM, 0);
	put16(icmp + ICMP_CHECKSUM, ~add_up(icmp, length, 0) & 0xffff);
	return IP_LENGTH + length;
}

/* 0: it is too long. */
static size_t write_echo(const struct tunnel *tunnel, const struct tunnel_host *host, uint8_t *ip,
			 size_t most)
{
	const uint8_t *request = tunnel->frame + ETHERNET_LENGTH;
	const uint8_t *icmp = request + 4 * (request[0] & 15);
	const size_t length = tunnel->end - icmp;

	if (IP_LENGTH + length > most || !address__is_unicast(tunnel->source))
		return 0;
	memcpy(ip + IP_LENGTH, icmp, length);
	ip[IP_LENGTH] = ICMP_ECHO_REPLY;
	return write_icmp(tunnel, host, ip, length);
}

/* Of an answer, after the Ethernet header inside; over IPv6 it could be longer. */
#define INSIDE_MAX (PACKET_LEAST_4 - IP_LENGTH - TUNNEL_LENGTH - ETHERNET_LENGTH)

bool tunnel__reply(const struct tunnel *tunnel, const struct tunnel_host *host,
		   struct packet *packet, uint8_t frame[static PACKET_ANSWER_MAX])
{
	size_t length = 0;

	if (!is_answerable(tunnel, packet))
		return false;
	if (tunnel->content == TUNNEL_NEIGHBOUR)
		length = neighbour__answer(
			&tunnel->request, host->mac,
			begin(tunnel, packet, host,
			      tunnel->request.is_ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_ARP, frame));
	else if (tunnel->is_echo)
		length = write_echo(tunnel, host,
				    begin(tunnel, packet, host, ETHERTYPE_IPV4, frame), INSIDE_MAX);
	if (!length)
		return false;
	end(packet, frame, length);
	return true;
}

/* The last 16 bits of the header of the error are @number. */
static bool send_error(const struct tunnel *tunnel, const struct tunnel_host *host,
		       struct packet *packet, uint8_t code, uint16_t number, uint8_t *frame)
{
	const uint8_t *quoted = tunnel->frame + ETHERNET_LENGTH;
	const size_t most = INSIDE_MAX - IP_LENGTH - ICMP_LENGTH, whole = tunnel->end - quoted;
	const size_t length = whole < most ? whole : most;
	uint8_t *ip, *icmp;

	if (tunnel->is_error || !is_answerable(tunnel, packet) ||
	    !address__is_unicast(host->address) || !address__is_unicast(tunnel->source) ||
	    !address__is_unicast(tunnel->destination))
		return false;
	ip = begin(tunnel, packet, host, ETHERTYPE_IPV4, frame);
	icmp = ip + IP_LENGTH;
	memset(icmp, 0, ICMP_LENGTH);
	icmp[0] = ICMP_UNREACHABLE;
	icmp[1] = code;
	put16(icmp + ICMP_MTU, number);
	memcpy(icmp + ICMP_LENGTH, quoted, length);
	end(packet, frame, write_icmp(tunnel, host, ip, ICMP_LENGTH + length));
	return true;
}

bool tunnel__refuse(const struct tunnel *tunnel, const struct tunnel_host *host,
		    struct packet *packet, uint8_t frame[static PACKET_ANSWER_MAX])
{
	return send_error(tunnel, host, packet, ICMP_HOST, 0, frame);
}

bool tunnel__tell_mtu(const struct tunnel *tunnel, const struct tunnel_host *host,
		      struct packet *packet, uint16_t mtu, uint8_t frame[static PACKET_ANSWER_MAX])
{
	if (tunnel->may_be_fragmented)
		return false;
	return send_error(tunnel, host, packet, ICMP_TOO_LONG, mtu - around(packet), frame);
}
