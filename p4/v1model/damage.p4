// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checksum of IPv4 headers.  Externs of v1model verify a checksum by comparison, and so
 * refuse 0xffff where they compute 0, although both are right.
 */
#ifndef DART_V1MODEL_DAMAGE_P4
#define DART_V1MODEL_DAMAGE_P4

/* Tells whether the header of IPv4 is whole, and its checksum is wrong. */
control Damage(in headers_t headers, in error parser_error,
	       out bool is_damaged)
{
	bit<16> rest;	/* 0 if it is right: the sum includes the checksum */

	apply {
		is_damaged = false;
		if (headers.ipv4.isValid() &&
		    parser_error != error.IpMalformed &&
		    (headers.ipv4.ihl == 5 || headers.ipv4_options.isValid())) {
			hash(rest, HashAlgorithm.csum16, 16w0,
			     { headers.ipv4, headers.ipv4_options },
			     32w0x10000);
			is_damaged = rest != 0;
		}
	}
}

#endif /* DART_V1MODEL_DAMAGE_P4 */
