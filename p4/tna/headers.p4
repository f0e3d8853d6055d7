// SPDX-License-Identifier: GPL-2.0-only
/* All headers; only this architecture has headers of hops, clones and measurements. */
#ifndef DART_TNA_HEADERS_P4
#define DART_TNA_HEADERS_P4

#include "shared/headers.p4"

header ipv4_options_h {
	varbit<320> options;
}

/*
 * Tofino's parser keeps only bytes that it puts into containers.  So a hop is its
 * node ID only, and there are at most HOPS of them.  A packet with any other INT is
 * forwarded unchanged.
 */
header hop_h {
	bit<32> node;
}

/*
 * The metadata of a clone: Tofino's mirror adds at most 32 bytes, too few for a
 * key of IPv6.  The last 9 bytes of the key are here; egress reads the addresses
 * before them from the clone itself.
 */
header clone_h {
	bit<8> key;		/* KEY_..., not KEY_NONE */
	bit<8> collector;
	bit<32> tail_0;		/* of the key */
	bit<8> tail_1;
	bit<32> tail_2;
}

/* Follows clone_h; becomes the end of the slot. */
header value_h {
	bit<160> value;
}

/* The beginning of a slot. */
header checksum_h {
	bit<32> checksum;
}

/*
 * clone_h and value_h as mirrors emit them, for a path and for a postcard (see
 * schemas/postcard.yaml).  Emitting the fields puts the end of the key together
 * without an action.
 */
header path_h {
	bit<8> key;
	bit<8> collector;
	bit<32> last;		/* of the addresses */
	bit<16> source_port;
	bit<16> destination_port;
	bit<8> protocol;
	bit<160> value;
}

header postcard_h {
	bit<8> key;
	bit<8> collector;
	bit<16> source_port;
	bit<16> destination_port;
	bit<8> protocol;
	bit<32> node;
	bit<16> ingress_port;
	bit<16> egress_port;
	bit<32> latency;
	bit<32> queue;
	bit<64> time;
}

/* From ingress to egress, in front of a packet to be measured. */
header measured_h {
	bit<8> no_key;		/* KEY_NONE distinguishes it from a clone */
	bit<8> key;
	bit<8> collector;
	bit<16> source_port;
	bit<16> destination_port;
	bit<8> protocol;
	bit<32> node;
	bit<16> session;
	bit<16> ingress_port;
}

/* IPv6, with the addresses in words for a key. */
header ipv6_words_h {
	bit<64> before;
	bit<32> source_0;
	bit<32> source_1;
	bit<32> source_2;
	bit<32> source_3;
	bit<32> destination_0;
	bit<32> destination_1;
	bit<32> destination_2;
	bit<32> destination_3;
}

/* Headers of a program's own payload. */
#ifndef HEADERS_OF_PAYLOAD
#define HEADERS_OF_PAYLOAD
#endif

struct headers_t {
	measured_h measured;
	clone_h clone;
	ipv6_words_h ipv6_words;
	ethernet_h ethernet;
	ipv4_h ipv4;
	ipv4_options_h ipv4_options;
	ipv6_h ipv6;
	udp_h udp;
	int_shim_h int_shim;
	int_md_h int_md;
	hop_h[HOPS] hop;
	ports_h ports;
	bth_h bth;
	reth_h reth;
	checksum_h slot;
	value_h value;
	HEADERS_OF_PAYLOAD
	icrc_h icrc;
}

/* The deparser's input for checksums. */
struct checksums_t {
	bit<16> udp_rest;	/* of the sum, without fields that may change */
	bit<16> length_change;	/* if INT is removed */
	bit<16> minus_bytes;	/* likewise, in ones' complement */
	bool is_wrong;		/* of IPv4, or not verified: there are options */
	bool adjust_ipv4;
	bool adjust_udp;
}

/* The parser reads no extension headers. */
control Ipv6Protocol(in headers_t headers, out bit<8> protocol)
{
	apply {
		protocol = headers.ipv6.next_header;
	}
}

#endif /* DART_TNA_HEADERS_P4 */
