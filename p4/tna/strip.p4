// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last switch of a path: the packet leaves as it was before INT.  Parser
 * and deparser see to the checksums: the one of UDP is adjusted by what is
 * taken away; the one of IPv4 is made anew, but where it was wrong, INT stays.
 */
#ifndef DART_TNA_STRIP_P4
#define DART_TNA_STRIP_P4

#include "../shared/outcome.p4"
#include "headers.p4"

/* What the deparser has to know of checksums. */
struct checksums_t {
	bit<16> udp_rest;	/* of the sum, without what may change */
	bit<16> minus_bytes;	/* what lengths lost, in ones' complement */
	bool is_wrong;		/* of IPv4, or there are options */
	bool adjust_ipv4;
	bool adjust_udp;
}

/* Bytes of UDP up to the end of INT, and of what goes away. */
#define UDP_AND_INT(words)	(UDP_BYTES + INT_SHIM_BYTES + 4 * words)
#define INT_BYTES(words)	(INT_SHIM_BYTES + 4 * words)

#define HOPS_BEHIND_UDP(words, has_node, hop_words)			\
	(INT_SHIM_MD, INT_BEHIND_UDP, words, INT_VERSION, has_node,	\
	 hop_words, UDP_AND_INT(words) .. 0xffff) :			\
		behind_udp(0 - INT_BYTES(words), ~INT_BYTES(words));
#define HOPS_BEFORE_L4(words, has_node, hop_words)			\
	(INT_SHIM_MD, INT_BEFORE_L4, words, INT_VERSION, has_node,	\
	 hop_words, UDP_AND_INT(words) .. 0xffff) :			\
		before_l4(0 - UDP_AND_INT(words));

/* @outcome is changed if the packet stays as it is. */
control Strip(inout headers_t headers, inout checksums_t checksums,
	      inout bit<8> outcome)
{
	action strip(bit<16> minus_bytes)
	{
		headers.ipv4.length = headers.ipv4.length + minus_bytes;
		headers.ipv6.length = headers.ipv6.length + minus_bytes;
		checksums.adjust_ipv4 = true;
		headers.int_shim.setInvalid();
		headers.int_md.setInvalid();
		headers.hop[0].setInvalid();
		headers.hop[1].setInvalid();
		headers.hop[2].setInvalid();
		headers.hop[3].setInvalid();
		headers.hop[4].setInvalid();
	}

	/* This UDP is the packet's own. */
	action behind_udp(bit<16> minus_bytes, bit<16> complement)
	{
		headers.udp.length = headers.udp.length + minus_bytes;
		headers.udp.destination = headers.int_shim.original;
		checksums.minus_bytes = complement;
		checksums.adjust_udp = true;
		strip(minus_bytes);
	}

	action before_l4(bit<16> minus_bytes)
	{
		headers.ipv4.protocol = headers.int_shim.original[7:0];
		headers.ipv6.next_header = headers.int_shim.original[7:0];
		headers.udp.setInvalid();
		strip(minus_bytes);
	}

	/* Hops have other words than a node ID, or there are more. */
	action leave_other()
	{
		outcome = OUTCOME_OTHER;
	}

	action leave_malformed()
	{
		outcome = OUTCOME_MALFORMED;
	}

	/* As the parser read it; and all of it has to be in UDP. */
	table shape {
		key = {
			headers.int_shim.type : ternary;
			headers.int_shim.npt : ternary;
			headers.int_shim.words : ternary;
			headers.int_md.version : ternary;
			headers.int_md.has_node : ternary;
			headers.int_md.hop_words : ternary;
			headers.udp.length : range;
		}
		actions = {
			behind_udp;
			before_l4;
			leave_other;
			leave_malformed;
		}
		const default_action = leave_malformed;
		const entries = {
			HOPS_BEHIND_UDP(3, _, _)
			HOPS_BEHIND_UDP(4, 1, 1)
			HOPS_BEHIND_UDP(5, 1, 1)
			HOPS_BEHIND_UDP(6, 1, 1)
			HOPS_BEHIND_UDP(7, 1, 1)
			HOPS_BEHIND_UDP(8, 1, 1)
			HOPS_BEFORE_L4(3, _, _)
			HOPS_BEFORE_L4(4, 1, 1)
			HOPS_BEFORE_L4(5, 1, 1)
			HOPS_BEFORE_L4(6, 1, 1)
			HOPS_BEFORE_L4(7, 1, 1)
			HOPS_BEFORE_L4(8, 1, 1)
			(INT_SHIM_MD, INT_BEHIND_UDP, 0 &&& 0xfc, _, _, _, _) :
				leave_malformed();
			(INT_SHIM_MD, INT_BEFORE_L4, 0 &&& 0xfc, _, _, _, _) :
				leave_malformed();
			(INT_SHIM_MD, INT_BEHIND_UDP, _, INT_VERSION, _, _, _) :
				leave_other();
			(INT_SHIM_MD, INT_BEFORE_L4, _, INT_VERSION, _, _, _) :
				leave_other();
		}
		size = 16;
	}

	apply {
		shape.apply();
		if (headers.udp.checksum == 0)
			checksums.adjust_udp = false;
	}
}

#endif /* DART_TNA_STRIP_P4 */
