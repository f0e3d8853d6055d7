// SPDX-License-Identifier: GPL-2.0-only
/* For network functions that change several words at once. */
#ifndef DART_FUNCTIONS_WORDS_P4
#define DART_FUNCTIONS_WORDS_P4

/* RFC 1624: replaces @minus by @plus in the data that a checksum covers. */
control AdjustWords(inout bit<16> checksum, in bit<48> minus, in bit<48> plus)
{
	apply {
		bit<32> sum = (bit<32>)(~checksum) +
			      (bit<32>)(~minus[47:32]) +
			      (bit<32>)(~minus[31:16]) +
			      (bit<32>)(~minus[15:0]) +
			      (bit<32>)plus[47:32] + (bit<32>)plus[31:16] +
			      (bit<32>)plus[15:0];

		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		checksum = ~sum[15:0];
	}
}

#endif /* DART_FUNCTIONS_WORDS_P4 */
