// SPDX-License-Identifier: GPL-2.0-only
/*
 * For network functions of tunnels: VXLAN (RFC 7348) with Ethernet and IPv4 in it.  Include
 * this before <tea/headers.p4>: it adds headers and states of the parser, whose variables
 * room and inside it uses.  Without the flag of a valid VNI the parser reads nothing after
 * the VXLAN header.
 */
#ifndef DART_FUNCTIONS_VXLAN_P4
#define DART_FUNCTIONS_VXLAN_P4

#include "shared/headers.p4"

#define VXLAN_PORT	16w4789
#define VXLAN_HAS_VNI	8w0x08	/* I in vxlan.flags; the others are ignored */

header vxlan_h {
	bit<8> flags;
	bit<24> reserved;
	bit<24> vni;
	bit<8> reserved2;
}

#define TEA_PACKET_HEADERS						\
	vxlan_h vxlan;							\
	ethernet_h inner_ethernet;					\
	ipv4_h inner_ipv4;

#define TEA_PACKET_MEMBERS(headers)					\
	headers.vxlan, headers.inner_ethernet, headers.inner_ipv4

#define TEA_REMOVE_PACKET(headers)					\
	headers.vxlan.setInvalid();					\
	headers.inner_ethernet.setInvalid();				\
	headers.inner_ipv4.setInvalid();

#define TEA_BEHIND_UDP							\
	transition select(headers.udp.destination) {			\
		VXLAN_PORT: vxlan;					\
		default: behind_headers;				\
	}

#define TEA_PACKET_STATES						\
	state vxlan {							\
		verify(inside >= 22, error.IpMalformed);		\
		packet.extract(headers.vxlan);				\
		packet.extract(headers.inner_ethernet);			\
		room = room - 22;					\
		inside = inside - 22;					\
		transition select(headers.vxlan.flags & VXLAN_HAS_VNI,	\
				  headers.inner_ethernet.ethertype) {	\
			(VXLAN_HAS_VNI, ETHERTYPE_IPV4): inner_ipv4;	\
			default: behind_headers;			\
		}							\
	}								\
	state inner_ipv4 {						\
		verify(inside >= 20, error.IpMalformed);		\
		packet.extract(headers.inner_ipv4);			\
		room = room - 20;					\
		transition behind_headers;				\
	}

#endif /* DART_FUNCTIONS_VXLAN_P4 */
