/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Remote access to a ledger: RDMA READ of words, see <dart/ledger.h>; the collector's CPU does
 * nothing.
 *
 * A reader connects to the agent as a reader of a store does, see <dart/store_access.h>, with the
 * magic number of this header in the request, and with these numbers in the acceptance.  The queue
 * pair may READ the ledger and nothing else.  When the ledger is deleted, the agent disconnects.
 *
 * All integers are little-endian.
 */
#ifndef _UAPI_DART_LEDGER_ACCESS_H
#define _UAPI_DART_LEDGER_ACCESS_H

#include <linux/types.h>

#define DART_LEDGER_ACCESS_MAGIC	0x4744454c54524144ULL	/* "DARTLEDG" */
#define DART_LEDGER_ACCESS_ABI_VERSION	1

/* With the NUL; characters as for entries, see <dart/registration.h>. */
#define DART_LEDGER_NAME_MAX		40

struct dart_ledger_request {
	__le64 magic;
	__le32 abi_version;
	__le32 reserved;	/* 0 */
	char name[DART_LEDGER_NAME_MAX];	/* of the ledger; NULs to the end */
};

struct dart_ledger_accept {
	__le64 magic;
	__le32 abi_version;
	__le32 rkey;
	__le64 base;		/* address of the first word of row 0 */
	__le32 rows;
	__le32 words_log2;	/* of a row */
};

#endif /* _UAPI_DART_LEDGER_ACCESS_H */
