/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The ledger: sums of keys in the memory of a collector, to which switches and hosts add without
 * the collector's CPU (the primitive Key-Increment of "Direct Telemetry Access", SIGCOMM 2023,
 * section 4.2), as a count-min sketch (Cormode and Muthukrishnan, Journal of Algorithms 55, 2005).
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * Memory.  N rows, 1 <= N <= DART_LEDGER_ROWS_MAX, of 2^w words, 4 <= w <= 28, without gaps, then
 * one word more, the total.  All adders and readers of a ledger agree on N and w.
 *
 *   +------------------+------------------+-----+-------+
 *   | row 0: 2^w words | row 1: 2^w words | ... | total |
 *   +------------------+------------------+-----+-------+
 *
 *   word of a key in row n:  base + 8 (n 2^w + c), c: the lowest w bits of the key's CRC with
 *                            DART_STORE_SLOT_<n> of <dart/store.h>
 *   total:                   base + 8 N 2^w
 *
 * A word has 64 bits, little-endian: the collector's adapter adds in the byte order of its host,
 * and agents create ledgers on little-endian hosts only.  Nothing but atomic operations of that
 * adapter changes a word.  Words wrap at 2^64.
 *
 * Adding.  A key is a string of 1 to DART_STORE_KEY_MAX bytes.  To add an amount of at least 1 to
 * it takes N requests, one for each row, in any order.  An adder also adds the amounts to the
 * total, any number of them by one request, at most DART_LEDGER_FLUSH_MS later.
 *
 * Asking.  The sum of a key is the minimum of its N words.  It is never below the true sum of what
 * was added, and with a probability of 1 - 2^-N at most epsilon = 2 total / 2^w above it, rounded
 * down: by Markov's inequality, because the other keys put total / 2^w into a word on average.
 * Readers tell both numbers.  While requests are on their way, the sum may lack their amounts.
 *
 * Requests.  RoCEv2 frames as the reports of <dart/store.h>, with these differences:
 *
 *   UDP         from port DART_STORE_UDP_SOURCE_BASE + (number of the queue pair) mod 1024, so that
 *               the network keeps the order of requests
 *   BTH         opcode DART_LEDGER_BTH_OPCODE, AckReq 1, pad count 0
 *   AtomicETH   instead of the RETH: address of the word, rkey, the amount, 8 bytes of 0
 *   payload     none
 *
 * An example: a request that adds 5 in row 0, for the key of the example in
 * <dart/store.h>, between the same hosts, with the same numbers and w = 16:
 *
 *   5254000000015254000000020800
 *   4500004800004000401126a30a0000020a000001
 *   c01112b700340000
 *   1440ffff0000001180000000
 *   00003a5f00060678000012340000000000000005
 *   0000000000000000
 *   e8cbda93
 *
 * The transport is reliable connected.  The queue pair of the adder has the same number as that of
 * the collector.  The collector answers a request with a frame from its address and the port that
 * it chooses to UDP port DART_STORE_UDP_PORT of the adder:
 *
 *   BTH         opcode DART_LEDGER_BTH_ANSWER or DART_LEDGER_BTH_ACKNOWLEDGE, queue pair, PSN
 *   AETH        syndrome (8 bits), number of messages (24 bits)
 *   AtomicAckETH   the word before, 8 bytes, after DART_LEDGER_BTH_ANSWER only
 *
 * The first three bits of the syndrome are 0 (an acknowledgement), 1 (not ready), or 3 (a NAK, and
 * its code is the other five bits).  Nobody needs the word before.
 *
 * Exactly once.  At most DART_LEDGER_OUTSTANDING requests are without an answer: so many the
 * collector can answer again.  The adder keeps their addresses and amounts, and
 *
 *   an acknowledgement of PSN p    all requests up to p were executed, once
 *   NAK 0 (sequence) of PSN p      all requests before p were executed: it sends p and all later
 *                                  ones again, each with the same PSN, address and amount
 *   no progress for DART_LEDGER_RETRY_MS   it sends all requests without an answer again, and then
 *                                  after twice the time, up to DART_LEDGER_RETRY_MAX_MS
 *   another NAK of PSN p           all requests before p were executed, no other one will be, and
 *                                  the queue pair is in the error state, as after an invalid
 *                                  address or rkey: it sends the others to the next queue pair
 *
 * A request that was executed and comes again is answered from the collector's notes of the last
 * DART_LEDGER_OUTSTANDING requests and not executed again; if it is older, it is ignored (IBTA
 * volume 1, section 9.4.5).  So each amount is in its word exactly once, whatever the network
 * loses, repeats or delays.
 *
 * A queue pair serves one run of an adder, which begins with the first PSN: a PSN of an earlier run
 * would be answered, but not executed.  So the agent makes another queue pair before each run.  If
 * it did not, no amount is lost: an adder first sends DART_LEDGER_PRECEDING requests with the
 * amount 0.  Either these alone are answered from the collector's notes, or none of them is
 * answered at all.
 *
 * An agent makes another queue pair for an adder when it starts again, or is asked to.  Unless the
 * former one ended with such a NAK, the adder cannot know which of the requests without an answer
 * were executed.  It never sends these again, and adds their amounts to a counter for each row,
 * *lost*: a word lacks at most this much.  It goes on with the requests that it never sent.
 *
 * The cache.  DART_LEDGER_OUTSTANDING requests for each round trip bound the rate, so an adder adds
 * up amounts in rows {key, sum} of its own first: an amount for another key than the row's sends
 * the row's sum, and the row gets the other key.  A row that has an amount for DART_LEDGER_FLUSH_MS
 * is sent.  The key's CRC with DART_STORE_CHECKSUM_0 chooses the row: keys that share it share
 * words no more often than others.  For a switch time passes with its packets: while none comes,
 * amounts wait.  It cannot let a packet wait, so it does not count one for which there is no room,
 * neither in a row nor in the total, and tells how many there were; or it adds the amounts of
 * requests for which there is no room to *lost*.
 */
#ifndef _UAPI_DART_LEDGER_H
#define _UAPI_DART_LEDGER_H

#define DART_LEDGER_ROWS_MAX		8
#define DART_LEDGER_WORDS_LOG2_MIN	4
#define DART_LEDGER_WORDS_LOG2_MAX	28
#define DART_LEDGER_ROWS		2	/* by default */

#define DART_LEDGER_BTH_OPCODE		0x14	/* RC Fetch&Add */
#define DART_LEDGER_BTH_ACKNOWLEDGE	0x11
#define DART_LEDGER_BTH_ANSWER		0x12	/* ATOMIC ACKNOWLEDGE */

#define DART_LEDGER_OUTSTANDING		16
#define DART_LEDGER_PRECEDING		(2 * DART_LEDGER_OUTSTANDING)
#define DART_LEDGER_RETRY_MS		100
#define DART_LEDGER_RETRY_MAX_MS	1000
#define DART_LEDGER_FLUSH_MS		1000

#endif /* _UAPI_DART_LEDGER_H */
