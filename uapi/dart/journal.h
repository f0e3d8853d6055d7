/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The journal: lists of entries in the memory of a collector, to which switches and hosts append
 * without the collector's CPU (the primitive Append of "Direct Telemetry Access", SIGCOMM 2023,
 * section 4.2).  Entries are batched, and an RDMA WRITE carries a batch; a reader finds each
 * entry, or learns how many batches it missed and why.
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * Memory.  A journal takes entries from up to DART_JOURNAL_PARTS_MAX appenders, for 2^l lists.
 * Each appender WRITEs a part of its own, so appenders need not agree about anything; each list
 * has a ring of 2^r batches there, and a batch has 2^s bytes:
 *
 *   appender 0                                    appender 1
 *   +--------------------------+--------------+---+-------------
 *   | list 0                   | list 1       |...| list 0
 *   | batch 0 | batch 1 | ...  | batch 0 | ...|   | batch 0 | ...
 *   +--------------------------+--------------+---+-------------
 *
 *   batch at place p of list i in the part of an appender:
 *     base + (i * 2^r + p) * 2^s, 0 <= l <= 16, 1 <= r <= 20, 6 <= s <= 10
 *
 * All appenders and readers of a journal agree on l, r, s and the bytes of an entry, 1 to 64.
 *
 * Batch.  All integers are in network byte order.
 *
 *   byte        bits
 *   0           32    sequence: 1, 2, ... of the batches of this list and appender; 0: none
 *   4           48    start of the appender, see below
 *   10          8     count of entries: 1 to the capacity (2^s - 16) / (bytes of an entry),
 *                     rounded down, but not more than 255
 *   11          8     bytes of an entry
 *   12                count entries, one after the other, then zeros
 *   2^s - 4     32    CRC-32 of IEEE 802.3 over all bytes of the batch before it
 *
 * The place of a batch is (sequence - 1) mod 2^r.  The CRC has the bits of the ICRC (reflected, all
 * ones at first, inverted in the end; of "123456789" it is 0xcbf43926), but stands most significant
 * byte first, as the other integers.  A batch is whole if its CRC is right, the sequence is not 0
 * and belongs to its place, the count is possible, and the bytes of an entry are the journal's; no
 * other batch counts.  The CRC covers all bytes, so that a reader notices a WRITE in progress,
 * in whatever order the adapters of both sides take the bytes, and a batch that only begins and
 * ends as one does.
 *
 * Flush.  An appender may WRITE a batch that is not full, and later, with the same sequence at the
 * same place, the batch with these entries and more of them.  So a flush takes no place, and a
 * reader that took n entries of a batch takes those from number n on later.  While entries come, to
 * whichever list, an entry waits for about DART_JOURNAL_FLUSH_MS at most.  Only a full batch has
 * a successor: a batch that is not full, and that has a successor with the same start, says that
 * the last WRITE of this sequence was lost.
 *
 * Start.  Seconds since 1970, with 16 bits for their fraction, when the appender began to count: it
 * keeps no state over its own restart, but begins again with sequence 1 and a higher start.  It
 * does so, too, after sequence 2^32 - 1.  Of two batches the one with the higher start is
 * newer, and of two with one start the one with the higher sequence.  A clock that was set back
 * must not lower the start: a switch gets it with its configuration.
 *
 * What a reader knows.  It expects sequence q of start t, at place (q - 1) mod 2^r, and finds there
 *
 *   q of t              the batch
 *   a higher q of t     the writer was faster: batches were overwritten (lapped)
 *   a higher start      likewise
 *   anything else       no batch yet; it was lost if a higher q of t is in memory, or torn if
 *                       the bytes are not whole and not zeros
 *
 * A batch with a lower start is new, though it is not read, if it appears at a place where the
 * reader saw another batch, or if it goes on where an earlier start ended: the reader tells that the
 * clock of the appender was set back.
 *
 * A lost WRITE is one lost batch, and does not affect the next ones, because the transport is
 * unreliable connected.  A WRITE that the network delays by more than a lap can put an old batch
 * in the place of a newer one, which then counts as lost: so nothing is lost in silence, and no
 * entry is found twice by one reader.  If WRITEs are duplicated, the second one changes nothing,
 * unless it comes late, as above.  Of the last batches that an appender sent before it ended, a
 * reader cannot know that they were lost.
 *
 * Frames.  As the reports of <dart/store.h>, with these differences: the UDP source port is
 * DART_STORE_UDP_SOURCE_BASE + list mod 1024, the address is that of the batch, and the payload is
 * the batch, which needs no pad.  A batch fits a path MTU of 1024, or of 2^s if that is less.
 *
 * An example: the batch of 64 bytes with the entries 01020304 and 08090a0b, sequence 1 and start
 * 0x6553f100.8000, that is 1700000000.5:
 *
 *   00000001 6553f1008000 02 04
 *   01020304 08090a0b (40 bytes of 0)
 *   682232c9
 */
#ifndef _UAPI_DART_JOURNAL_H
#define _UAPI_DART_JOURNAL_H

#define DART_JOURNAL_PARTS_MAX		64
#define DART_JOURNAL_LISTS_LOG2_MAX	16
#define DART_JOURNAL_BATCHES_LOG2_MIN	1
#define DART_JOURNAL_BATCHES_LOG2_MAX	20
#define DART_JOURNAL_BATCH_LOG2_MIN	6
#define DART_JOURNAL_BATCH_LOG2_MAX	10
#define DART_JOURNAL_BATCH_MAX		1024	/* bytes, 2^DART_JOURNAL_BATCH_LOG2_MAX */
#define DART_JOURNAL_ENTRY_MAX		64	/* bytes */
#define DART_JOURNAL_COUNT_MAX		255	/* entries of a batch */

/* Offsets in a batch; of the CRC: from the end. */
#define DART_JOURNAL_SEQUENCE		0
#define DART_JOURNAL_START		4
#define DART_JOURNAL_COUNT		10
#define DART_JOURNAL_ENTRY_LENGTH	11
#define DART_JOURNAL_ENTRIES		12
#define DART_JOURNAL_CRC		4

#define DART_JOURNAL_PARTS		8	/* by default */
#define DART_JOURNAL_BATCH_LOG2		8	/* by default */

#define DART_JOURNAL_FLUSH_MS		1000

#endif /* _UAPI_DART_JOURNAL_H */
