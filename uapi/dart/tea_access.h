/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Access to a server's own copy of a lookup table, see <dart/tea.h>: by RDMA READ, or
 * on the server's host through the descriptor that the request table-open of
 * <dart/registration.h> returns.
 *
 * The copy: 2^k rows without scratchpads, R bytes each, rounded up to a multiple of 8; then
 * the stash, 2^s + DART_TEA_STASH_WINDOW - 1 cells, where s is k + 3 - DART_TEA_STASH_LOG2,
 * but at least DART_TEA_STASH_LOG2_MIN.  A stashed entry is in one of the
 * DART_TEA_STASH_WINDOW cells from place p on, where p is the CRC of its key with
 * DART_TEA_SHARE, shifted right by DART_TEA_SHARE_BITS, modulo 2^s.
 *
 * Cells of the stash have no sequences.  The server changes them as parts of the row that is
 * the home of their entry: that row's sequences are odd meanwhile.  So a key that is neither
 * in its row nor in its window is absent only if the row has the same sequence afterwards;
 * otherwise READ both again.  While the server changes the value of an entry, the entry can
 * be in two cells of the stash, one of which may be outside its window.
 *
 * A remote reader connects to the agent as a controller does (TCP port space of the RDMA
 * CM, port DART_CONTROL_PORT of <dart/control.h>), on a reliable connected queue pair.
 * The private data of its request is struct dart_tea_request; the private data of the
 * acceptance is struct dart_tea_accept, which tells everything that a READ needs.  The
 * agent rejects a request that does not name a lookup table, or is not of this form,
 * with struct dart_control_reject of <dart/control.h>.  The queue pair may READ the copy
 * and nothing else.  When the table is deleted, the agent disconnects.
 *
 * The integers of these two structures are little-endian; the integers in the lookup
 * table are in network byte order.
 */
#ifndef _UAPI_DART_TEA_ACCESS_H
#define _UAPI_DART_TEA_ACCESS_H

#include <linux/types.h>

#define DART_TEA_ACCESS_MAGIC	0x4541455454524144ULL	/* "DARTTEAE" */
#define DART_TEA_ACCESS_ABI_VERSION 1

/* With the NUL; characters as for entries, see <dart/registration.h>. */
#define DART_TEA_NAME_MAX	40

#define DART_TEA_STASH_LOG2	6	/* a place for 64 cells of rows of 8 */
#define DART_TEA_STASH_LOG2_MIN	4
#define DART_TEA_STASH_WINDOW	8	/* cells */

/* 56 bytes, the most private data that fit into a request. */
struct dart_tea_request {
	__le64 magic;
	__le32 abi_version;
	__le32 reserved;	/* 0 */
	char name[DART_TEA_NAME_MAX];	/* of the table; NULs to the end */
};

struct dart_tea_accept {
	__le64 magic;
	__le32 abi_version;
	__le32 rkey;
	__le64 base;		/* address of row 0 */
	__le32 rows_log2;
	__le32 cells;		/* of a bucket */
	__le32 key_length;	/* bytes */
	__le32 value_length;	/* bytes */
	__le32 packet_length;	/* bytes of the longest packet */
	__le32 epoch;
};

#endif /* _UAPI_DART_TEA_ACCESS_H */
