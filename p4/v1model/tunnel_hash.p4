// SPDX-License-Identifier: GPL-2.0-only
/* The hash of a flow inside a tunnel. */
#ifndef DART_V1MODEL_TUNNEL_HASH_P4
#define DART_V1MODEL_TUNNEL_HASH_P4

/* Of a flow inside: the lower bits of CRC-16/ARC. */
control TunnelHash(in bit<16> port, in bit<32> source, in bit<32> destination,
		   in bit<8> protocol, out bit<14> low)
{
	bit<16> crc;

	apply {
		hash(crc, HashAlgorithm.crc16, 16w0,
		     { port, source, destination, protocol }, 32w0x10000);
		low = crc[13:0];
	}
}

#endif /* DART_V1MODEL_TUNNEL_HASH_P4 */
