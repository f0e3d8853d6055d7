/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Lookup tables in the memory of servers.  A switch that does not hold the entry for
 * a packet WRITEs the packet beside the row where the entry must be, READs both back
 * in one READ, and continues with them; the server's CPU does nothing (TEA, SIGCOMM
 * 2020, sections 3 to 5).
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * Integers are in network byte order.  Keys and values are strings of bytes, whose
 * meaning a schema defines: K bytes, 1 to DART_TEA_KEY_MAX, and V bytes, 1 to
 * DART_TEA_VALUE_MAX, the same for all entries of a table.
 *
 * Cells.  An entry takes a cell of S bytes, S = 4 + K + V rounded up to a multiple
 * of 4:
 *
 *   check (4 B) | key (K B) | value (V B) | 0 to 3 bytes of 0
 *
 * The check is a CRC of key and value, 1 if that is 0.  A cell that only has bytes of 0
 * is free.  A cell with another check than its key and value have is not an
 * entry: it was read while it changed, or is damaged.
 *
 * Buckets and rows.  A table is 2^k rows, 0 <= k <= DART_TEA_ROWS_LOG2_MAX, each with
 * its bucket of C cells, 1 to DART_TEA_CELLS_MAX, and a copy of the next row's bucket,
 * the shadow bucket.  After the last row comes row 0.
 *
 *   offset
 *   0            sequence (4 B)
 *   4            stashed (1 B): entries of this row in the stash, 255: or more
 *   5            epoch (3 B) of the table
 *   8            bucket: C cells
 *   8 + CS       shadow bucket: C cells
 *   8 + 2CS      sequence again (4 B)
 *
 * These are the R = 12 + 2CS bytes of a row.  An entry is in a cell of row r, where r is
 * the home of its key, or in a cell of row r + 1.  So the row r, bucket and shadow
 * bucket, has it (bounded linear probing over two buckets: section 4.1).  An
 * entry that finds no place there is in the stash.
 *
 * Hashing.  The home of a key is
 *
 *   (CRC with DART_TEA_ROW_0 + CRC with DART_TEA_ROW_1) modulo 2^k
 *
 * the check has DART_TEA_CHECK, and the share of a key is the CRC with DART_TEA_SHARE, its
 * lowest DART_TEA_SHARE_BITS bits.  The CRCs are those of <dart/store.h>, with other
 * polynomials; these are made in the same way, from "DART TEA row 0", "DART TEA row 1",
 * "DART TEA check" and "DART TEA share".  The home is a sum of two since a CRC is
 * linear: keys that count up, as addresses and ports of a range do, would leave rows
 * unused, half of them or more; the carries of a sum are not linear.
 *
 * Servers.  Each server of a table has the entries whose shares are in one range; two
 * servers with the same range are replicas of each other.
 *
 * Changes.  A server changes rows while they are read.  It adds 1 to both sequences of a
 * row, first the one in front, changes the row, and adds 1 to both again, first the one
 * behind.  Lookup in a copy of a row:
 *
 *   found     a cell that has the key, with the right check
 *   changing  otherwise, if the sequences differ or are odd: READ again
 *   stashed   otherwise, if stashed is not 0: the key may be in the stash
 *   absent    otherwise
 *
 * So a lookup during a change finds the old value or the new one.  An entry that the
 * server moves to another cell is in both for a moment.
 *
 * Rows for switches.  Each switch has a copy of all rows of its own, which only it and
 * the server write.  Row r begins at base + r * 2^L.  Behind the R bytes of the
 * row it has the scratchpad, to which the switch WRITEs a tag of 12 bytes and
 * the packet, from its Ethernet header to the end without FCS:
 *
 *   R            PSN of this WRITE (4 B, the first is 0)
 *   R + 4        length of the packet (2 B)
 *   R + 6        times that the packet was sent before (4 bits), port of arrival (12 bits)
 *   R + 8        check (4 B)
 *   R + 12       packet
 *
 * The check of the tag is the CRC with DART_TEA_CHECK of the 8 bytes before it, the 3
 * bytes of the epoch and the packet's key.  2^L is the smallest power of two from
 * DART_TEA_ROW_LOG2_MIN to DART_TEA_ROW_LOG2_MAX with room for the longest packet of the
 * table; a table for which there is none cannot be made, so that the response to each READ
 * is one packet at a path MTU of 4096.  The READ is of R + 12 + length bytes.
 *
 * The entry of a switch for a server is {MAC and IP of the server, QPN, rkey, base, k, L, first
 * PSN, epoch}: dart_tables(5).  The epoch, 1 to 2^24 - 1, is a new one whenever a table is
 * created, or taken over after a restart of its agent.
 *
 * Requests of a switch are RoCEv2 frames to UDP port DART_TEA_UDP_PORT, as the reports of
 * <dart/store.h>, but to a reliable connected queue pair: RDMA WRITE Only, RDMA READ
 * Request, FetchAdd and CmpSwap (IBTA volume 1, table 38), with PSNs that
 * count up, one for each request.  The server sends responses to the queue pair
 * DART_TEA_SWITCH_QPN at the address of the switch.  At most
 * DART_TEA_OUTSTANDING_MAX READs and atomics wait for their responses.  Requests carry the
 * UDP source port DART_TEA_UDP_SOURCE.
 *
 * Responses.  A switch takes a READ response for one of its own if all of this holds;
 * otherwise it ignores and counts it:
 *
 *   - opcode READ RESPONSE ONLY (0x10), with an ACK in the AETH, from the server's address
 *     to DART_TEA_SWITCH_QPN; the ICRC is right, where the switch can compute it
 *   - its PSN is one of those outstanding
 *   - its length is R + 12 + the length in the tag, which is that of a packet of the table
 *   - the PSN in the tag is the response's PSN - 1: the WRITE that came before the READ has
 *     been carried out
 *   - the epoch of the row is that of the entry
 *   - the check of the tag is right for the key of the packet behind it
 *
 * The stash.  Switches keep the stash's entries in a table of their own.  Servers keep them
 * behind the rows of their own copy, see <dart/tea_access.h>.
 */
#ifndef _UAPI_DART_TEA_H
#define _UAPI_DART_TEA_H

#define DART_TEA_ROW_0			0xf4079a2b
#define DART_TEA_ROW_1			0x07cb49e9
#define DART_TEA_CHECK			0xa0ed785f
#define DART_TEA_SHARE			0xb1eac631

#define DART_TEA_SHARE_BITS		10
#define DART_TEA_SHARES			1024	/* 2^DART_TEA_SHARE_BITS */

#define DART_TEA_ROWS_LOG2_MAX		28
#define DART_TEA_CELLS_MAX		8	/* of a bucket */
#define DART_TEA_CELLS			8	/* by default */
#define DART_TEA_KEY_MAX		64	/* bytes */
#define DART_TEA_VALUE_MAX		64

#define DART_TEA_TAG_LENGTH		12
#define DART_TEA_PACKET_MIN		64	/* bytes of the longest packet */
#define DART_TEA_PACKET			1514	/* by default */
#define DART_TEA_ROW_LOG2_MIN		9
#define DART_TEA_ROW_LOG2_MAX		12	/* the path MTU is 4096 */

#define DART_TEA_EPOCH_MAX		0xffffff

#define DART_TEA_UDP_PORT		4791
#define DART_TEA_UDP_SOURCE		0xc7ea
#define DART_TEA_SWITCH_QPN		0x746561
#define DART_TEA_OUTSTANDING_MAX	16

#endif /* _UAPI_DART_TEA_H */
