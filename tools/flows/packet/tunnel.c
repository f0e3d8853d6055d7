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
/* Bytes of a tunnel before the frame, after the IPv4 header, and of IPv4 packets around it. */
#define TUNNEL_LENGTH (UDP_LENGTH + VXLAN_LENGTH)
#define AROUND (IP_LENGTH + TUNNEL_LENGTH + ETHERNET_LENGTH)

#define ETHERTYPE_ARP 0x0806
#define ARP_LENGTH 28
#define ARP_REQUEST 1
#define ARP_REPLY 2
#define ARP_OPERATION 6
#define ARP_SENDER_MAC 8
#define ARP_SENDER 14
#define ARP_TARGET_MAC 18
#define ARP_TARGET 24
#define ND_LENGTH 24 /* without options */
#define ND_OPTION_LENGTH 8
#define ND_HOPS 255
#define ND_SOLICITATION 135
#define ND_ADVERTISEMENT 136
#define ND_FLAGS 4
#define ND_ROUTER 0x80
#define ND_SOLICITED 0x40
#define ND_OVERRIDE 0x20
#define ND_TARGET 8
#define ND_TARGET_MAC 2 /* type of an option */
#define ICMP_HOST 1 /* code of ICMP_UNREACHABLE */

/* ---- reading */

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

static void read_arp(struct tunnel *tunnel, const uint8_t *arp, size_t length)
{
	/* Ethernet and IPv4, with their lengths. */
	static const uint8_t kind[] = { 0, 1, 8, 0, PACKET_MAC_LENGTH, 4 };

	if (length < ARP_LENGTH || memcmp(arp, kind, sizeof(kind)) != 0 ||
	    get16(arp + ARP_OPERATION) != ARP_REQUEST)
		return;
	tunnel->content = TUNNEL_ARP;
	tunnel->source = get32(arp + ARP_SENDER);
	tunnel->destination = get32(arp + ARP_TARGET);
}

/* Of ICMPv6, over @length bytes after the header. */
static uint32_t sum_of_icmp6(const uint8_t *ip, size_t length)
{
	const uint32_t sum = length + IPPROTO_ICMPV6;

	return add_up(ip + OFFSET6_SOURCE, 2 * TUNNEL_IPV6_LENGTH + length, sum);
}

static void read_ipv6(struct tunnel *tunnel, const uint8_t *ip, size_t length)
{
	const uint8_t *icmp = ip + IPV6_LENGTH;
	size_t payload;

	if (length < IPV6_LENGTH + ND_LENGTH || ip[0] >> 4 != 6)
		return;
	payload = get16(ip + OFFSET6_PAYLOAD);
	if (ip[OFFSET6_NEXT_HEADER] != IPPROTO_ICMPV6 || ip[OFFSET6_HOPS] != ND_HOPS ||
	    payload < ND_LENGTH || payload > length - IPV6_LENGTH ||
	    sum_of_icmp6(ip, payload) != 0xffff || icmp[0] != ND_SOLICITATION || icmp[1])
		return;
	tunnel->content = TUNNEL_SOLICITATION;
	memcpy(tunnel->wanted, icmp + ND_TARGET, TUNNEL_IPV6_LENGTH);
}

void tunnel__read(struct tunnel *tunnel, const struct packet *packet)
{
	uint8_t *vxlan = packet->transport + UDP_LENGTH, *payload;
	const size_t whole = packet->frame + packet->length - packet->transport;
	const size_t told = get16(packet->transport + UDP_LENGTH_FIELD);
	const size_t length = told < whole ? told : whole;

	*tunnel = (struct tunnel){ .content = TUNNEL_NONE };
	if (packet->is_ipv6 || packet->destination.port != VXLAN_PORT ||
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
	case ETHERTYPE_ARP:
		read_arp(tunnel, payload, tunnel->end - payload);
		break;
	case ETHERTYPE_IPV6:
		read_ipv6(tunnel, payload, tunnel->end - payload);
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

void tunnel__move(const struct tunnel *tunnel, struct packet *packet, uint32_t server, uint32_t vni)
{
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
	uint8_t *udp = frame + (packet->ip - packet->frame) + IP_LENGTH;

	/* As a port of the sender, it is as random as that of the packet. */
	put16(udp, packet->source.port);
	put16(udp + 2, VXLAN_PORT);
	put16(udp + UDP_LENGTH_FIELD, whole);
	packet__end_answer(packet, frame, &from, IPPROTO_UDP, whole);
	packet->destination.port = VXLAN_PORT;
}

static size_t write_arp(const struct tunnel *tunnel, const struct tunnel_host *host, uint8_t *arp)
{
	const uint8_t *request = tunnel->frame + ETHERNET_LENGTH;

	memcpy(arp, request, ARP_OPERATION);
	put16(arp + ARP_OPERATION, ARP_REPLY);
	memcpy(arp + ARP_SENDER_MAC, host->mac, PACKET_MAC_LENGTH);
	memcpy(arp + ARP_SENDER, request + ARP_TARGET, 4);
	memcpy(arp + ARP_TARGET_MAC, request + ARP_SENDER_MAC, PACKET_MAC_LENGTH);
	memcpy(arp + ARP_TARGET, request + ARP_SENDER, 4);
	return ARP_LENGTH;
}

static size_t write_advertisement(const struct tunnel *tunnel, const struct tunnel_host *host,
				  uint8_t *ip)
{
	static const uint8_t none[TUNNEL_IPV6_LENGTH],
		all_nodes[TUNNEL_IPV6_LENGTH] = { [0] = 0xff, [1] = 0x02, [15] = 1 };
	const uint8_t *sender = tunnel->frame + ETHERNET_LENGTH + OFFSET6_SOURCE;
	/* A host that asks whether an address is free has none itself (RFC 4862). */
	const bool is_probe = !memcmp(sender, none, sizeof(none));
	const size_t length = ND_LENGTH + ND_OPTION_LENGTH;
	uint8_t *icmp = ip + IPV6_LENGTH;

	memset(ip, 0, IPV6_LENGTH + length);
	ip[0] = 6 << 4;
	put16(ip + OFFSET6_PAYLOAD, length);
	ip[OFFSET6_NEXT_HEADER] = IPPROTO_ICMPV6;
	ip[OFFSET6_HOPS] = ND_HOPS;
	memcpy(ip + OFFSET6_SOURCE, tunnel->wanted, TUNNEL_IPV6_LENGTH);
	memcpy(ip + OFFSET6_DESTINATION, is_probe ? all_nodes : sender, TUNNEL_IPV6_LENGTH);
	icmp[0] = ND_ADVERTISEMENT;
	icmp[ND_FLAGS] = ND_ROUTER | ND_OVERRIDE | (is_probe ? 0 : ND_SOLICITED);
	memcpy(icmp + ND_TARGET, tunnel->wanted, TUNNEL_IPV6_LENGTH);
	icmp[ND_LENGTH] = ND_TARGET_MAC;
	icmp[ND_LENGTH + 1] = ND_OPTION_LENGTH / 8;
	memcpy(icmp + ND_LENGTH + 2, host->mac, PACKET_MAC_LENGTH);
	put16(icmp + ICMP_CHECKSUM, ~sum_of_icmp6(ip, length) & 0xffff);
	return IPV6_LENGTH + length;
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

/* Of an answer, after the Ethernet header inside. */
#define INSIDE_MAX (PACKET_LEAST_4 - AROUND)

bool tunnel__reply(const struct tunnel *tunnel, const struct tunnel_host *host,
		   struct packet *packet, uint8_t frame[static PACKET_ANSWER_MAX])
{
	size_t length = 0;

	if (!is_answerable(tunnel, packet))
		return false;
	if (tunnel->content == TUNNEL_ARP)
		length = write_arp(tunnel, host, begin(tunnel, packet, host, ETHERTYPE_ARP, frame));
	else if (tunnel->content == TUNNEL_SOLICITATION)
		length = write_advertisement(tunnel, host,
					     begin(tunnel, packet, host, ETHERTYPE_IPV6, frame));
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
	return send_error(tunnel, host, packet, ICMP_TOO_LONG, mtu - AROUND, frame);
}
