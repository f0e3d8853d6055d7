// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last switch of a path removes INT from the packet.  Parser and deparser handle
 * the checksums: they adjust the UDP checksum by the removed bytes and compute the IPv4
 * checksum again.  If the IPv4 checksum was wrong, INT stays.
 */
#ifndef DART_TNA_STRIP_P4
#define DART_TNA_STRIP_P4

#include "shared/outcome.p4"
#include "headers.p4"

/* Bytes of UDP up to the end of INT, and bytes of INT alone. */
#define UDP_AND_INT(words)	(UDP_BYTES + INT_SHIM_BYTES + 4 * words)
#define INT_BYTES(words)	(INT_SHIM_BYTES + 4 * words)

#define BEHIND_UDP(words, has_node, hop_words)				\
	(INT_SHIM_MD, INT_BEHIND_UDP, words, INT_VERSION, has_node,	\
	 hop_words, UDP_AND_INT(words) .. 0xffff) :			\
		known(0 - INT_BYTES(words), ~INT_BYTES(words));
#define BEFORE_L4(words, has_node, hop_words)				\
	(INT_SHIM_MD, INT_BEFORE_L4, words, INT_VERSION, has_node,	\
	 hop_words, UDP_AND_INT(words) .. 0xffff) :			\
		known(0 - UDP_AND_INT(words), 0);

/* The bytes by which the length of UDP exceeds the room in IP. */
control UdpOverhang(inout headers_t headers, out bit<16> overhang)
{
	bit<16> room;

	action subtract()
	{
		overhang = headers.udp.length |-| room;
	}

	apply {
		room = headers.ipv6.length;
		if (headers.ipv4.isValid())
			room = headers.ipv4.length - 20;
		subtract();
	}
}

/*
 * Tells whether the parser reads this INT. Other INT is malformed, is longer, or
 * carries other metadata than node IDs.
 */
control ReadShape(inout headers_t headers, in bit<16> overhang,
		  inout checksums_t checksums, inout bit<8> outcome,
		  out bool is_known)
{
	/* @minus_bytes: added to lengths when INT is removed. */
	action known(bit<16> minus_bytes, bit<16> complement)
	{
		checksums.length_change = minus_bytes;
		checksums.minus_bytes = complement;
		is_known = true;
	}

	action other()
	{
	}

	action malformed()
	{
		outcome = OUTCOME_MALFORMED;
	}

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
		actions = { known; other; malformed; }
		const default_action = malformed;
		const entries = {
			BEHIND_UDP(3, _, _)
			BEHIND_UDP(4, 1, 1)
			BEHIND_UDP(5, 1, 1)
			BEHIND_UDP(6, 1, 1)
			BEHIND_UDP(7, 1, 1)
			BEHIND_UDP(8, 1, 1)
			BEFORE_L4(3, _, _)
			BEFORE_L4(4, 1, 1)
			BEFORE_L4(5, 1, 1)
			BEFORE_L4(6, 1, 1)
			BEFORE_L4(7, 1, 1)
			BEFORE_L4(8, 1, 1)
			(INT_SHIM_MD, INT_BEHIND_UDP, 0 &&& 0xfc, _, _, _, _) :
				malformed();
			(INT_SHIM_MD, INT_BEFORE_L4, 0 &&& 0xfc, _, _, _, _) :
				malformed();
			(INT_SHIM_MD, INT_BEHIND_UDP, _, INT_VERSION, _, _, _) :
				other();
			(INT_SHIM_MD, INT_BEFORE_L4, _, INT_VERSION, _, _, _) :
				other();
		}
		size = SHAPE_ENTRIES;
	}

	apply {
		is_known = false;
		if (overhang == 0)
			shape.apply();
		else
			outcome = OUTCOME_MALFORMED;
	}
}

control Strip(inout headers_t headers, inout checksums_t checksums)
{
	action shorten_ipv4()
	{
		headers.ipv4.length = headers.ipv4.length +
				      checksums.length_change;
		checksums.adjust_ipv4 = true;
	}

	action shorten_ipv6()
	{
		headers.ipv6.length = headers.ipv6.length +
				      checksums.length_change;
	}

	/* The packet's own UDP header, which precedes INT. */
	action shorten_udp()
	{
		headers.udp.length = headers.udp.length +
				     checksums.length_change;
		headers.udp.destination = headers.int_shim.original;
	}

	action l4_behind_ipv4()
	{
		headers.ipv4.protocol = headers.int_shim.original[7:0];
		headers.udp.setInvalid();
	}

	action l4_behind_ipv6()
	{
		headers.ipv6.next_header = headers.int_shim.original[7:0];
		headers.udp.setInvalid();
	}

	action remove_int()
	{
		headers.int_shim.setInvalid();
		headers.int_md.setInvalid();
		headers.hop[0].setInvalid();
		headers.hop[1].setInvalid();
		headers.hop[2].setInvalid();
		headers.hop[3].setInvalid();
		headers.hop[4].setInvalid();
	}

	/* IPv4 and IPv6 headers share containers, so no action uses both. */
	apply {
		if (headers.udp.checksum != 0)
			checksums.adjust_udp = true;
		if (headers.ipv4.isValid())
			shorten_ipv4();
		else
			shorten_ipv6();
		if (headers.int_shim.npt == INT_BEHIND_UDP)
			shorten_udp();
		else if (headers.ipv4.isValid())
			l4_behind_ipv4();
		else
			l4_behind_ipv6();
		remove_int();
	}
}

#endif /* DART_TNA_STRIP_P4 */
