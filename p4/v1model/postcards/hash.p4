// SPDX-License-Identifier: GPL-2.0-only
/* The CRCs of the key of a postcard.  A row keeps them, so its report needs no key. */
#ifndef DART_V1MODEL_POSTCARDS_HASH_P4
#define DART_V1MODEL_POSTCARDS_HASH_P4

#include "v1model/flow_hash.p4"
#include "shared/report.p4"
#include "v1model/postcards/headers.p4"

#define POSTCARD_CRC(field)						\
	CRC_OF(field, POSTCARD_KEY(headers));				\
	crcs.field = field;

control PostcardHash(in headers_t headers, out postcard_crcs_t crcs)
{
	bit<32> share;
	bit<32> checksum0;
	bit<32> checksum1;
	bit<32> slot0;
	bit<32> slot1;
	bit<32> slot2;
	bit<32> slot3;
	bit<32> slot4;
	bit<32> slot5;
	bit<32> slot6;
	bit<32> slot7;

	apply {
		POSTCARD_CRC(share)
		POSTCARD_CRC(checksum0)
		POSTCARD_CRC(checksum1)
		POSTCARD_CRC(slot0)
		POSTCARD_CRC(slot1)
		POSTCARD_CRC(slot2)
		POSTCARD_CRC(slot3)
		POSTCARD_CRC(slot4)
		POSTCARD_CRC(slot5)
		POSTCARD_CRC(slot6)
		POSTCARD_CRC(slot7)
	}
}

control SlotHash(in report_t report, in bit<8> copy, out bit<32> slot)
{
	apply {
		if (copy == 0)
			slot = report.crcs.slot0;
		else if (copy == 1)
			slot = report.crcs.slot1;
		else if (copy == 2)
			slot = report.crcs.slot2;
		else if (copy == 3)
			slot = report.crcs.slot3;
		else if (copy == 4)
			slot = report.crcs.slot4;
		else if (copy == 5)
			slot = report.crcs.slot5;
		else if (copy == 6)
			slot = report.crcs.slot6;
		else
			slot = report.crcs.slot7;
	}
}

/* In the lowest bytes; never 0, which marks a slot that was never written. */
control ChecksumHash(in report_t report, in bit<8> bytes, out bit<64> checksum)
{
	apply {
		checksum = (bit<64>)report.crcs.checksum0;
		if (bytes == 8)
			checksum = report.crcs.checksum0 ++ report.crcs.checksum1;
		else if (bytes == 2)
			checksum = checksum & 0xffff;
		else if (bytes == 1)
			checksum = checksum & 0xff;
		if (checksum == 0)
			checksum = 1;
	}
}

/* A step of the division of a number below TURNS by the redundancy. */
#define TURN_STEP(n)							\
	part = (bit<16>)redundancy << n;				\
	if (turn >= part)						\
		turn = turn - part;

/*
 * Incomplete paths go to the slots of their key in turn, and never to all of them; for others, as for
 * paths of INT.
 */
control ChooseCopy(in report_t report, in bit<8> redundancy, inout bit<8> all_copies,
		   out bit<8> copy)
{
	bit<16> turn;
	bit<16> part;

	apply {
		copy = report.copy;
		if (report.is_complete == 0) {
			all_copies = 0;
			turn = report.turn;
			TURN_STEP(9)
			TURN_STEP(8)
			TURN_STEP(7)
			TURN_STEP(6)
			TURN_STEP(5)
			TURN_STEP(4)
			TURN_STEP(3)
			TURN_STEP(2)
			TURN_STEP(1)
			TURN_STEP(0)
			copy = turn[7:0];
		} else if (all_copies == 0) {
			random(copy, 0, redundancy - 1);
		}
	}
}

#endif /* DART_V1MODEL_POSTCARDS_HASH_P4 */
