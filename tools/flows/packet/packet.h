/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An Ethernet frame with an IPv4 packet of TCP or UDP, or with an ICMP echo: read, and rewritten in
 * place.  Checksums are updated by the difference (RFC 1624), so that a wrong one stays wrong.
 */
#ifndef FLOWS_PACKET_H
#define FLOWS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_MAC_LENGTH 6

/* An address and a port, or the identifier of an ICMP echo; in the byte order of the host. */
struct end {
	uint32_t address;
	uint16_t port;
};

static inline bool end__equal(const struct end *one, const struct end *other)
{
	return one->address == other->address && one->port == other->port;
}

/* Why a frame is not translated.  The names of their counts are in packet.c. */
enum packet_flaw {
	PACKET_GOOD,
	PACKET_CUT, /* it ends within a header, or lengths contradict each other */
	PACKET_OTHER, /* neither IPv4, nor TCP, UDP or an ICMP echo */
	PACKET_DAMAGED, /* wrong checksum of the IPv4 header */
	PACKET_FRAGMENT,
	PACKET_EXPIRED, /* its time to live ends here */
	PACKET_FLAWS
};

extern const char *const packet_flaw_names[PACKET_FLAWS];

struct packet {
	uint8_t *frame;
	size_t length; /* bytes of the frame, without padding after the IPv4 packet */
	uint8_t *ip;
	uint8_t *transport;
	uint8_t protocol; /* IPPROTO_TCP, IPPROTO_UDP or IPPROTO_ICMP */
	bool is_reply; /* an echo reply */
	/* The port of an echo request's destination, and of a reply's source, is 0. */
	struct end source, destination;
};

/* The frame is the caller's and outlives the packet, which is set only if it is good. */
enum packet_flaw packet__read(struct packet *packet, uint8_t *frame, size_t length);
/*
 * Computes the checksum after the IPv4 header, of which a sender on the same host has written only
 * the sum of addresses and lengths.
 */
void packet__complete(struct packet *packet);
/* Gives the packet another source, or another destination; for an echo that has such a port. */
void packet__set_source(struct packet *packet, const struct end *source);
void packet__set_destination(struct packet *packet, const struct end *destination);
/* Routes it: takes 1 from its time to live, and addresses it from its receiver to @next_hop. */
void packet__route(struct packet *packet, const uint8_t next_hop[static PACKET_MAC_LENGTH]);

#endif /* FLOWS_PACKET_H */
