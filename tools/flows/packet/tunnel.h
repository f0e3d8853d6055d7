/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VXLAN (RFC 7348): the frame of a virtual network in a packet of UDP, the tunnel.  Frames are
 * read, moved to another tunnel, and answered in their tunnel.  Bytes of both headers come from strangers.
 */
#ifndef FLOWS_TUNNEL_H
#define FLOWS_TUNNEL_H

#include "neighbour.h"
#include "packet.h"

#define TUNNEL_VNI_MAX 0xffffff

/* The contents of the frame. */
enum tunnel_content {
	TUNNEL_NONE, /* not VXLAN with a valid VNI */
	TUNNEL_OTHER, /* none of the following */
	TUNNEL_IPV4,
	TUNNEL_NEIGHBOUR, /* a request of ARP, or a neighbour solicitation */
};

struct tunnel {
	enum tunnel_content content;
	uint32_t vni;
	uint8_t *frame, *end; /* inside, and the place after it */
	uint32_t source, destination; /* of IPv4 */
	struct neighbour_request request;
	bool is_echo; /* a whole echo request */
	bool is_error; /* an ICMP error, or a fragment that is not the first one: gets no error */
	bool may_be_fragmented;
};

/* A host inside that is answered for. */
struct tunnel_host {
	uint8_t mac[PACKET_MAC_LENGTH];
	uint32_t address; /* 0: none */
};

/*
 * As packet__is_sound(), but a tunnel over IPv6 needs no checksum (RFC 6935): it contains frames
 * with checksums of their own.
 */
bool tunnel__is_sound(const struct packet *packet);
/* @packet: a good one of UDP. */
void tunnel__read(struct tunnel *tunnel, const struct packet *packet);

/*
 * Moves it to the tunnel with this VNI to a server, whose address is of the packet's family.  The
 * source port depends on the one that it had and on the hosts inside, so that routers spread the
 * flows of a tunnel: see tunnel__port().
 */
void tunnel__move(const struct tunnel *tunnel, struct packet *packet, address_t server,
		  uint32_t vni);
/*
 * 49152 and the lower 14 bits of CRC-16/ARC over this port, both addresses and the protocol inside,
 * as in p4/functions/gateway.p4.
 */
uint16_t tunnel__port(uint16_t port, uint32_t source, uint32_t destination, uint8_t protocol);

/*
 * These make an answer in the tunnel that the packet came from, in @frame, and let @packet be the
 * answer.  The host is one inside.  False: such a packet gets no answer.
 */

/* To an ARP request, a solicitation or an echo request for this host; an echo may be too long. */
bool tunnel__reply(const struct tunnel *tunnel, const struct tunnel_host *host,
		   struct packet *packet, uint8_t frame[static PACKET_ANSWER_MAX]);
/* To an IPv4 packet, the ICMP error "host unreachable". */
bool tunnel__refuse(const struct tunnel *tunnel, const struct tunnel_host *host,
		    struct packet *packet, uint8_t frame[static PACKET_ANSWER_MAX]);
/*
 * To an IPv4 packet whose tunnel is longer than @mtu, "fragmentation needed" with the MTU inside.
 * @packet may be cut after PACKET_ANSWER_MAX bytes.
 */
bool tunnel__tell_mtu(const struct tunnel *tunnel, const struct tunnel_host *host,
		      struct packet *packet, uint16_t mtu, uint8_t frame[static PACKET_ANSWER_MAX]);

#endif /* FLOWS_TUNNEL_H */
