// SPDX-License-Identifier: GPL-2.0-only
/* Other registers of a switch, its random numbers and the sum over INT. */
#ifndef DART_V1MODEL_STATE_P4
#define DART_V1MODEL_STATE_P4

#include "shared/report.p4"
#include "shared/sizes.p4"
#include "headers.p4"
#include "damage.p4"

/* Chooses a copy, each with the same probability, unless a report goes to all of them. */
control ChooseCopy(in report_t report, in bit<8> redundancy, inout bit<8> all_copies,
		   out bit<8> copy)
{
	apply {
		copy = report.copy;
		if (all_copies == 0)
			random(copy, 0, redundancy - 1);
	}
}

/*
 * Tells whether the path of a flow differs from the path that was reported last.  Flows
 * that share a place in the cache are reported more often than necessary, never less.
 */
control Change(in report_t report, in bit<32> crc, out bool changed)
{
	@name(".dart_cache")
	register<bit<32>>(CACHE_ENTRIES) cache;
	bit<32> now;
	bit<32> before;
	bit<32> index;

	apply {
		index = (bit<32>)crc[CACHE_BITS + DART_STORE_SHARE_BITS - 1 :
				     DART_STORE_SHARE_BITS];
		hash(now, HashAlgorithm.crc32, 64w0, { report.key,
			report.source, report.destination,
			report.source_port, report.destination_port,
			report.protocol, report.value }, 64w0x100000000);
		@atomic {
			cache.read(before, index);
			cache.write(index, now);
		}
		changed = before != now;
	}
}

/* The sum of all INT headers, as for checksums of IP (RFC 1071). */
control SumOfInt(in headers_t headers, out bit<16> sum)
{
	bit<16> checksum;

	apply {
		hash(checksum, HashAlgorithm.csum16, 16w0, { headers.int_shim,
			headers.int_md, headers.hop[0], headers.hop[1],
			headers.hop[2], headers.hop[3], headers.hop[4],
			headers.int_tail }, 32w0x10000);
		sum = ~checksum;
	}
}

control RemoveStack(inout headers_t headers)
{
	apply {
		headers.hop[0].setInvalid();
		headers.hop[1].setInvalid();
		headers.hop[2].setInvalid();
		headers.hop[3].setInvalid();
		headers.hop[4].setInvalid();
		headers.int_tail.setInvalid();
	}
}

control SetIpv6Protocol(inout headers_t headers, in bit<8> protocol)
{
	apply {
		if (headers.extensions[3].isValid())
			headers.extensions[3].next_header = protocol;
		else if (headers.extensions[2].isValid())
			headers.extensions[2].next_header = protocol;
		else if (headers.extensions[1].isValid())
			headers.extensions[1].next_header = protocol;
		else if (headers.extensions[0].isValid())
			headers.extensions[0].next_header = protocol;
		else
			headers.ipv6.next_header = protocol;
	}
}

#endif /* DART_V1MODEL_STATE_P4 */
