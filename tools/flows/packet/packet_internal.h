/* SPDX-License-Identifier: GPL-2.0-only */
/* Headers as bytes, for the files of packets. */
#ifndef FLOWS_PACKET_INTERNAL_H
#define FLOWS_PACKET_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "packet.h"

#define ETHERNET_LENGTH 14
#define ETHERTYPE_IPV4 0x0800
#define IP_LENGTH 20
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
#define QUOTED_LENGTH 8 /* least bytes after a quoted header */

/* Offsets in the headers. */
#define OFFSET_FRAGMENT 6
#define OFFSET_TTL 8
#define OFFSET_CHECKSUM 10
#define OFFSET_SOURCE 12
#define OFFSET_DESTINATION 16
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

/* Writes 16 bits that the checksum of the transport covers, at an even place after its header. */
void packet__put_covered(const struct packet *packet, uint8_t *field, uint32_t value);

/* ---- answers */

/* Is it the address of a host that can be answered, or can answer? */
bool packet__is_unicast(uint32_t address);
/*
 * Begins an answer, whose headers are zero: returns the place after the IPv4 header, where the
 * caller writes one of TCP, UDP or ICMP with its payload.
 */
uint8_t *packet__begin_answer(uint8_t *frame);
/*
 * Writes the other headers, and checksums, of an answer to the sender of @packet, with @length
 * bytes after the IPv4 header; it takes the place of the packet.
 */
void packet__end_answer(struct packet *packet, uint8_t *frame, const struct end *from,
			uint8_t protocol, size_t length);

#endif /* FLOWS_PACKET_INTERNAL_H */
