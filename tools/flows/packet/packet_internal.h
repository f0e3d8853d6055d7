/* SPDX-License-Identifier: GPL-2.0-only */
/* Headers as bytes, for the files of packets. */
#ifndef FLOWS_PACKET_INTERNAL_H
#define FLOWS_PACKET_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "packet.h"

#define ETHERNET_LENGTH 14
#define ETHERTYPE 12 /* offset */
#define TAG_LENGTH 4
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_TAG 0x8100 /* IEEE 802.1Q */
#define ETHERTYPE_OUTER_TAG 0x88a8 /* IEEE 802.1ad */
#define IP_LENGTH 20
#define IPV6_LENGTH 40
#define TCP_LENGTH 20
#define UDP_LENGTH 8
#define ICMP_LENGTH 8

#define ICMP_ECHO_REPLY 0
#define ICMP_ECHO_REQUEST 8
#define ICMP_UNREACHABLE 3
#define ICMP_TIME_EXCEEDED 11
#define ICMP_PARAMETER_PROBLEM 12
#define ICMP_TOO_LONG 4 /* codes of ICMP_UNREACHABLE */
#define ICMP_PROHIBITED 13
/* Of ICMPv6 (RFC 4443). */
#define ICMP6_UNREACHABLE 1
#define ICMP6_TOO_LONG 2
#define ICMP6_TIME_EXCEEDED 3
#define ICMP6_PARAMETER_PROBLEM 4
#define ICMP6_ECHO_REQUEST 128
#define ICMP6_ECHO_REPLY 129
#define ICMP6_PROHIBITED 1 /* code of ICMP6_UNREACHABLE */
#define QUOTED_LENGTH 8 /* least bytes after a quoted header */

/* Offsets in the headers. */
#define OFFSET_FRAGMENT 6
#define OFFSET_TTL 8
#define OFFSET_CHECKSUM 10
#define OFFSET_SOURCE 12
#define OFFSET_DESTINATION 16
/* Options of IPv4; the first two have no length. */
#define OPTION_END 0
#define OPTION_NOTHING 1
#define OPTION_LOOSE_ROUTE 131
#define OPTION_STRICT_ROUTE 137
#define OFFSET6_PAYLOAD 4
#define OFFSET6_NEXT_HEADER 6
#define OFFSET6_HOPS 7
#define OFFSET6_SOURCE 8
#define OFFSET6_DESTINATION 24
#define FRAGMENT6_LENGTH 8 /* of the header of a fragment */
#define MORE_FRAGMENTS6 1 /* among the last bits of its offset, which are no part of it */
#define DO_NOT_FRAGMENT 0x4000
#define MORE_FRAGMENTS 0x2000
#define FRAGMENT_OFFSET 0x1fff /* in 8 bytes */
#define TCP_CHECKSUM 16
#define UDP_CHECKSUM 6
#define UDP_LENGTH_FIELD 4
#define TCP_SEQUENCE 4
#define TCP_ACKNOWLEDGEMENT 8
#define TCP_OFFSET 12 /* of the data */
#define TCP_FLAGS 13
#define ICMP_CHECKSUM 2
#define ICMP_IDENTIFIER 4
#define ICMP_MTU 6

static inline uint32_t get16(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static inline void put16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = value >> 8;
	bytes[1] = value;
}

static inline uint32_t get32(const uint8_t *bytes)
{
	return get16(bytes) << 16 | get16(bytes + 2);
}

static inline void put32(uint8_t *bytes, uint32_t value)
{
	put16(bytes, value >> 16);
	put16(bytes + 2, value);
}

/* ---- checksums (RFC 1071) */

static inline uint32_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static inline uint32_t add_up(const uint8_t *bytes, size_t length, uint32_t sum)
{
	size_t i;

	for (i = 0; i + 1 < length; i += 2)
		sum += get16(bytes + i);
	if (length & 1)
		sum += bytes[length - 1] << 8;
	return fold(sum);
}

/* Where the header of IPv4 or IPv6 has its addresses, and their length. */
static inline size_t source_of(bool is_ipv6)
{
	return is_ipv6 ? OFFSET6_SOURCE : OFFSET_SOURCE;
}

static inline size_t destination_of(bool is_ipv6)
{
	return is_ipv6 ? OFFSET6_DESTINATION : OFFSET_DESTINATION;
}

static inline size_t address_length_of(bool is_ipv6)
{
	return is_ipv6 ? ADDRESS_LENGTH : ADDRESS_LENGTH_4;
}

/* Types of ICMP or ICMPv6. */
static inline uint8_t echo_request_of(bool is_ipv6)
{
	return is_ipv6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO_REQUEST;
}

static inline uint8_t echo_reply_of(bool is_ipv6)
{
	return is_ipv6 ? ICMP6_ECHO_REPLY : ICMP_ECHO_REPLY;
}

/* The checksum of TCP, UDP or ICMP; NULL if the packet has none. */
uint8_t *packet__checksum(const struct packet *packet);
/* Writes 16 bits that the checksum of the transport covers, at an even place after its header. */
void packet__put_covered(const struct packet *packet, uint8_t *field, uint32_t value);

/* ---- reading IPv6 */

/* The headers of a packet of IPv6, or of one that an error quotes. */
struct ipv6_chain {
	const uint8_t *transport; /* after all headers that are known */
	uint8_t protocol; /* IPPROTO_ICMP instead of ICMPv6 */
	const uint8_t *fragment; /* header; NULL: there is none */
};

/*
 * Follows the headers of @length bytes from the header of IPv6 on, which is whole, as far as the
 * transport, or the header of a fragment that is not the first one.
 */
enum packet_flaw packet_ipv6__follow(const uint8_t *ip, size_t length, struct ipv6_chain *chain);
/*
 * Sets the members of a packet of @length bytes up to its transport.  PACKET_FRAGMENT: it is a
 * fragment, not the first one.
 */
enum packet_flaw packet_ipv6__read(struct packet *packet, size_t length);

/* ---- answers */

/*
 * Begins an answer to a packet: returns the place after the header of IPv4 or IPv6, where the
 * caller writes a header of TCP, UDP or ICMP, which is zero now, with its payload.
 */
uint8_t *packet__begin_answer(const struct packet *packet, uint8_t *frame);
/*
 * Writes the other headers, and checksums, of an answer to the sender of @packet, with @length
 * bytes after the header of IPv4 or IPv6; it takes the place of the packet.
 */
void packet__end_answer(struct packet *packet, uint8_t *frame, const struct end *from,
			uint8_t protocol, size_t length);

#endif /* FLOWS_PACKET_INTERNAL_H */
