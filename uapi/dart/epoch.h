/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Epochs of a store: the time is cut into epochs, and each has slots of its own, laid out as
 * <dart/store.h> describes.  The memory of such a store has two banks; a rotation
 * gives reporters the bank that is empty, and the agent writes the other one to a file.
 *
 * Memory.  Two banks of DART_EPOCH_STRIDE() bytes each begin with the slots of an epoch; struct
 * dart_epoch_memory follows them.  Reporters and remote readers reach the slots of one bank only;
 * readers of this host can map all of it.  Bank @current belongs to the epoch that reports go to
 * now, so its until_ns is 0.  The other bank is empty, if its since_ns is 0, or full.  The agent
 * sets since_ns to 0 before it clears a bank: a reader that finds the same since_ns before and
 * after it looked at slots has seen slots of this epoch.  All integers are in host byte order.
 *
 * File.  Its name in the agent's state directory is
 *
 *   epochs/STORE/SINCE-UNTIL.dart
 *
 * with SINCE and UNTIL as decimal numbers: ns of CLOCK_REALTIME, where the epoch that follows
 * begins at UNTIL.  If the clock was set back to before SINCE, the epoch that follows begins at
 * the new time instead, and UNTIL is SINCE + 1; so times of epochs may overlap.  In STORE, each
 * '/', '%' and leading '.' of the name of the store is '%' and two hexadecimal digits, "%2F".  A
 * file under such a name is complete; the agent writes it under another name first, which begins
 * with DART_EPOCH_UNFINISHED.
 *
 * A file is a zstd stream (RFC 8878), which decompresses to the slots:
 *
 *   struct dart_epoch_header        in a skippable frame
 *   reporters * __be32              their IPv4 addresses, still in the skippable frame
 *   frames * struct dart_epoch_frame	likewise
 *   frames                          each 2^frame_slots_log2 slots, the last one the rest
 *
 * so that a reader decompresses only the frames of the slots that it looks at.  All integers of a
 * file are little-endian, except for addresses.  Whoever reads one checks everything: the header
 * by its checksum and by the bounds below, a frame by its offset, its length and its checksum.
 */
#ifndef _UAPI_DART_EPOCH_H
#define _UAPI_DART_EPOCH_H

#include <linux/types.h>

/* ---- memory */

#define DART_EPOCH_MEMORY_MAGIC	0x4d4f504554524144ULL	/* "DARTEPOM" */
#define DART_EPOCH_BANKS	2
#define DART_EPOCH_BANK_ALIGNMENT	(2ULL << 20)
/* Reporters of an epoch that are listed; others are only counted. */
#define DART_EPOCH_REPORTERS_MAX	1000

/* Bytes from the first bank to the second, for slots of @length bytes together. */
#define DART_EPOCH_STRIDE(length)                           \
	(((length) + DART_EPOCH_BANK_ALIGNMENT - 1) /       \
	 DART_EPOCH_BANK_ALIGNMENT * DART_EPOCH_BANK_ALIGNMENT)

struct dart_epoch_bank {
	__u64 since_ns;		/* CLOCK_REALTIME; 0: no epoch */
	__u64 until_ns;		/* 0: the epoch has not ended */
	__u32 is_clear;		/* 1: all slots are 0, and nobody may write them */
	__u32 reporters;	/* when the epoch ended */
	__be32 addresses[DART_EPOCH_REPORTERS_MAX];
};

struct dart_epoch_memory {
	__u64 magic;
	__u32 current;		/* index of a bank */
	__u32 reserved;		/* 0 */
	struct dart_epoch_bank banks[DART_EPOCH_BANKS];
};

/* Bytes of the memory of a store with epochs. */
#define DART_EPOCH_MEMORY_LENGTH(length) \
	(DART_EPOCH_BANKS * DART_EPOCH_STRIDE(length) + sizeof(struct dart_epoch_memory))

/* ---- files */

#define DART_EPOCH_FOLDER	"epochs"
#define DART_EPOCH_SUFFIX	".dart"
#define DART_EPOCH_UNFINISHED	".new-"

#define DART_EPOCH_SKIPPABLE	0x184d2a5e	/* of a skippable frame of zstd */
#define DART_EPOCH_FILE_MAGIC	0x4f50455452414445ULL	/* "EDARTEPO" */
#define DART_EPOCH_FILE_VERSION	1
#define DART_EPOCH_STORE_MAX	40	/* with the NUL */
#define DART_EPOCH_SCHEMA_MAX	64	/* likewise */
#define DART_EPOCH_FRAME_MAX	(1 << 17)	/* bytes of a frame, not compressed */
#define DART_EPOCH_POLYNOMIALS	11

struct dart_epoch_header {
	__le32 skippable;	/* DART_EPOCH_SKIPPABLE */
	__le32 skipped;		/* bytes that follow, before the first frame of slots */
	__le64 magic;
	__le32 version;
	__le32 slots_log2;	/* at most DART_STORE_SLOTS_LOG2_MAX */
	__le32 value_length;	/* bytes */
	__le32 checksum_bits;
	__le32 redundancy;	/* slots of a key that readers look at */
	__le32 reporters;	/* listed ones, at most DART_EPOCH_REPORTERS_MAX */
	__le32 frame_slots_log2;	/* at most slots_log2 */
	__le32 frames;		/* 2^(slots_log2 - frame_slots_log2) */
	__le64 since_ns;	/* CLOCK_REALTIME */
	__le64 until_ns;	/* above since_ns */
	/* Of slots 0 to 7, of checksums 0 and 1, and of shares: see <dart/store.h>. */
	__le32 polynomials[DART_EPOCH_POLYNOMIALS];
	__le32 reserved;	/* 0 */
	char store[DART_EPOCH_STORE_MAX];	/* NULs to the end */
	char schema[DART_EPOCH_SCHEMA_MAX];	/* likewise; empty: not known */
	/* XXH3_64bits of this structure, where this member is 0, and of what follows it up to the
	 * first frame of slots.
	 */
	__le64 checksum;
};

struct dart_epoch_frame {
	__le64 offset;		/* in the file */
	__le32 length;		/* bytes, compressed */
	__le32 reserved;	/* 0 */
	__le64 checksum;	/* XXH3_64bits of the slots of the frame */
};

#endif /* _UAPI_DART_EPOCH_H */
