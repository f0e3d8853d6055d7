/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Remote access to a sketch: RDMA READ of strips, see <dart/sketch.h>; the collector's CPU does
 * nothing.
 *
 * A reader connects to the agent as a reader of a store does, see <dart/store_access.h>, with the
 * magic number of this header in the request, and with these numbers in the acceptance.  The queue
 * pair may READ the sketch and nothing else.  When the sketch is deleted, the agent disconnects.
 *
 * All integers are little-endian.
 */
#ifndef _UAPI_DART_SKETCH_ACCESS_H
#define _UAPI_DART_SKETCH_ACCESS_H

#include <linux/types.h>

#define DART_SKETCH_ACCESS_MAGIC	0x48434b5354524144ULL	/* "DARTSKCH" */
#define DART_SKETCH_ACCESS_ABI_VERSION	1

/* With the NUL; characters as for entries, see <dart/registration.h>. */
#define DART_SKETCH_NAME_MAX		40

struct dart_sketch_request {
	__le64 magic;
	__le32 abi_version;
	__le32 reserved;	/* 0 */
	char name[DART_SKETCH_NAME_MAX];	/* of the sketch; NULs to the end */
};

struct dart_sketch_accept {
	__le64 magic;
	__le32 abi_version;
	__le32 rkey;
	__le64 base;		/* address of the first strip of part 0 */
	__le32 parts;		/* of sketchers */
	__le32 kind;
	__le32 rows;
	__le32 columns_log2;
	__le32 period;		/* s */
	__le32 reserved;	/* 0 */
};

#endif /* _UAPI_DART_SKETCH_ACCESS_H */
