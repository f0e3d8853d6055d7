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

#endif /* DART_FUNCTIONS_END_P4 */
