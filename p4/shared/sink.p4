// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last switch of a path removes INT from the packet.  It adjusts checksums by the
 * removed bytes instead of computing them again, so that damage stays visible.
 */
#ifndef DART_SINK_P4
#define DART_SINK_P4

#include "checksum.p4"
#include "headers.p4"

/*
 * Adjusts the IP header after @bytes that follow it are removed; @protocol follows now.
 * The architecture defines SetIpv6Protocol.
 */
control ShortenIp(inout headers_t headers, in bit<16> bytes,
		  in bit<8> protocol)
{
	AdjustChecksum() adjust_length;
	AdjustChecksum() adjust_protocol;
	SetIpv6Protocol() set_ipv6_protocol;

	apply {
		if (headers.ipv4.isValid()) {
			adjust_length.apply(headers.ipv4.checksum, bytes, 0);
			adjust_protocol.apply(headers.ipv4.checksum,
					      (bit<16>)headers.ipv4.protocol,
					      (bit<16>)protocol);
			headers.ipv4.length = headers.ipv4.length - bytes;
			headers.ipv4.protocol = protocol;
		} else {
			headers.ipv6.length = headers.ipv6.length - bytes;
			set_ipv6_protocol.apply(headers, protocol);
		}
	}
}

/* Adjusts the packet's own UDP header, which precedes INT; @removed: the sum of all INT. */
control ShortenUdp(inout headers_t headers, in bit<16> bytes,
		   in bit<16> removed)
{
	AdjustChecksum() adjust_length;
	AdjustChecksum() adjust_pseudo_header;
	AdjustChecksum() adjust_port;
	AdjustChecksum() adjust_payload;

	apply {
		if (headers.udp.checksum != 0) {
			adjust_length.apply(headers.udp.checksum, bytes, 0);
			adjust_pseudo_header.apply(headers.udp.checksum, bytes,
						   0);
			adjust_port.apply(headers.udp.checksum,
					  headers.udp.destination,
					  headers.int_shim.original);
			adjust_payload.apply(headers.udp.checksum, removed, 0);
			if (headers.udp.checksum == 0)
				headers.udp.checksum = 0xffff;
		}
		headers.udp.length = headers.udp.length - bytes;
		headers.udp.destination = headers.int_shim.original;
	}
}

control Strip(inout headers_t headers)
{
	SumOfInt() sum;
	ShortenIp() shorten_ip;
	ShortenUdp() shorten_udp;
	RemoveStack() remove_stack;
	bit<16> bytes;
	bit<16> removed;

	apply {
		bytes = INT_SHIM_BYTES +
			((bit<16>)headers.int_shim.words << 2);
		if (headers.int_shim.npt == INT_BEHIND_UDP) {
			sum.apply(headers, removed);
			shorten_ip.apply(headers, bytes, PROTOCOL_UDP);
			shorten_udp.apply(headers, bytes, removed);
		} else {
			shorten_ip.apply(headers, bytes + UDP_BYTES,
					 headers.int_shim.original[7:0]);
			headers.udp.setInvalid();
		}
		headers.int_shim.setInvalid();
		headers.int_md.setInvalid();
		remove_stack.apply(headers);
	}
}

#endif /* DART_SINK_P4 */
