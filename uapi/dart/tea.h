/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Lookup tables in the memory of servers.  A switch that does not hold the entry for a
 * packet WRITEs the packet next to the row where the entry must be, READs row and
 * packet back in one READ, and continues with them; the server's CPU does nothing (TEA,
 * SIGCOMM 2020, sections 3 to 5).
 *
 * P4 compilers read this header, too: it has only #defines.
 *
 * Integers are in network byte order.  Keys and values are strings of bytes, whose
 * meaning a schema defines: K bytes, 1 to DART_TEA_KEY_MAX, and V bytes, 1 to
 * DART_TEA_VALUE_MAX, the same for all entries of a lookup table.
 *
 * Cells.  An entry takes a cell of S bytes, S = 4 + K + V rounded up to a multiple
 * of 4:
 *
 *   check (4 B) | key (K B) | value (V B) | 0 to 3 bytes of 0
 *
 * The check is a CRC of key and value, 1 if that is 0.  A cell that consists of bytes
 * of 0 is free.  A cell whose check does not match its key and value is not an entry:
 * it was read while it changed, or is damaged.
 *
 * Buckets and rows.  A lookup table is 2^k rows, 0 <= k <= DART_TEA_ROWS_LOG2_MAX, each
 * with its bucket of C cells, 1 to DART_TEA_CELLS_MAX, and a copy of the next row's
 * bucket, the shadow bucket.  After the last row comes row 0.
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
 * the home of its key, or in a cell of row r + 1.  So the bucket or the shadow bucket of
 * row r contains it (bounded linear probing over two buckets: section 4.1).  An entry
 * for which both are full is in the stash.
 *
 * Hashing.  The home of a key is
 *
 *   (CRC with DART_TEA_ROW_0 + CRC with DART_TEA_ROW_1) modulo 2^k
 *
 * the check is the CRC with DART_TEA_CHECK, and the share of a key is the lowest
 * DART_TEA_SHARE_BITS bits of its CRC with DART_TEA_SHARE. <dart/store.h> defines the
 * CRCs; these polynomials are others, made in the same way, from "DART TEA row 0", "DART
 * TEA row 1", "DART TEA check" and "DART TEA share".  The home is a sum of two CRCs
 * because a CRC is linear: with a single CRC, keys that count up, as the addresses and
 * ports of a range do, would leave half of the rows or more unused; the carries of a sum
 * are not linear.
 *
 * Servers.  Each server of a lookup table holds the entries whose shares are in one
 * range; two servers with the same range are replicas of each other.
 *
 * Changes.  A server changes rows while they are read.  It adds 1 to both sequences of a
 * row, first to the leading one, changes the row, and adds 1 to both again, first to the
 * trailing one.  Lookup in a copy of a row:
 *
 *   found     a cell contains the key, with the right check
 *   changing  otherwise, if the sequences differ or are odd: READ again
 *   stashed   otherwise, if stashed is not 0: the key may be in the stash
 *   absent    otherwise
 *
 * So a lookup during a change finds the old value or the new one.  While the server
 * moves an entry to another cell, both cells contain it.
 *
 * Rows for switches.  For each switch the server keeps a separate copy of all rows,
 * which only this switch and the server write.  Row r begins at base + r * 2^L. The R
 * bytes of the row are followed by the scratchpad, to which the switch WRITEs a tag of
 * 12 bytes and the packet, from its Ethernet header to the end without FCS:
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
 * table.  A table that would need a larger one cannot be created, so that the response to
 * each READ is one packet at a path MTU of 4096.  The READ asks for R + 12 + length bytes.
 *
 * The entry of a switch for a server is {MAC and IP of the server, QPN, rkey, base, k, L, first
 * PSN, epoch}: dart_tables(5).  The agent chooses a new epoch, 1 to 2^24 - 1, whenever it
 * creates a table or takes it over after a restart.
 *
 * Requests of a switch are RoCEv2 frames to UDP port DART_TEA_UDP_PORT, like the reports
 * of <dart/store.h>, but to a reliable connected queue pair: RDMA WRITE Only, RDMA READ
 * Request, FetchAdd and CmpSwap (IBTA volume 1, table 38), with PSNs that count up, one
 * for each request.  The server sends responses to the queue pair DART_TEA_SWITCH_QPN at
 * the address of the switch.  At most DART_TEA_OUTSTANDING_MAX READs and atomics wait for
 * their responses.  Requests carry the UDP source port DART_TEA_UDP_SOURCE.
 *
 * Responses.  A switch accepts a READ response if all of these conditions hold;
 * otherwise it ignores and counts the response:
 *
 *   - opcode READ RESPONSE ONLY (0x10), with an ACK in the AETH, from the server's address
 *     to DART_TEA_SWITCH_QPN, through the switch's port towards the server; the ICRC is right,
 *     where the switch can compute it
 *   - its PSN belongs to an outstanding READ
 *   - its length is R + 12 + the length in the tag, which is the length of a packet of the table
 *   - the PSN in the tag is the response's PSN - 1: the WRITE that came before the READ has
 *     been carried out
 *   - the epoch of the row equals the epoch of the entry
 *   - the check of the tag is right for the key of the packet that follows it
 *
 * The stash.  Switches keep the entries of the stash in a match table.  Servers keep them
 * after the rows of their own copy, see <dart/tea_access.h>.
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
