/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An Ethernet frame, with up to two tags of VLANs, of a packet of IPv4 or IPv6 with TCP or UDP, an
 * ICMP echo or an ICMP error: read, rewritten in place, and refused.  Checksums are updated by the
 * difference (RFC 1624), so that a wrong one stays wrong.  ICMPv6 in a packet of IPv6 counts as
 * IPPROTO_ICMP.
 */
#ifndef FLOWS_PACKET_H
#define FLOWS_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address.h"

#define PACKET_MAC_LENGTH 6

/* Why a frame is not translated.  The names of their counts are in packet.c. */
enum packet_flaw {
	PACKET_GOOD,
	PACKET_CUT, /* it ends within a header, or lengths contradict each other */
	/*
	 * neither TCP, UDP, an ICMP echo nor an ICMP error; one with a source route; of IPv6, also
	 * addresses that no router forwards
	 */
	PACKET_OTHER,
	PACKET_DAMAGED, /* wrong checksum of the IPv4 header */
	PACKET_FRAGMENT, /* not the first one, so it has addresses but no ports */
	PACKET_EXPIRED, /* its time to live ends here */
	PACKET_FLAWS
};

extern const char *const packet_flaw_names[PACKET_FLAWS];

struct packet {
	uint8_t *frame;
	size_t length; /* bytes of the frame, without padding after the packet */
	uint8_t *ip;
	uint8_t *transport;
	bool is_ipv6;
	uint8_t protocol; /* IPPROTO_TCP, IPPROTO_UDP or IPPROTO_ICMP */
	bool is_reply; /* an echo reply */
	bool is_fragment;
	uint32_t identification; /* of a fragment */
	/* The port of an echo request's destination, and of a reply's source, is 0. */
	struct end source, destination;
	/*
	 * An ICMP error, whose ends have no ports: it quotes the header of a packet from one of
	 * these ends to the other, with ports as above.
	 */
	bool is_error;
	uint8_t quoted_protocol;
	size_t quoted_transport; /* its place after that of the error */
	struct end quoted_source, quoted_destination;
};

#define SEGMENT_FIN 0x01
#define SEGMENT_SYN 0x02
#define SEGMENT_RST 0x04
#define SEGMENT_ACK 0x10

/* Of TCP. */
struct segment {
	uint8_t flags;
	uint32_t sequence, acknowledgement;
	uint32_t length; /* of the data */
};

/* Bytes of the longest header of Ethernet, with two tags. */
#define PACKET_LINK_MAX (14 + 2 * 4)
/* Bytes of a packet that each host takes, and of an ICMP error (RFC 1812, RFC 4443). */
#define PACKET_LEAST_4 576
#define PACKET_LEAST_6 1280
#define PACKET_ANSWER_MAX (PACKET_LINK_MAX + PACKET_LEAST_6)

/*
 * The frame is the caller's and outlives the packet, which is set if it is good, a fragment or
 * expired.
 */
enum packet_flaw packet__read(struct packet *packet, uint8_t *frame, size_t length);
/*
 * Are its length and its checksum after the header of IPv4 or IPv6 right?  Of a first fragment
 * neither is known.
 */
bool packet__is_sound(const struct packet *packet);
/* Of a packet of TCP. */
uint8_t packet__flags(const struct packet *packet);
/* Of a sound packet of TCP. */
struct segment packet__segment(const struct packet *packet);
/*
 * Makes the answer that refuses a packet in @frame, and lets @packet be the answer: RST to a
 * segment, or the ICMP error "administratively prohibited", in the name of the destination, to the
 * Ethernet address that the packet came from.  False for packets that must not be answered
 * (RFC 1122, 3.2.2).
 */
bool packet__refuse(struct packet *packet, uint8_t frame[static PACKET_ANSWER_MAX]);
/*
 * The same for an expired packet: the ICMP error "time exceeded" in the name of @address.  False as
 * above, also if @address is none of a host.
 */
bool packet__expire(struct packet *packet, address_t address,
		    uint8_t frame[static PACKET_ANSWER_MAX]);
/*
 * The same for a packet that is longer than the next link takes, and must not be fragmented: the
 * ICMP error "fragmentation needed", or "packet too big", with the MTU of this link (RFC 1191, RFC
 * 8201).  False as above, and for a packet that may be fragmented, which is one of IPv4.
 */
bool packet__tell_mtu(struct packet *packet, address_t address, uint16_t mtu,
		      uint8_t frame[static PACKET_ANSWER_MAX]);
/*
 * Computes the checksum of TCP, UDP or ICMP, of which a sender on the same host has written only
 * the sum of addresses and lengths.
 */
void packet__complete(struct packet *packet);
/*
 * Gives the packet another source, or another destination, with the port if it has one: an error
 * has none, and an echo one of both.
 */
void packet__set_source(struct packet *packet, const struct end *source);
void packet__set_destination(struct packet *packet, const struct end *destination);
/* Gives a fragment that is not the first one other addresses. */
void packet__set_addresses(struct packet *packet, address_t source, address_t destination);
/* The same for the packet that an error quotes. */
void packet__set_quoted_source(struct packet *packet, const struct end *source);
void packet__set_quoted_destination(struct packet *packet, const struct end *destination);
/* Routes it: takes 1 from its time to live, and addresses it from its receiver to @next_hop. */
void packet__route(struct packet *packet, const uint8_t next_hop[static PACKET_MAC_LENGTH]);

#endif /* FLOWS_PACKET_H */
