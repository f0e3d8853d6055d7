// SPDX-License-Identifier: GPL-2.0-only
/* The CRCs of a report. */
#ifndef DART_V1MODEL_HASH_P4
#define DART_V1MODEL_HASH_P4

#include "flow_hash.p4"
#include "shared/report.p4"

#define CRC(field, r)							\
	if (r.key == KEY_IPV4)						\
		CRC_OF(field, IPV4_KEY(r));				\
	else if (r.key == KEY_IPV6)					\
		CRC_OF(field, IPV6_KEY(r));				\
	else if (r.key == KEY_IPV4_HOP)					\
		CRC_OF(field, IPV4_KEY(r), r.node);			\
	else								\
		CRC_OF(field, IPV6_KEY(r), r.node);

control ShareHash(in report_t report, out bit<32> crc)
{
	bit<32> share;

	apply {
		CRC(share, report)
		crc = share;
	}
}

control SlotHash(in report_t report, in bit<8> copy,
		 out bit<32> slot)
{
	bit<32> slot0;
	bit<32> slot1;
	bit<32> slot2;
	bit<32> slot3;
	bit<32> slot4;
	bit<32> slot5;
	bit<32> slot6;
	bit<32> slot7;

	apply {
		if (copy == 0) {
			CRC(slot0, report)
			slot = slot0;
		} else if (copy == 1) {
			CRC(slot1, report)
			slot = slot1;
		} else if (copy == 2) {
			CRC(slot2, report)
			slot = slot2;
		} else if (copy == 3) {
			CRC(slot3, report)
			slot = slot3;
		} else if (copy == 4) {
			CRC(slot4, report)
			slot = slot4;
		} else if (copy == 5) {
			CRC(slot5, report)
			slot = slot5;
		} else if (copy == 6) {
			CRC(slot6, report)
			slot = slot6;
		} else {
			CRC(slot7, report)
			slot = slot7;
		}
	}
}

/* In the lowest bytes; never 0, which marks a slot that was never written. */
control ChecksumHash(in report_t report, in bit<8> bytes,
		     out bit<64> checksum)
{
	bit<32> checksum0;
	bit<32> checksum1;

	apply {
		CRC(checksum0, report)
		checksum = (bit<64>)checksum0;
		if (bytes == 8) {
			CRC(checksum1, report)
			checksum = checksum0 ++ checksum1;
		} else if (bytes == 2) {
			checksum = checksum & 0xffff;
		} else if (bytes == 1) {
			checksum = checksum & 0xff;
		}
		if (checksum == 0)
			checksum = 1;
	}
}

#endif /* DART_V1MODEL_HASH_P4 */
