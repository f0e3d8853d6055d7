// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses packets, and responses to the queue pair of switches with the packets in them.
 * Unread bytes follow the parsed headers.
 */
#ifndef DART_V1MODEL_TEA_PARSER_P4
#define DART_V1MODEL_TEA_PARSER_P4

#include <dart/tea.h>

#include "headers.p4"
#include "v1model/rdma/parser.p4"

error {
	TeaLength,	/* of the packet in a response */
	IpMalformed
}

#ifdef TEA_IPV6
#define TEA_IP_TYPES ETHERTYPE_IPV4: ipv4; ETHERTYPE_IPV6: ipv6;
#else
#define TEA_IP_TYPES ETHERTYPE_IPV4: ipv4;
#endif

#define TEA_BEFORE_ROW	32w58	/* Ethernet, IP, UDP, BTH and AETH */

parser TeaParser(packet_in packet, out headers_t headers,
		 inout metadata_t metadata,
		 inout standard_metadata_t standard)
{
	bit<432> beginning;
	bit<32> room;		/* unread bytes of the packet */
	bit<16> inside;		/* unread bytes up to the end of IP */

	RDMA_FIRST_STATES(DART_TEA_SWITCH_QPN, ethernet, read_response)

	state read_response {
		packet.extract(headers.aeth);
		packet.extract(headers.tea_row);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
#if TEA_CELLS == 8
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
		packet.extract(headers.tea_cells.next);
#endif
		packet.extract(headers.tea_row_end);
		packet.extract(headers.tea_tag);
		verify(TEA_BEFORE_ROW + TEA_ROW_BYTES + DART_TEA_TAG_LENGTH +
		       (bit<32>)headers.tea_tag.length +
		       (bit<32>)headers.bth.pad + 4 == room,
		       error.TeaLength);
		room = (bit<32>)headers.tea_tag.length;
		transition ethernet;
	}

	state ethernet {
		packet.extract(headers.ethernet);
		room = room - 14;
		transition select(headers.ethernet.ethertype) {
			TAG_TYPES(outer_tag)
			TEA_IP_TYPES
			DART_TEA_USE_ETHERTYPE: use;
			default: accept;
		}
	}

	TEA_USE_STATE

	/* The function and the route keep the tags of a packet. */
	state outer_tag {
		packet.extract(headers.outer_tag);
		room = room - 4;
		transition select(headers.outer_tag.ethertype) {
			TAG_TYPES(inner_tag)
			TEA_IP_TYPES
			default: accept;
		}
	}

	state inner_tag {
		packet.extract(headers.inner_tag);
		room = room - 4;
		transition select(headers.inner_tag.ethertype) {
			TEA_IP_TYPES
			default: accept;
		}
	}

	state ipv4 {
		packet.extract(headers.ipv4);
		verify(headers.ipv4.version == 4 && headers.ipv4.ihl >= 5 &&
		       headers.ipv4.length >=
		       (bit<16>)headers.ipv4.ihl << 2 &&
		       (bit<32>)headers.ipv4.length <= room,
		       error.IpMalformed);
		room = room - ((bit<32>)headers.ipv4.ihl << 2);
		inside = headers.ipv4.length -
			 ((bit<16>)headers.ipv4.ihl << 2);
		transition select(headers.ipv4.ihl) {
			5: ipv4_payload;
			default: ipv4_options;
		}
	}

	/*
	 * A source route would lead the packet past its destination here, so packets with
	 * options have no key, as in TNA: the control plane looks at them.
	 */
	state ipv4_options {
		packet.extract(headers.ipv4_options,
			       ((bit<32>)headers.ipv4.ihl - 5) << 5);
		transition accept;
	}

	state ipv4_payload {
		transition select(headers.ipv4.more_fragments,
				  headers.ipv4.offset,
				  headers.ipv4.protocol) {
			(0, 0, PROTOCOL_UDP): udp;
			(0, 0, PROTOCOL_TCP): tcp;
			default: accept;
		}
	}

#ifdef TEA_IPV6
	state ipv6 {
		packet.extract(headers.ipv6);
		room = room - 40;
		inside = headers.ipv6.length;
		verify(headers.ipv6.version == 6 && (bit<32>)inside <= room,
		       error.IpMalformed);
		transition select(headers.ipv6.next_header) {
			PROTOCOL_UDP: udp;
			PROTOCOL_TCP: tcp;
			default: accept;
		}
	}
#endif

	/* Padding may follow its end; the parser does not read it. */
	state udp {
		verify(inside >= 8, error.IpMalformed);
		packet.extract(headers.udp);
		room = room - 8;
		inside = inside - 8;
#ifdef TEA_BEHIND_UDP
		TEA_BEHIND_UDP
#else
		transition behind_headers;
#endif
	}

	state tcp {
		verify(inside >= 20, error.IpMalformed);
		packet.extract(headers.tcp);
		room = room - 20;
		transition behind_headers;
	}

#ifdef TEA_PACKET_STATES
	TEA_PACKET_STATES
#endif

	/*
	 * The ICRC of a WRITE follows the packet, so the parser must read the whole
	 * packet.  The length of a clone is unknown here, and a clone does not need its
	 * packet.
	 */
	state behind_headers {
		transition select(room <= TEA_FRAME_MAX) {
			true: rest;
			default: accept;
		}
	}

	state rest {
		packet.extract(headers.rest, room << 3);
		transition accept;
	}
}

control TeaDeparser(packet_out packet, in headers_t headers)
{
	apply {
		packet.emit(headers);
	}
}

#endif /* DART_V1MODEL_TEA_PARSER_P4 */
