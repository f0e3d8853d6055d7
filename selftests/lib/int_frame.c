// SPDX-License-Identifier: GPL-2.0-only
/* Frames with INT-MD over UDP, and postcards, built header by header. */
#include <endian.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <string.h>

#include "int_frame.h"

#define KEY_V4		13
#define ADDRESSES_V4	8
#define ADDRESSES_V6	32
#define TCP_HEADER	20
#define SHIM		4
#define MD		12
#define NPT_BEHIND_UDP	1
#define NPT_BEFORE_L4	2
#define TTL		60

/* A frame under construction. */
struct writer {
	uint8_t *at;
};

static void put(struct writer *writer, const void *bytes, size_t length)
{
	memcpy(writer->at, bytes, length);
	writer->at += length;
}

static void put16(struct writer *writer, uint16_t number)
{
	put(writer, &(__be16){ htobe16(number) }, 2);
}

static void put32(struct writer *writer, uint32_t number)
{
	put(writer, &(__be32){ htobe32(number) }, 4);
}

static void fill(struct writer *writer, uint8_t byte, size_t length)
{
	memset(writer->at, byte, length);
	writer->at += length;
}

static bool is_v4(size_t key_length)
{
	return key_length == KEY_V4;
}

static const uint8_t *ports_of(const uint8_t *key, size_t key_length)
{
	return key + (is_v4(key_length) ? ADDRESSES_V4 : ADDRESSES_V6);
}

static uint8_t protocol_of(const uint8_t *key, size_t key_length)
{
	return key[key_length - 1];
}

static uint16_t port_at(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

void int_frame__set_checksum(uint8_t *frame)
{
	uint8_t *ip = frame + sizeof(struct ethhdr);
	uint8_t *checksum = ip + offsetof(struct iphdr, check);
	const size_t length = (ip[0] & 0xf) * 4;
	uint32_t sum = 0;
	size_t i;

	memset(checksum, 0, 2);
	for (i = 0; i < length; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	checksum[0] = sum >> 8;
	checksum[1] = sum;
}

static void put_ethernet(struct writer *writer, size_t key_length)
{
	struct ethhdr ethernet = {
		.h_dest = { 2, 0, 0, 0, 0, 1 },
		.h_source = { 2, 0, 0, 0, 0, 2 },
		.h_proto = htobe16(is_v4(key_length) ? ETH_P_IP : ETH_P_IPV6),
	};

	put(writer, &ethernet, sizeof(ethernet));
}

/* Writes the header with the addresses at @key; @payload: bytes after the header. */
static void put_ip(struct writer *writer, const uint8_t *key,
		   size_t key_length, uint8_t protocol, size_t payload)
{
	struct iphdr v4 = {
		.version = 4,
		.ihl = 5,
		.tot_len = htobe16(sizeof(v4) + payload),
		.ttl = TTL,
		.protocol = protocol,
	};
	struct ipv6hdr v6 = {
		.version = 6,
		.payload_len = htobe16(payload),
		.nexthdr = protocol,
		.hop_limit = TTL,
	};

	if (is_v4(key_length)) {
		memcpy(&v4.saddr, key, ADDRESSES_V4);
		put(writer, &v4, sizeof(v4));
		int_frame__set_checksum(writer->at - sizeof(v4) - sizeof(struct ethhdr));
	} else {
		memcpy(&v6.saddr, key, ADDRESSES_V6);
		put(writer, &v6, sizeof(v6));
	}
}

/* Bytes of the flow's own header, for the protocols that tests use. */
static size_t l4_length(uint8_t protocol)
{
	return protocol == IPPROTO_TCP ? TCP_HEADER : sizeof(struct udphdr);
}

static void put_l4(struct writer *writer, const uint8_t *key, size_t key_length)
{
	put(writer, ports_of(key, key_length), 4);
	fill(writer, 0, l4_length(protocol_of(key, key_length)) - 4);
}

static void put_udp(struct writer *writer, uint16_t source, uint16_t port, size_t payload)
{
	put16(writer, source);
	put16(writer, port);
	put16(writer, sizeof(struct udphdr) + payload);
	put16(writer, 0);
}

static void put_stack(struct writer *writer, const struct int_frame *what)
{
	uint32_t i;

	for (i = 0; i < what->hops; i++) {
		put(writer, &what->path[i], 4);
		fill(writer, 0xee, (what->hop_words - 1) * 4);
	}
}

size_t int_frame__build(const struct int_frame *what, uint8_t frame[INT_FRAME_MAX])
{
	const uint8_t protocol = protocol_of(what->key, what->key_length);
	const uint8_t *ports = ports_of(what->key, what->key_length);
	const bool is_before = what->is_before_l4 || protocol != IPPROTO_UDP;
	const size_t length = SHIM + MD + what->hops * what->hop_words * 4 +
			      (is_before ? l4_length(protocol) : 0) + what->payload;
	struct writer writer = { frame };

	put_ethernet(&writer, what->key_length);
	put_ip(&writer, what->key, what->key_length, IPPROTO_UDP, sizeof(struct udphdr) + length);
	put_udp(&writer, is_before ? 0xbeef : port_at(ports), INT_PORT, length);

	/* shim: type 1, NPT; words; the replaced protocol or port */
	put16(&writer, 1 << 12 | (is_before ? NPT_BEFORE_L4 : NPT_BEHIND_UDP) << 10 |
			       (MD / 4 + what->hops * what->hop_words));
	put16(&writer, is_before ? protocol : port_at(ports + 2));
	/* version 2, words of a hop, remaining hops */
	put32(&writer, 2u << 28 | what->hop_words << 8 | 7);
	/* instructions: node ID, and further ones of 4 bytes each */
	put32(&writer, 0x80000000);
	put32(&writer, 0);
	put_stack(&writer, what);

	if (is_before)
		put_l4(&writer, what->key, what->key_length);
	fill(&writer, 0xaa, what->payload);
	return writer.at - frame;
}

size_t postcard__build(const struct postcard *what, uint8_t frame[INT_FRAME_MAX])
{
	static const uint8_t outer[KEY_V4] = {
		192, 0, 2, 1, 192, 0, 2, 2, 0, 0, 0, 0, IPPROTO_UDP,
	};
	const bool v4 = is_v4(what->key_length);
	const uint8_t protocol = protocol_of(what->key, what->key_length);
	const size_t l4 = l4_length(protocol);
	const size_t inner = (what->has_ethernet ? sizeof(struct ethhdr) : 0) +
			     (v4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) + l4;
	/* a postcard contains whole words of the packet */
	const size_t padded = (inner + 3) / 4 * 4;
	const size_t words = 2 + what->words + padded / 4;
	struct writer writer = { frame };

	put_ethernet(&writer, sizeof(outer));
	put_ip(&writer, outer, sizeof(outer), IPPROTO_UDP, sizeof(struct udphdr) + 12 + words * 4);
	put_udp(&writer, 0xbeef, POSTCARD_PORT, 12 + words * 4);

	/* group: version 2, hardware, sequence; node */
	put32(&writer, 2u << 28 | 3 << 22 | 4711);
	put(&writer, &what->node, 4);
	/* type 1, kind of inner packet, words, words of metadata, F */
	put32(&writer, 1u << 28 |
	      (what->has_ethernet ? 3 : v4 ? 4 : 5) << 24 | words << 16 |
	      what->words << 8 | 0x20);
	put32(&writer, 0);
	put32(&writer, 0);
	put(&writer, what->metadata, what->words * 4);

	if (what->has_ethernet)
		put_ethernet(&writer, what->key_length);
	put_ip(&writer, what->key, what->key_length, protocol, l4);
	put_l4(&writer, what->key, what->key_length);
	fill(&writer, 0, padded - inner);
	return writer.at - frame;
}
