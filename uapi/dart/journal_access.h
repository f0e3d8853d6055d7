/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Remote access to a journal: RDMA READ of batches, see <dart/journal.h>; the collector's CPU does
 * nothing.
 *
 * A reader connects to the agent as a reader of a store does, see <dart/store_access.h>, with the
 * magic number of this header in the request, and with these numbers in the acceptance.  The queue
 * pair may READ the journal and nothing else.  When the journal is deleted, the agent disconnects.
 *
 * All integers are little-endian.
 */
#ifndef _UAPI_DART_JOURNAL_ACCESS_H
#define _UAPI_DART_JOURNAL_ACCESS_H

#include <linux/types.h>

#define DART_JOURNAL_ACCESS_MAGIC	0x4c4e524a54524144ULL	/* "DARTJRNL" */
#define DART_JOURNAL_ACCESS_ABI_VERSION	1

/* With the NUL; characters as for entries, see <dart/registration.h>. */
#define DART_JOURNAL_NAME_MAX		40

struct dart_journal_request {
	__le64 magic;
	__le32 abi_version;
	__le32 reserved;	/* 0 */
	char name[DART_JOURNAL_NAME_MAX];	/* of the journal; NULs to the end */
};

struct dart_journal_accept {
	__le64 magic;
	__le32 abi_version;
	__le32 rkey;
	__le64 base;		/* address of the first batch of part 0 */
	__le32 parts;		/* of appenders */
	__le32 lists_log2;
	__le32 batches_log2;
	__le32 batch_log2;
	__le32 entry_length;	/* bytes */
	__le32 reserved;	/* 0 */
};

#endif /* _UAPI_DART_JOURNAL_ACCESS_H */
