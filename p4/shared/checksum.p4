// SPDX-License-Identifier: GPL-2.0-only
/* Checksums of IP, TCP and UDP after a change of the data that they cover. */
#ifndef DART_CHECKSUM_P4
#define DART_CHECKSUM_P4

/* RFC 1624: replaces @minus by @plus in the data that a checksum covers. */
control AdjustChecksum(inout bit<16> checksum, in bit<16> minus,
		       in bit<16> plus)
{
	apply {
		bit<32> sum = (bit<32>)(~checksum) + (bit<32>)(~minus) +
			      (bit<32>)plus;

		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		checksum = ~sum[15:0];
	}
}

#endif /* DART_CHECKSUM_P4 */
