// SPDX-License-Identifier: GPL-2.0-only
/* Requests of neighbours, and answers: see neighbour.h. */
#include "neighbour.h"

#include <netinet/in.h>
#include <string.h>

#include "packet_internal.h"

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

_Static_assert(IPV6_LENGTH + ND_LENGTH + ND_OPTION_LENGTH == NEIGHBOUR_ANSWER_MAX, "all bytes");

static bool read_arp(struct neighbour_request *request, const uint8_t *arp, size_t length)
{
	/* Ethernet and IPv4, with their lengths. */
	static const uint8_t kind[] = { 0, 1, 8, 0, PACKET_MAC_LENGTH, 4 };

	if (length < ARP_LENGTH || memcmp(arp, kind, sizeof(kind)) != 0 ||
	    get16(arp + ARP_OPERATION) != ARP_REQUEST)
		return false;
	request->wanted = get32(arp + ARP_TARGET);
	return true;
}

/* Of ICMPv6, over @length bytes after the header. */
static uint32_t sum_of(const uint8_t *ip, size_t length)
{
	return add_up(ip + OFFSET6_SOURCE, 2 * ADDRESS_LENGTH + length, length + IPPROTO_ICMPV6);
}

static bool read_solicitation(struct neighbour_request *request, const uint8_t *ip, size_t length)
{
	const uint8_t *icmp = ip + IPV6_LENGTH;
	size_t payload;

	if (length < IPV6_LENGTH + ND_LENGTH || ip[0] >> 4 != 6)
		return false;
	payload = get16(ip + OFFSET6_PAYLOAD);
	if (ip[OFFSET6_NEXT_HEADER] != IPPROTO_ICMPV6 || ip[OFFSET6_HOPS] != ND_HOPS ||
	    payload < ND_LENGTH || payload > length - IPV6_LENGTH ||
	    sum_of(ip, payload) != 0xffff || icmp[0] != ND_SOLICITATION || icmp[1])
		return false;
	request->wanted = address__get(icmp + ND_TARGET, ADDRESS_LENGTH);
	return !address__is_ipv4(request->wanted);
}

bool neighbour__read(struct neighbour_request *request, uint32_t ethertype, const uint8_t *bytes,
		     size_t length)
{
	*request = (struct neighbour_request){
		.bytes = bytes,
		.is_ipv6 = ethertype == ETHERTYPE_IPV6,
	};
	if (ethertype == ETHERTYPE_ARP)
		return read_arp(request, bytes, length);
	return request->is_ipv6 && read_solicitation(request, bytes, length);
}

static size_t answer_arp(const uint8_t *request, const uint8_t *mac, uint8_t *arp)
{
	memcpy(arp, request, ARP_OPERATION);
	put16(arp + ARP_OPERATION, ARP_REPLY);
	memcpy(arp + ARP_SENDER_MAC, mac, PACKET_MAC_LENGTH);
	memcpy(arp + ARP_SENDER, request + ARP_TARGET, ADDRESS_LENGTH_4);
	memcpy(arp + ARP_TARGET_MAC, request + ARP_SENDER_MAC, PACKET_MAC_LENGTH);
	memcpy(arp + ARP_TARGET, request + ARP_SENDER, ADDRESS_LENGTH_4);
	return ARP_LENGTH;
}

static size_t answer_solicitation(const uint8_t *request, const uint8_t *mac, uint8_t *ip)
{
	static const uint8_t none[ADDRESS_LENGTH],
		all_nodes[ADDRESS_LENGTH] = { [0] = 0xff, [1] = 0x02, [15] = 1 };
	const uint8_t *sender = request + OFFSET6_SOURCE;
	const uint8_t *wanted = request + IPV6_LENGTH + ND_TARGET;
	/* A host that asks whether an address is free has none itself (RFC 4862). */
	const bool is_probe = !memcmp(sender, none, sizeof(none));
	const size_t length = ND_LENGTH + ND_OPTION_LENGTH;
	uint8_t *icmp = ip + IPV6_LENGTH;

	memset(ip, 0, IPV6_LENGTH + length);
	ip[0] = 6 << 4;
	put16(ip + OFFSET6_PAYLOAD, length);
	ip[OFFSET6_NEXT_HEADER] = IPPROTO_ICMPV6;
	ip[OFFSET6_HOPS] = ND_HOPS;
	memcpy(ip + OFFSET6_SOURCE, wanted, ADDRESS_LENGTH);
	memcpy(ip + OFFSET6_DESTINATION, is_probe ? all_nodes : sender, ADDRESS_LENGTH);
	icmp[0] = ND_ADVERTISEMENT;
	icmp[ND_FLAGS] = ND_ROUTER | ND_OVERRIDE | (is_probe ? 0 : ND_SOLICITED);
	memcpy(icmp + ND_TARGET, wanted, ADDRESS_LENGTH);
	icmp[ND_LENGTH] = ND_TARGET_MAC;
	icmp[ND_LENGTH + 1] = ND_OPTION_LENGTH / 8;
	memcpy(icmp + ND_LENGTH + 2, mac, PACKET_MAC_LENGTH);
	put16(icmp + ICMP_CHECKSUM, ~sum_of(ip, length) & 0xffff);
	return IPV6_LENGTH + length;
}

size_t neighbour__answer(const struct neighbour_request *request, const uint8_t mac[static 6],
			 uint8_t answer[static NEIGHBOUR_ANSWER_MAX])
{
	return request->is_ipv6 ? answer_solicitation(request->bytes, mac, answer) :
				  answer_arp(request->bytes, mac, answer);
}
