/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Postcards of hops: each switch on the path of a flow tells one value of 4 bytes to a
 * translator, a program or switch before the collector, which gathers the values of a flow and
 * sends them as one ordinary report of <dart/store.h> (the primitive Postcarding of "Direct
 * Telemetry Access", SIGCOMM 2023, section 4.2).  The collector has a store like any other.
 * The postcards of the Telemetry Report Format, see dart_reporter(7), do not say which hop sent
 * them, and each is a report of its own.
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * Postcard.  A UDP datagram to a port that the translator's user chooses, with nothing after
 * the key.  All integers are in network byte order.
 *
 *   byte   bits
 *   0      8      version, DART_POSTCARD_VERSION
 *   1      8      bytes of the key, 1 to 64
 *   2      8      hop, from 0, the first switch of the path
 *   3      8      hops of the path, more than the hop; 1 to DART_POSTCARD_HOPS_MAX
 *   4      32     value; neither DART_POSTCARD_UNKNOWN nor DART_POSTCARD_NO_HOP
 *   8             key
 *
 * Value of a report.  The store's values have places of 4 bytes: place h contains the value of
 * hop h, DART_POSTCARD_UNKNOWN if no postcard of it came, and DART_POSTCARD_NO_HOP after the
 * last hop of the path.  Bytes after the last whole place are 0.  A postcard of a path with more
 * hops than places is refused.
 *
 * Translator.  It has a bounded number of rows; the CRC of a key chooses its row.  A row belongs
 * to one key, and leaves when
 *
 *   - a postcard of another key needs the row;
 *   - a postcard of the same key has another value of a hop that is known, or another number of
 *     hops: the path has changed;
 *   - a time has passed since its first postcard.
 *
 * A row is reported once: when it is complete, to any slot of its key, or to all of them;
 * otherwise when it leaves, to slot n of its own key, where n is the number of incomplete rows
 * that the translator reported before, modulo N.  So two incomplete reports of a key go to
 * different slots as often as not.  A complete row stays until it leaves, so that the postcards
 * of later packets cause no report.
 *
 * Reader.  The policy "merge" takes all slots with the checksum of the key.  For each place, the
 * values that are known must agree; the answer is their union.  If two slots contradict each
 * other, the answer is ambiguous, and has no value.
 *
 * Limits.  A postcard does not say which packet caused it.  If the path of a flow changes while
 * its postcards are gathered, or between two incomplete reports, hops of both paths that do not
 * contradict each other are in one answer.  A store with epochs bounds the time between them.
 *
 * An example: the third of five switches tells 7 for the key of the example in <dart/store.h>;
 * then the value of the flow if the first and the last postcard of 5, 6, 7, 8, 9 got lost, in a
 * store with values of 24 bytes:
 *
 *   010d0205000000070a0100020a030103c00001bb06
 *   00000000000000060000000700000008
 *   00000000ffffffff
 */
#ifndef _UAPI_DART_POSTCARD_H
#define _UAPI_DART_POSTCARD_H

#define DART_POSTCARD_VERSION	1
#define DART_POSTCARD_HOPS_MAX	16
#define DART_POSTCARD_HEADER	8	/* bytes before the key */
#define DART_POSTCARD_UNKNOWN	0
#define DART_POSTCARD_NO_HOP	0xffffffff

#endif /* _UAPI_DART_POSTCARD_H */
