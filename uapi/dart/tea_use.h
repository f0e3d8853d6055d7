/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * How the control plane of a switch learns which entries of a lookup table are in use, so that it
 * can end flows that are idle.  See <dart/tea.h> for the lookup tables.
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * Stamps.  A switch has DART_TEA_USE_STAMPS registers of 2^b cells, and its coarse time: the
 * microseconds since it was started, divided by 2^DART_TEA_USE_SHIFT, modulo
 * 2^DART_TEA_USE_TIME_BITS.  Each packet that leaves by its entry writes this time to one cell of
 * each register: the lowest b bits of the CRC of its key with DART_TEA_ROW_0, and then of its CRC
 * with DART_TEA_ROW_1, select them.  A cell that was never written has time 0, the start.
 *
 * So no cell of a key is older than its last packet since the start.  Other keys may have the same
 * cells: then a cell is younger, never older.  The age of a key is at least the larger one of its
 * two.
 *
 * Questions.  A frame at the port that packets without a key leave through (tea_otherwise, outcome
 * keyless of p4/shared/tea/outcome.p4), with the EtherType DART_TEA_USE_ETHERTYPE, and integers in
 * network byte order:
 *
 *   14 bytes  Ethernet, without a tag; the destination is any
 *    1        DART_TEA_USE_VERSION
 *    1        DART_TEA_USE_QUESTION
 *    2        0
 *    4        a number, which the answer repeats
 *  8 x 16     DART_TEA_USE_KEYS keys: both CRCs, all 32 bits, or any other ones
 *
 * The switch sends it back as an answer, to its source and through its port: with
 * DART_TEA_USE_ANSWER, and two ages in place of each two CRCs, differences of coarse times modulo
 * 2^DART_TEA_USE_TIME_BITS.  An age of n says that the last packet is more than n - 1 units old.
 * All other frames with this EtherType are dropped, so no host can forge an answer.
 */
#ifndef _UAPI_DART_TEA_USE_H
#define _UAPI_DART_TEA_USE_H

#define DART_TEA_USE_ETHERTYPE	0x88b6	/* local experimental, the second one (IEEE 802) */
#define DART_TEA_USE_VERSION	1
#define DART_TEA_USE_QUESTION	1
#define DART_TEA_USE_ANSWER	2

#define DART_TEA_USE_STAMPS	2
#define DART_TEA_USE_KEYS	16	/* of a question */
#define DART_TEA_USE_LENGTH	150	/* bytes of a frame, without padding */
#define DART_TEA_USE_SHIFT	20	/* a unit is 1.048576 s */
#define DART_TEA_USE_TIME_BITS	28	/* 8.9 years */

#endif /* _UAPI_DART_TEA_USE_H */
