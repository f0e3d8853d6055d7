/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The sketch: counters of all keys of a period in the memory of a collector, which switches and
 * hosts count in memory of their own and WRITE when the period has ended, without the collector's
 * CPU (the primitive Sketch-Merge of "Direct Telemetry Access", SIGCOMM 2023, section 4.2).  The
 * counters of one period can be added up over all sketchers, so a reader sees one sketch of the
 * whole network.  A switch finds popular keys by a sketch of its own, see <dart/tea_sketch.h>,
 * which has nothing to do with this memory.
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * Counters.  D rows, 1 <= D <= DART_SKETCH_ROWS_MAX, of 2^w columns, 4 <= w <= 20, have a counter
 * of 32 bits each.  A key is a string of 1 to DART_STORE_KEY_MAX bytes.  Its column in row n is
 * the lowest w bits of its CRC with DART_STORE_SLOT_<n> of <dart/store.h>.  To count an amount of
 * a key changes its counter in each row, by the kind of the sketch:
 *
 *   0  count-min      adds the amount.  The counter stays at 2^32 - 1 once it has reached that.
 *   1  count sketch   adds the amount if bit 31 of the CRC is 0, and subtracts it otherwise.  The
 *                     counter is a two's complement, and stays at 2^31 - 1 or 1 - 2^31 once it
 *                     has reached that; -2^31 does not occur.
 *
 * A counter with such a last value, or with -2^31, is saturated, and says nothing about its keys.
 *
 * Periods.  Period p, 32 bits, begins p L seconds after 1970, and lasts L seconds, 1 <= L <= 3600.
 * A sketcher counts in one bank of its memory while it sends the counters of the period before
 * from the other bank, and clears these.  It sends whole periods only: nothing of a period in
 * which it started, or in which its clock was set by more than a tenth of a period.  Strips that
 * it has not sent when the next period ends are lost.
 *
 * Memory.  A sketch takes the counters of up to DART_SKETCH_PARTS_MAX sketchers.  Each WRITEs a
 * part of its own, so sketchers need not agree about anything but the number of a period.  A part
 * has two banks, of the even and the odd periods, and a bank has 2^w / 16 strips:
 *
 *   sketcher 0                                              sketcher 1
 *   +-------------------------+---------------------------+---------------
 *   | bank 0                  | bank 1                    | bank 0
 *   | strip 0 | strip 1 | ... | strip 0 | strip 1 | ...   | strip 0 | ...
 *   +-------------------------+---------------------------+---------------
 *
 *   strip i of period p in the part of a sketcher:
 *     base + ((p mod 2) 2^w / 16 + i) (12 + 64 D)
 *
 * Strip.  The counters of 16 columns, 16 i to 16 i + 15.  All integers are in network byte order.
 *
 *   byte        bits
 *   0           32    period, not 0
 *   4           16    reporters, not 0: sketchers whose counters were added up
 *   6           16    number of the strip, i
 *   8                 16 columns, one after the other, of D counters each, row 0 first
 *   8 + 64 D    32    CRC-32 of IEEE 802.3 over all bytes of the strip before it, as in a batch of
 *                     <dart/journal.h>
 *
 * A strip is whole if its CRC and its number are right, and neither its period nor its reporters
 * are 0.  The CRC covers all bytes, so that a reader notices a WRITE in progress, in whatever
 * order the adapters of both sides take the bytes.
 *
 * Holes.  The transport is unreliable connected: a lost WRITE is one lost strip.  A reader of
 * period p finds instead of each strip in bank p mod 2 that is not whole, or that has another
 * period, a hole, and it never takes a hole for zeros:
 *
 *   empty    all bytes are 0: no strip came to this place since the part has its sketcher
 *   older    a whole strip of an earlier period: that of p was lost, or has not come yet
 *   newer    of a later period: the reader is late, or the sketcher's clock is wrong
 *   torn     anything else
 *   fewer    in the sum of all parts: the reporters of other strips are more
 *   more     likewise, but fewer: the number of reporters of one strip is wrong
 *
 * In the sum, the right number of reporters is the greatest that 1/8 of its strips reach, of those
 * without another hole: a sketcher that lies once does not make all other strips holes.
 *
 * A part without any strip of p is absent; it is unused if all bytes of both banks are 0.  The
 * reader adds up the other parts, the present ones.  A row of a key counts if its column has no
 * hole in any present part and no saturated counter.  Readers tell how many parts are absent: what
 * these counted is missing in each answer.
 *
 * Asking.  Let C be the columns without a hole.
 *
 *   count-min      the minimum of the rows that count.  It is never below the true count of the
 *                  present parts, and with a probability of 1 - 2^-rows at most
 *                  epsilon = 2 total / C above it, rounded down, where total is the sum of a row's
 *                  counters in these columns: by Markov's inequality, as in <dart/ledger.h>.
 *   count sketch   the median of the rows that count, each with the sign of the key (of an even
 *                  number: the mean of the middle two, rounded towards 0).  Each row is at most
 *                  epsilon = 2 sqrt(squares / C) off with a probability of 3/4 at least, where
 *                  squares is the sum of the squares of a row's counters: by Chebyshev's
 *                  inequality.  So the median is farther off only if half of the rows are.
 *
 * The row with the greatest total, or squares, decides.  Saturated counters are in these sums with
 * their last value, so epsilon may be too low, and readers tell how many there are.
 *
 * Merging.  A translator is a program or a switch on the way from sketchers to the collector, with
 * an own part.  It knows its sketchers by the source addresses and the queue pairs of their
 * WRITEs, which it takes instead of passing them on.  It adds up strips of one period and number,
 * counter by counter, and their reporters, and WRITEs the sum to its part:
 *
 *   - when the strip of each sketcher has come;
 *   - when a time has passed since a strip came that no WRITE of the sum contained;
 *   - when a strip of a later period needs the place of the sum in its bank.
 *
 * A strip that comes after the WRITE is added as well, and the sum is written once more, to the
 * same place with more reporters.  Of each sketcher a sum contains one strip, so a frame that comes
 * twice counts once.  Strips that a sum contains already, and strips of an earlier period than that
 * of the sum in their place, are dropped; only a sum whose first strip came two periods ago, as if
 * by a clock that was wrong, makes room for any other period.  A translator that knows the time
 * drops strips of a period that begins more than a minute from now, or each of them would keep the
 * strips of other sketchers out for two periods: so its clock must be right.  A switch does not know
 * the time.  Frames whose ICRC or CRC is wrong
 * pass unchanged, so the collector judges them.
 *
 * The sum of counters stays at the values above, and with a saturated counter it is saturated.  The
 * sum of reporters stays at 2^16 - 1.  The strip of a sketcher is in its own part or in a sum, and
 * never in both, so readers need not know of translators: these may come and go.
 *
 * Frames.  As the reports of <dart/store.h>, with these differences: the UDP source port is
 * DART_STORE_UDP_SOURCE_BASE + strip mod 1024, the address is that of the strip, and the payload
 * is the strip, which needs no pad.  A strip fits a path MTU of 1024, and of 512 if D < 8.
 *
 * An example: strip 1 of period 170000000 from one sketcher, D = 1, with counters 1 to 16:
 *
 *   0a21fe80 0001 0001
 *   00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008
 *   00000009 0000000a 0000000b 0000000c 0000000d 0000000e 0000000f 00000010
 *   ff736ae1
 */
#ifndef _UAPI_DART_SKETCH_H
#define _UAPI_DART_SKETCH_H

#define DART_SKETCH_PARTS_MAX		64
#define DART_SKETCH_ROWS_MAX		8
#define DART_SKETCH_COLUMNS_LOG2_MIN	4
#define DART_SKETCH_COLUMNS_LOG2_MAX	20
#define DART_SKETCH_PERIOD_MAX		3600	/* s */

#define DART_SKETCH_COUNT_MIN		0	/* kinds */
#define DART_SKETCH_COUNT_SKETCH	1

#define DART_SKETCH_BANKS		2
#define DART_SKETCH_STRIP_COLUMNS	16
#define DART_SKETCH_STRIP_COLUMNS_LOG2	4
#define DART_SKETCH_STRIP_MAX		524	/* bytes, with DART_SKETCH_ROWS_MAX rows */

/* Offsets in a strip. */
#define DART_SKETCH_STRIP_PERIOD	0
#define DART_SKETCH_STRIP_REPORTERS	4
#define DART_SKETCH_STRIP_NUMBER	6
#define DART_SKETCH_STRIP_COUNTERS	8
#define DART_SKETCH_STRIP_CRC		4	/* bytes */

#define DART_SKETCH_PARTS		8	/* by default */
#define DART_SKETCH_ROWS		4	/* by default */
#define DART_SKETCH_PERIOD		10	/* s, by default */

#endif /* _UAPI_DART_SKETCH_H */
