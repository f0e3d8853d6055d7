// SPDX-License-Identifier: GPL-2.0-only
/* Parses and builds packets with INT-MD over UDP. */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <libdart/report/roce_frame.h>

#include "int_packet.h"

#define TAGS_MAX		2	/* of VLANs, as in 802.1ad */
#define FRAGMENT		0x3fff	/* more of them, or an offset */
#define TTL			64
#define TYPE_INT_MD		1
#define NEXT_UDP_PAYLOAD	1	/* NPT: the protocol after INT */
#define NEXT_PROTOCOL		2
#define VERSION			2
#define LACKS_HOPS		0x06	/* E (too many), M (no room) */
#define HOP_WORDS_MASK		0x1f
#define NODE_ID			0x8000	/* the first instruction bit */

/* The shim header and the INT-MD header. */
struct int_headers {
	__u8 type_next;
	__u8 words;		/* after the shim */
	__be16 original;	/* the packet's own port, or protocol */
	__u8 version_flags;
	__u8 reserved;
	__u8 hop_words;
	__u8 remaining_hops;
	__be16 instructions;
	__be16 domain;
	__be16 domain_instructions;
	__be16 domain_flags;
} __attribute__((packed));

#define HEADER_WORDS ((sizeof(struct int_headers) - 4) / 4)

/* The bytes of a frame that are not parsed yet. */
struct rest {
	const uint8_t *at;
	size_t length;
};

static bool take(struct rest *rest, void *into, size_t length)
{
	if (rest->length < length)
		return false;
	if (into)
		memcpy(into, rest->at, length);
	rest->at += length;
	rest->length -= length;
	return true;
}

/* Is the sum over a header of IPv4, with its checksum, right? */
static bool is_whole(const uint8_t *header, size_t length)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < length; i += 2)
		sum += header[i] << 8 | header[i + 1];
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return sum == UINT16_MAX;
}

/*
 * Takes the addresses and the header; true if UDP follows.  @is_damaged: the checksum of
 * the header is wrong.
 */
static bool take_ipv4(struct rest *rest, struct int_packet *packet, bool *is_damaged)
{
	const uint8_t *header = rest->at;
	struct iphdr ip;

	if (!take(rest, &ip, sizeof(ip)) || ip.version != 4 || ip.ihl < 5 ||
	    !take(rest, NULL, ip.ihl * 4 - sizeof(ip)))
		return false;
	*is_damaged = !is_whole(header, ip.ihl * 4);
	memcpy(packet->key, &ip.saddr, 4);
	memcpy(packet->key + 4, &ip.daddr, 4);
	packet->key_length = 8;
	return ip.protocol == IPPROTO_UDP && !(ip.frag_off & htobe16(FRAGMENT));
}

static bool take_ipv6(struct rest *rest, struct int_packet *packet)
{
	struct ipv6hdr ip;

	if (!take(rest, &ip, sizeof(ip)) || ip.version != 6)
		return false;
	memcpy(packet->key, &ip.saddr, 16);
	memcpy(packet->key + 16, &ip.daddr, 16);
	packet->key_length = 32;
	return ip.nexthdr == IPPROTO_UDP;
}

static bool is_tag(__be16 type)
{
	return type == htobe16(ETH_P_8021Q) || type == htobe16(ETH_P_8021AD) ||
	       type == htobe16(ETH_P_QINQ1) || type == htobe16(ETH_P_QINQ2) ||
	       type == htobe16(ETH_P_QINQ3);
}

/* Skips all headers before IP, and sets the type of IP.  Returns 0, -ENODATA or -E2BIG. */
static int take_ethernet(struct rest *rest, __be16 *type)
{
	struct ethhdr ethernet;
	uint32_t i;

	if (!take(rest, &ethernet, sizeof(ethernet)))
		return -ENODATA;
	*type = ethernet.h_proto;
	for (i = 0; is_tag(*type); i++) {
		if (i == TAGS_MAX)
			return -E2BIG;
		/* Skip the VLAN and its priority: keys do not contain them. */
		if (!take(rest, NULL, 2) || !take(rest, type, sizeof(*type)))
			return -ENODATA;
	}
	return 0;
}

/* Returns 0 if UDP follows, -ENODATA or -E2BIG. */
static int take_ip(struct rest *rest, struct int_packet *packet, bool *is_damaged)
{
	bool is_udp = false;
	__be16 type;
	int ret = take_ethernet(rest, &type);

	if (ret)
		return ret;
	if (type == htobe16(ETH_P_IP))
		is_udp = take_ipv4(rest, packet, is_damaged);
	else if (type == htobe16(ETH_P_IPV6))
		is_udp = take_ipv6(rest, packet);
	return is_udp ? 0 : -ENODATA;
}

/* Takes the metadata stack: all @words that follow the headers. */
static bool take_stack(struct rest *rest, const struct int_headers *headers,
		       uint32_t words, struct int_packet *packet)
{
	const uint32_t hop_words = headers->hop_words & HOP_WORDS_MASK;
	uint32_t hop;

	if (!hop_words || !words || words % hop_words || rest->length < words * 4)
		return false;
	packet->hops = words / hop_words;
	if (packet->hops > INT_PACKET_HOPS_MAX)
		packet->hops = INT_PACKET_HOPS_MAX;
	for (hop = 0; hop < packet->hops; hop++)
		memcpy(&packet->path[hop], rest->at + hop * hop_words * 4, 4);
	return take(rest, NULL, words * 4);
}

static bool has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_DCCP ||
	       protocol == IPPROTO_SCTP || protocol == IPPROTO_UDPLITE;
}

int int_packet__parse(const uint8_t *frame, size_t length, uint16_t port, struct int_packet *packet)
{
	struct rest rest = { frame, length };
	struct int_headers headers;
	__be16 ports[2] = { 0, 0 };
	bool is_damaged = false;
	struct udphdr udp;
	uint8_t protocol;
	size_t room;
	int ret;

	*packet = (struct int_packet){ };
	ret = take_ip(&rest, packet, &is_damaged);
	if (ret)
		return ret;
	if (!take(&rest, &udp, sizeof(udp)) || udp.dest != htobe16(port))
		return -ENODATA;
	room = be16toh(udp.len);
	if (is_damaged || room < sizeof(udp) + sizeof(headers) ||
	    !take(&rest, &headers, sizeof(headers)) || headers.type_next >> 4 != TYPE_INT_MD ||
	    headers.version_flags >> 4 != VERSION || headers.version_flags & LACKS_HOPS ||
	    headers.words < HEADER_WORDS || room < sizeof(udp) + 4 + headers.words * 4 ||
	    !(headers.instructions & htobe16(NODE_ID)) ||
	    !take_stack(&rest, &headers, headers.words - HEADER_WORDS, packet))
		return -EBADMSG;

	switch (headers.type_next >> 2 & 3) {
	case NEXT_UDP_PAYLOAD:
		protocol = IPPROTO_UDP;
		ports[0] = udp.source;
		ports[1] = headers.original;
		break;
	case NEXT_PROTOCOL:
		protocol = be16toh(headers.original);
		if (has_ports(protocol) && !take(&rest, ports, sizeof(ports)))
			return -EBADMSG;
		break;
	default:
		return -EBADMSG;
	}
	memcpy(packet->key + packet->key_length, ports, sizeof(ports));
	packet->key_length += sizeof(ports);
	packet->key[packet->key_length++] = protocol;
	return 0;
}

int int_packet__find_datagram(const uint8_t *frame, size_t length, uint16_t port,
			      const uint8_t **datagram, size_t *datagram_length)
{
	struct rest rest = { frame, length };
	struct int_packet addresses;
	bool is_damaged = false;
	struct udphdr udp;
	int ret;

	ret = take_ip(&rest, &addresses, &is_damaged);
	if (ret)
		return ret;
	if (!take(&rest, &udp, sizeof(udp)) || udp.dest != htobe16(port))
		return -ENODATA;
	*datagram = rest.at;
	if (is_damaged || be16toh(udp.len) < sizeof(udp))
		return -EBADMSG;
	*datagram_length = be16toh(udp.len) - sizeof(udp);
	return *datagram_length > rest.length ? -EBADMSG : 0;
}

size_t int_packet__build(const struct dart_flow *flow, const uint8_t mac[6],
			 uint16_t port, uint8_t frame[INT_PACKET_MAX])
{
	const size_t path_length = flow->hops * sizeof(*flow->path);
	struct {
		struct ethhdr ethernet;
		struct iphdr ip;
		struct udphdr udp;
		struct int_headers headers;
	} __attribute__((packed)) packet = {
		.ethernet = {
			.h_dest = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
			.h_proto = htobe16(ETH_P_IP),
		},
		.ip = {
			.version = 4,
			.ihl = sizeof(packet.ip) / 4,
			.tot_len = htobe16(sizeof(packet) + path_length -
					   sizeof(packet.ethernet)),
			.ttl = TTL,
			.protocol = IPPROTO_UDP,
		},
		.udp = {
			.dest = htobe16(port),
			.len = htobe16(sizeof(packet.udp) + path_length +
				       sizeof(packet.headers)),
		},
		.headers = {
			.type_next = TYPE_INT_MD << 4 | NEXT_UDP_PAYLOAD << 2,
			.words = HEADER_WORDS + flow->hops,
			.version_flags = VERSION << 4,
			.hop_words = 1,
			.remaining_hops = DART_FLOW_HOPS_MAX - flow->hops,
			.instructions = htobe16(NODE_ID),
		},
	};

	memcpy(packet.ethernet.h_source, mac, ETH_ALEN);
	memcpy(&packet.ip.saddr, flow->key, 4);
	memcpy(&packet.ip.daddr, flow->key + 4, 4);
	memcpy(&packet.udp.source, flow->key + 8, 2);
	memcpy(&packet.headers.original, flow->key + 10, 2);
	packet.ip.check = dart_roce_frame__ip_checksum(&packet.ip);
	memcpy(frame, &packet, sizeof(packet));
	memcpy(frame + sizeof(packet), flow->path, path_length);
	return sizeof(packet) + path_length;
}
