// SPDX-License-Identifier: GPL-2.0-only
/*
 * Headers in the order of the wire.  INT: "In-band Network Telemetry (INT)
 * Dataplane Specification", version 2.1, sections 5.7 and 5.8.  BTH, RETH and
 * AtomicETH: IBTA volume 1, sections 9.2, 9.3.1 and 9.3.2; ICRC: 7.8.1 and annex
 * A17.3.3.
 */
#ifndef DART_HEADERS_P4
#define DART_HEADERS_P4

#include "sizes.p4"

#define ETHERTYPE_IPV4		16w0x0800
#define ETHERTYPE_IPV6		16w0x86dd
#define ETHERTYPE_8021Q		16w0x8100	/* of VLAN tags */
#define ETHERTYPE_8021AD	16w0x88a8
#define ETHERTYPE_QINQ1		16w0x9100
#define ETHERTYPE_QINQ2		16w0x9200
#define ETHERTYPE_QINQ3		16w0x9300
#define PROTOCOL_HOP_BY_HOP	8w0	/* extension headers of IPv6 (RFC 8200) */
#define PROTOCOL_TCP		8w6
#define PROTOCOL_UDP		8w17
#define PROTOCOL_DCCP		8w33
#define PROTOCOL_ROUTING	8w43
#define PROTOCOL_DESTINATION	8w60
#define PROTOCOL_SCTP		8w132
#define PROTOCOL_UDPLITE	8w136

#define INT_PORT		16w5000
#define INT_SHIM_MD		4w1	/* type */
#define INT_BEHIND_UDP		2w1	/* NPT */
#define INT_BEFORE_L4		2w2
#define INT_VERSION		4w2
#define INT_SHIM_BYTES		16w4
#define UDP_BYTES		16w8
#define INT_MD_WORDS		8w3

header ethernet_h {
	bit<48> destination;
	bit<48> source;
	bit<16> ethertype;
}

/* The rest of a VLAN tag after its type. */
header tag_h {
	bit<16> vlan;		/* and priority */
	bit<16> ethertype;	/* of the rest of the frame */
}

/* The types of tags, for select and as a condition. */
#define TAG_TYPES(next)							\
	ETHERTYPE_8021Q: next;						\
	ETHERTYPE_8021AD: next;						\
	ETHERTYPE_QINQ1: next;						\
	ETHERTYPE_QINQ2: next;						\
	ETHERTYPE_QINQ3: next;

#define IS_TAG_TYPE(ethertype)						\
	((ethertype) == ETHERTYPE_8021Q ||				\
	 (ethertype) == ETHERTYPE_8021AD ||				\
	 (ethertype) == ETHERTYPE_QINQ1 ||				\
	 (ethertype) == ETHERTYPE_QINQ2 ||				\
	 (ethertype) == ETHERTYPE_QINQ3)

header ipv4_h {
	bit<4> version;
	bit<4> ihl;
	bit<8> type_of_service;
	bit<16> length;
	bit<16> identification;
	bit<1> reserved;
	bit<1> dont_fragment;
	bit<1> more_fragments;
	bit<13> offset;
	bit<8> ttl;
	bit<8> protocol;
	bit<16> checksum;
	bit<32> source;
	bit<32> destination;
}

header ipv6_h {
	bit<4> version;
	bit<8> traffic_class;
	bit<20> flow_label;
	bit<16> length;
	bit<8> next_header;
	bit<8> hop_limit;
	bit<128> source;
	bit<128> destination;
}

header udp_h {
	bit<16> source;
	bit<16> destination;
	bit<16> length;
	bit<16> checksum;
}

header tcp_h {
	bit<16> source;
	bit<16> destination;
	bit<32> sequence;
	bit<32> acknowledgement;
	bit<16> flags;		/* and the length of the header */
	bit<16> window;
	bit<16> checksum;
	bit<16> urgent;
}

/* The beginning of TCP, DCCP, SCTP and UDP-Lite, and of UDP after INT. */
header ports_h {
	bit<16> source;
	bit<16> destination;
}

header int_shim_h {
	bit<4> type;
	bit<2> npt;
	bit<2> reserved;
	bit<8> words;		/* after the shim */
	bit<16> original;	/* destination port or protocol */
}

header int_md_h {
	bit<4> version;
	bit<1> discard;		/* D: by the last switch of the path */
	bit<1> exceeded;	/* E: more hops than fit */
	bit<1> mtu_exceeded;	/* M: a hop did not fit */
	bit<12> reserved;
	bit<5> hop_words;
	bit<8> remaining_hops;
	bit<1> has_node;	/* the first instruction */
	bit<15> instructions;
	bit<16> domain;
	bit<16> domain_instructions;
	bit<16> domain_flags;
}

header bth_h {
	bit<8> opcode;
	bit<1> solicited;
	bit<1> migration;
	bit<2> pad;
	bit<4> version;
	bit<16> partition;
	bit<8> congestion;	/* FECN, BECN, reserved */
	bit<24> queue_pair;
	bit<8> acknowledge;	/* and reserved */
	bit<24> psn;
}

header reth_h {
	bit<64> address;
	bit<32> rkey;
	bit<32> length;
}

header atomic_eth_h {
	bit<64> address;
	bit<32> rkey;
	bit<64> swap_or_add;
	bit<64> compare;
}

/* Slots with checksums of 8 to 64 bits, and the pad bytes of the payload. */
header slot8_h {
	bit<8> checksum;
	bit<160> value;
	bit<24> pad;
}

header slot16_h {
	bit<16> checksum;
	bit<160> value;
	bit<16> pad;
}

header slot32_h {
	bit<32> checksum;
	bit<160> value;
}

header slot64_h {
	bit<64> checksum;
	bit<160> value;
}

header icrc_h {
	bit<32> icrc;
}

#endif /* DART_HEADERS_P4 */
