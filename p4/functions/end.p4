// SPDX-License-Identifier: GPL-2.0-only
/* For network functions that change an end of a flow: its checksums. */
#ifndef DART_FUNCTIONS_END_P4
#define DART_FUNCTIONS_END_P4

#include "words.p4"

/* Adjusts all checksums when @before, address and port, becomes @now. */
control AdjustEnd(inout headers_t headers, in bit<48> before, in bit<48> now)
{
	AdjustWords() adjust_ip;
	AdjustWords() adjust_udp;
	AdjustWords() adjust_tcp;

	apply {
		adjust_ip.apply(headers.ipv4.checksum,
				before[47:16] ++ 16w0, now[47:16] ++ 16w0);
		if (headers.tcp.isValid()) {
			adjust_tcp.apply(headers.tcp.checksum, before, now);
		} else if (headers.udp.checksum != 0) {
			adjust_udp.apply(headers.udp.checksum, before, now);
			if (headers.udp.checksum == 0)
				headers.udp.checksum = 0xffff;
		}
	}
}

#ifdef TEA_IPV6
/*
 * The same for an address of IPv6, whose header has no checksum.  All words in one sum: the
 * compiler copies a sum wherever the next one needs it.
 */
control AdjustEnd6(inout headers_t headers, in bit<144> before, in bit<144> now)
{
	bit<16> checksum;
	bit<32> sum;

	apply {
		if (headers.tcp.isValid())
			checksum = headers.tcp.checksum;
		else
			checksum = headers.udp.checksum;
		sum = (bit<32>)(~checksum) +
		      (bit<32>)(~before[143:128]) + (bit<32>)(~before[127:112]) +
		      (bit<32>)(~before[111:96]) + (bit<32>)(~before[95:80]) +
		      (bit<32>)(~before[79:64]) + (bit<32>)(~before[63:48]) +
		      (bit<32>)(~before[47:32]) + (bit<32>)(~before[31:16]) +
		      (bit<32>)(~before[15:0]) + (bit<32>)now[143:128] +
		      (bit<32>)now[127:112] + (bit<32>)now[111:96] +
		      (bit<32>)now[95:80] + (bit<32>)now[79:64] +
		      (bit<32>)now[63:48] + (bit<32>)now[47:32] +
		      (bit<32>)now[31:16] + (bit<32>)now[15:0];
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		checksum = ~sum[15:0];
		if (headers.tcp.isValid())
			headers.tcp.checksum = checksum;
		else if (headers.udp.checksum != 0)
			headers.udp.checksum = checksum == 0 ? 0xffff :
							       checksum;
	}
}
#endif

#endif /* DART_FUNCTIONS_END_P4 */
