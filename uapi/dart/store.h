/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The store: the layout of telemetry reports in the memory of a collector, and their
 * frames.  Reporters (switches, XDP programs, libdart) compute from a key the place of
 * its value and WRITE the value there; a reader that knows the key finds it again by
 * the same computation.  This takes no coordination and no work of the collector's CPU
 * (DART, HotNets 2021, section 3).
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * Slots.  A store is an array of 2^k slots, 0 <= k <= 32, without gaps:
 *
 *   +----------+-------------+----------+-------------+--
 *   | checksum | value       | checksum | value       | ...
 *   +----------+-------------+----------+-------------+--
 *    1,2,4,8 B   4 ... 64 B
 *
 * The checksum of the key is in network byte order; the value is a string of
 * bytes, whose meaning a schema defines.  A slot whose checksum is 0 has not been
 * written yet.  All reporters and readers of a store agree on the number of slots,
 * the length of values, the bits of the checksum, and the redundancy N, the number
 * of slots, 1 to 8, that belong to a key.  A report fills one of these; a reporter
 * chooses it at random, or sends N reports.
 *
 * Hashing.  A key is a string of 1 to 64 bytes.  Each purpose has a CRC of 32 bits
 * with its own polynomial:
 *
 *   slot n of a key    CRC with DART_STORE_SLOT_<n>, its lowest k bits
 *   checksum           CRC with DART_STORE_CHECKSUM_0: its lowest 8, 16 or all
 *                      32 bits; 64 bits are that CRC, then the one with
 *                      DART_STORE_CHECKSUM_1; 1 if this is 0
 *   share              CRC with DART_STORE_SHARE, its lowest
 *                      DART_STORE_SHARE_BITS bits
 *
 * Each is the CRC of IEEE 802.3, except for the polynomial: bits go in and come out
 * reflected (least significant first), the register begins with all ones, and all bits
 * are inverted in the end.  The polynomials are written most significant bit first,
 * without x^32.  Each purpose needs its own polynomial because a CRC is linear: with
 * one polynomial, and n put before the key, keys that share one slot would share all
 * slots, and N copies would be worth no more than one.  They are primitive, so no two
 * have a factor in common: each is the first primitive one at or after the odd number
 * that the first 32 bits of the SHA-256 of "DART slot <n>", "DART checksum <n>" or
 * "DART share" make, counted in steps of 2.
 *
 * Collectors.  A key's share determines the collector of its copies: each collector
 * holds some of the DART_STORE_SHARES shares, and a share can be given to another
 * collector independently of the others.  dart_collectors(5) lists them, and for each
 * its store, addresses, queue pair, rkey, base and first PSN; n collectors without a
 * list of shares get equal parts, in their order: share s belongs to number s * n /
 * DART_STORE_SHARES, rounded down, from 0.
 *
 * Reports.  A report is a RoCEv2 frame (IBTA volume 1, annex A17) to UDP port
 * DART_STORE_UDP_PORT:
 *
 *   Ethernet  to the collector, or the router before it
 *   IPv4      no options, type of service 0, identification 0, DF, TTL 64
 *   UDP       from port DART_STORE_UDP_SOURCE_BASE + share, or, over a reliable
 *             connection, + the lowest 10 bits of the queue pair; checksum 0
 *   BTH       opcode DART_STORE_BTH_OPCODE, over a reliable connection
 *             DART_STORE_BTH_RELIABLE, MigReq 1, pad count, P_Key 0xffff,
 *             queue pair of the collector, AckReq 0 or, in a report that asks
 *             over a reliable connection, 1, PSN: the reports to this
 *             queue pair, counted from the collector's first PSN, modulo 2^24
 *   RETH      address base + slot * (bytes of a slot), rkey, bytes of a slot
 *   payload   the slot, then 0 to 3 bytes of 0, the pad count, up to a
 *             multiple of 4
 *   ICRC      CRC-32 of IEEE 802.3 over 8 bytes 0xff and the frame from the
 *             IP header to here, where type of service, TTL, both checksums and
 *             byte 4 of the BTH, counted from 0 (FECN, BECN and reserved bits,
 *             before the queue pair), are 0xff; least significant byte first
 *
 * An example: the first report of a value, 01020304, for the key
 *
 *   0a0100020a030103c00001bb06
 *
 * from 10.0.0.2 (52:54:00:00:00:02) to 10.0.0.1 (52:54:00:00:00:01), queue pair
 * 17, rkey 0x1234, base 0x3a5f00000000, first PSN 0; k = 20, 32 bits of checksum,
 * N = 2.  The key has share 626, the slots 442575 and 457765, and the checksum
 * 7858d9cc.  The frame for slot 442575, whose last four bytes are the ICRC:
 *
 *   5254000000015254000000020800
 *   4500004400004000401126a70a0000020a000001
 *   c27212b700300000
 *   2a40ffff0000001100000000
 *   00003a5f003606780000123400000008
 *   7858d9cc01020304
 *   3b4ca01c
 *
 * Transports.  A queue pair takes reports from one source address.  Its connection is
 * unreliable (UC), unless the collector's "transport" in dart_collectors(5) is "rc".
 * Over an unreliable connection a lost report is not sent again, and does not affect
 * the reports after it.
 *
 * A reliable connection (RC) is for adapters without unreliable ones.  Its queue pair
 * takes exactly the PSN that it expects, and each report that it takes raises this
 * number by one:
 *
 *   a later PSN     A report before it was lost.  The queue pair *stops*: it
 *                   answers once, with a NAK of a PSN sequence error whose PSN is
 *                   the expected one, and drops all reports until that PSN comes.
 *   an earlier PSN  It drops the report, and answers with an acknowledgement of
 *                   the PSN before the expected one.
 *   a wrong rkey or address
 *                   It answers with another NAK, and is in the error state: the
 *                   reporter has to be removed and added again.
 *
 * A reporter keeps no reports.  When it learns the expected PSN, it gives this PSN to
 * its next report, and so starts the queue pair again: all reports between are lost.
 * It learns it from an answer, or from the agent ("expected_psn" of reporter-list).
 * As a NAK can be lost, too, the reporter asks: it sends a *probe*, a report with
 * AckReq 1 whose RETH has the length 0, and without payload.  The PSN of a probe is
 * the first PSN before the reporter knows the expected one, as after a restart, and
 * otherwise the PSN before the one that it last knew to be expected, so that no probe
 * takes the place of a report.  If the first PSN is not answered, 2^23 - 1 more is: one
 * of both is not later than the expected PSN, modulo 2^24.  If a NAK answers, the next
 * probe has its PSN, as only an acknowledgement is certain to count from there.  Answers
 * between the last known PSN and the one after the last report count, and no others.  A
 * reporter asks after at most
 * DART_STORE_PROBE_REPORTS reports, and one probe is under way at a time; if the answer
 * to a probe expects an earlier PSN than the one after the last report before the probe,
 * the queue pair has stopped.
 *
 * A reporter that cannot send frames of its own asks by reports with AckReq 1 instead.  If
 * such a report is not answered, a later one has the PSN of a probe, and is lost.
 *
 * The expected PSN counts what arrived: the reports that a reporter has sent since it
 * knew the expected PSN for the first time, less the numbers by which it has risen
 * since, are lost.  All frames to one queue pair have one source port, because networks
 * keep the order of frames with the same addresses and ports only.
 */
#ifndef _UAPI_DART_STORE_H
#define _UAPI_DART_STORE_H

#define DART_STORE_SLOT_0		0x10ed4539
#define DART_STORE_SLOT_1		0x06024445
#define DART_STORE_SLOT_2		0x14472299
#define DART_STORE_SLOT_3		0x394fa135
#define DART_STORE_SLOT_4		0x5ee47539
#define DART_STORE_SLOT_5		0x251737b7
#define DART_STORE_SLOT_6		0x66814c19
#define DART_STORE_SLOT_7		0xf00142ad
#define DART_STORE_CHECKSUM_0		0x0b48c247
#define DART_STORE_CHECKSUM_1		0x761a3ecb
#define DART_STORE_SHARE		0xd4aedefd

#define DART_STORE_SHARE_BITS		10
#define DART_STORE_SHARES		1024	/* 2^DART_STORE_SHARE_BITS */

#define DART_STORE_SLOTS_LOG2_MAX	32
#define DART_STORE_REDUNDANCY_MAX	8
#define DART_STORE_KEY_MAX		64	/* bytes */
#define DART_STORE_VALUE_MIN		4
#define DART_STORE_VALUE_MAX		64
#define DART_STORE_SLOT_MAX		72	/* bytes of checksum and value */
#define DART_STORE_CHECKSUM_BITS	32	/* by default */
#define DART_STORE_REDUNDANCY		2	/* by default */

#define DART_STORE_UDP_PORT		4791
#define DART_STORE_UDP_SOURCE_BASE	0xc000
#define DART_STORE_BTH_OPCODE		0x2a	/* UC RDMA WRITE Only */
#define DART_STORE_BTH_RELIABLE		0x0a	/* RC RDMA WRITE Only */
#define DART_STORE_BTH_ACKNOWLEDGE	0x11	/* RC Acknowledge, also NAK */
#define DART_STORE_PROBE_REPORTS	64

#endif /* _UAPI_DART_STORE_H */
