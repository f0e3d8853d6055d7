/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Remote access to a store: RDMA READ of the slots that belong to a key, see
 * <dart/store.h>; the collector's CPU does nothing.
 *
 * A reader connects to the agent as a controller does (TCP port space of the RDMA CM,
 * port DART_CONTROL_PORT of <dart/control.h>), on a reliable connected queue pair.  The
 * private data of its request is struct dart_store_request; the private data of the
 * acceptance is struct dart_store_accept, which tells everything that a READ needs.
 * The agent rejects a request that does not name a store, or is not of this form, with
 * struct dart_control_reject of <dart/control.h>.  The queue pair may READ the store
 * and nothing else.  When the store is deleted, the agent disconnects.
 *
 * All integers are little-endian.
 */
#ifndef _UAPI_DART_STORE_ACCESS_H
#define _UAPI_DART_STORE_ACCESS_H

#include <linux/types.h>

#define DART_STORE_ACCESS_MAGIC	0x524f545354524144ULL	/* "DARTSTOR" */
#define DART_STORE_ACCESS_ABI_VERSION 1

/* With the NUL; characters as for entries, see <dart/registration.h>. */
#define DART_STORE_NAME_MAX	40

/* 56 bytes, the most private data that fit into a request. */
struct dart_store_request {
	__le64 magic;
	__le32 abi_version;
	__le32 reserved;	/* 0 */
	char name[DART_STORE_NAME_MAX];	/* of the store; NULs to the end */
};

struct dart_store_accept {
	__le64 magic;
	__le32 abi_version;
	__le32 rkey;
	__le64 base;		/* address of slot 0 */
	__le32 slots_log2;
	__le32 value_length;	/* bytes */
	__le32 checksum_bits;
	__le32 redundancy;
};

#endif /* _UAPI_DART_STORE_ACCESS_H */
