/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/dart_zero: kernel memory side by side in one read-only mapping.
 *
 * An open file of the device is a *region*: a contiguous range of pages with
 * a fixed virtual capacity, empty at first.  ioctls put *extents* into it:
 *
 *   window   the pages that hold a per-CPU variable of the kernel (a
 *            *source*), one run of pages per possible CPU
 *   map      the pages that hold the values of an eBPF array map
 *
 * mmap() of the file shows all extents, those added before the mmap() and
 * those added after it, at the offsets that the ioctls return:
 *
 *   0                                                          capacity
 *   +--------+--------+--------+--------+-----------------+- - - - - -+
 *   | window: cpustat | window: softnet |  map: id 42     |   holes   |
 *   | cpu 0  | cpu 1  | cpu 0  | cpu 1  |                 |           |
 *   +--------+--------+--------+--------+-----------------+- - - - - -+
 *      ^data
 *      <------>stride
 *
 * The pages are those that the kernel itself updates: nothing is copied and
 * nothing runs to keep them fresh.  Bytes that belong to no extent (holes, and
 * the copies of CPUs that are not possible) read as zero.
 *
 * The mapping must be MAP_SHARED (EINVAL) and PROT_READ alone (EPERM), and lie
 * within the capacity (EINVAL).  It can never be made writable or executable,
 * and fork() does not pass it on (unless madvise() says so).  A memory
 * registration (ibv_reg_mr() without any write access, which needs Linux 6.2)
 * may pin its pages: a page is given back when the last mapping and the last pin
 * are gone, the map that an extent refers to is held until the extent is removed
 * or the region is closed.
 *
 * A window shows whole pages, and so also what the kernel keeps beside the
 * variable.  Adding one therefore takes CAP_SYS_ADMIN in the initial user
 * namespace and a kernel that is not locked down.  The file descriptor is the
 * right to read what is in the region: pass it on with care.
 *
 * All numbers are in the byte order of the machine.  Every argument starts
 * with its own size, so that a later ABI can extend it; a size that this
 * kernel does not know, and reserved or output members that are not zero, are
 * refused with EINVAL before anything else happens.  A refused call changes
 * nothing.  All calls may be made from any thread that has the descriptor.
 */
#ifndef _UAPI_LINUX_DART_ZERO_H
#define _UAPI_LINUX_DART_ZERO_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DART_ZERO_DEVICE	"/dev/dart_zero"
#define DART_ZERO_ABI_VERSION	1
#define DART_ZERO_NAME_LENGTH	64

/* The per-CPU variables that a window can be opened on. */
enum dart_zero_source {
	DART_ZERO_SOURCE_NONE = 0,
	/* kernel_cpustat: struct kernel_cpustat, CPU time in ns, /proc/stat */
	DART_ZERO_SOURCE_CPUSTAT = 1,
	/* vm_event_states: struct vm_event_state, the events of /proc/vmstat */
	DART_ZERO_SOURCE_VMSTAT = 2,
	/* softnet_data: struct softnet_data, /proc/net/softnet_stat */
	DART_ZERO_SOURCE_SOFTNET = 3,
};

enum dart_zero_extent_kind {
	DART_ZERO_EXTENT_WINDOW = 1,
	DART_ZERO_EXTENT_MAP = 2,
};

/*
 * DART_ZERO_IOC_INFO: the ABI, the limits and the fill of a region.
 *
 * Anyone with the descriptor.  Errors: EINVAL, EFAULT.
 */
struct dart_zero_info {
	__u32 size;		/* in: sizeof(struct dart_zero_info) */
	__u32 abi_version;	/* DART_ZERO_ABI_VERSION */
	__u32 page_size;	/* bytes */
	__u32 cpus;		/* copies of a window: highest possible CPU + 1 */
	__u32 extents;		/* in the region now */
	__u32 extents_max;
	__u64 capacity;		/* bytes that can be mapped */
	__u64 used;		/* bytes from 0 to the end of the last extent */
};

/*
 * An extent as the kernel describes it.  Copy c of the variable (of CPU c for
 * a window, element c of a map) is the @length bytes of the mapping from
 * @data + c * @stride.
 */
struct dart_zero_extent {
	__u32 id;		/* never 0, never used twice by a region */
	__u32 kind;		/* enum dart_zero_extent_kind */
	__u32 source;		/* enum dart_zero_source, 0 for a map */
	__u32 map_id;		/* id of the eBPF map, 0 for a window */
	__u64 offset;		/* bytes, page-aligned: first page in the region */
	__u64 pages;		/* pages that the extent takes */
	__u64 data;		/* bytes: where copy 0 begins */
	__u64 length;		/* bytes of a copy */
	__u64 stride;		/* bytes from a copy to the next */
	__u32 copies;
	__u32 reserved;		/* 0 */
	/*
	 * Window: the symbol, under which BTF has the variable and its type.
	 * Map: the name it was created with, perhaps empty.  Ends with NUL.
	 */
	char name[DART_ZERO_NAME_LENGTH];
};

/*
 * DART_ZERO_IOC_ADD_WINDOW: open a window on a source.
 *
 * CAP_SYS_ADMIN.  Errors: EINVAL (size, flags, reserved members, unknown
 * source), EPERM (no CAP_SYS_ADMIN, or the kernel is locked down), EEXIST (the
 * region has this window already), ENOSPC (no room in the capacity, or
 * extents_max is reached), EFAULT, ENOMEM.
 */
struct dart_zero_window {
	__u32 size;		/* in: sizeof(struct dart_zero_window) */
	__u32 flags;		/* in: 0 */
	__u32 source;		/* in: enum dart_zero_source */
	__u32 reserved;		/* in: 0 */
	struct dart_zero_extent extent; /* out */
};

/*
 * DART_ZERO_IOC_ADD_MAP: add the values of an eBPF map.
 *
 * @fd refers to a BPF_MAP_TYPE_ARRAY that was created with BPF_F_MMAPABLE and
 * is open for reading; whoever holds it could mmap() the same pages.  Errors:
 * EINVAL (size, flags, reserved members, another type of map, no
 * BPF_F_MMAPABLE, values that hold locks, timers or pointers of the kernel and
 * so cannot be mapped either), EBADF (not an open file), EPERM (no CAP_SYS_ADMIN, or the
 * descriptor is not open for reading), EEXIST (the region has this map
 * already), ENOSPC, EFAULT, ENOMEM.
 */
struct dart_zero_map {
	__u32 size;		/* in: sizeof(struct dart_zero_map) */
	__u32 flags;		/* in: 0 */
	__s32 fd;		/* in */
	__u32 reserved;		/* in: 0 */
	struct dart_zero_extent extent; /* out */
};

/*
 * DART_ZERO_IOC_REMOVE: take an extent out of the region.
 *
 * Its pages disappear from all mappings of the region at once (they read as
 * zero); pins keep them until they are released.  Errors: EINVAL, ENOENT (no
 * such extent), EFAULT.
 */
struct dart_zero_remove {
	__u32 size;		/* in: sizeof(struct dart_zero_remove) */
	__u32 flags;		/* in: 0 */
	__u32 id;		/* in: of the extent */
	__u32 reserved;		/* in: 0 */
};

/*
 * DART_ZERO_IOC_LIST: the extents of the region in the order of their offset.
 *
 * @count is the room at @extents on the way in and the number of extents in
 * the region on the way out.  Errors: EINVAL, ENOSPC (there are more than fit;
 * @count says how many, nothing was written at @extents), EFAULT, ENOMEM.
 */
struct dart_zero_list {
	__u32 size;		/* in: sizeof(struct dart_zero_list) */
	__u32 count;		/* in, out */
	__aligned_u64 extents;	/* in: address of struct dart_zero_extent[] */
};

#define DART_ZERO_IOC_MAGIC	0xda
#define DART_ZERO_IOC_INFO \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x10, struct dart_zero_info)
#define DART_ZERO_IOC_ADD_WINDOW \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x11, struct dart_zero_window)
#define DART_ZERO_IOC_ADD_MAP \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x12, struct dart_zero_map)
#define DART_ZERO_IOC_REMOVE \
	_IOW(DART_ZERO_IOC_MAGIC, 0x13, struct dart_zero_remove)
#define DART_ZERO_IOC_LIST \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x14, struct dart_zero_list)

#endif /* _UAPI_LINUX_DART_ZERO_H */
