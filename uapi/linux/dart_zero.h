/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/dart_zero: kernel memory side by side in one read-only mapping.
 *
 * An open file of the device is a *region*: a contiguous range of pages with
 * a fixed virtual capacity, empty at first.  ioctls put *extents* into it:
 *
 *   window    the pages that hold per-CPU counters of the kernel (a *source*),
 *             one run of pages per possible CPU
 *   map       the pages that hold the values of an eBPF array map
 *   counters  per-CPU counters that another module registered, or that
 *             eBPF programs add to
 *   slab      new pages, parts of which (*slices*) are lent to processes that
 *             write them
 *   records   new pages of *gathered records*: the kernel itself copies counters
 *             into them at an interval
 *
 * mmap() of the file shows all extents, whether added before the mmap() or after it, at
 * the offsets that the ioctls return:
 *
 *   0                                                          capacity
 *   +--------+--------+--------+--------+-----------------+- - - - - -+
 *   | window: cpustat | window: softnet |  map: id 42     |   holes   |
 *   | cpu 0  | cpu 1  | cpu 0  | cpu 1  |                 |           |
 *   +--------+--------+--------+--------+-----------------+- - - - - -+
 *      ^data
 *      <------>stride
 *
 * The kernel itself updates these pages: nothing is copied and nothing runs to
 * refresh them, except for gathered records.  Bytes that belong to no extent (holes,
 * and the copies of CPUs that are not possible) read as zero.
 *
 * The mapping must be MAP_SHARED (EINVAL) and PROT_READ alone (EPERM), and lie
 * within the capacity (EINVAL).  It can never be made writable or executable,
 * and fork() does not pass it on (unless madvise() asks for that, which newer
 * kernels refuse).  A memory registration (ibv_reg_mr() without any write
 * access, which needs Linux 6.2) may pin its pages: a page is released when the
 * last mapping and the last pin are gone.
 *
 * A network namespace, network device, module or process can end before the
 * extent that shows its memory.  The region then keeps the memory, with the
 * last values, and becomes readable: poll() returns EPOLLIN, and read() tells
 * which extents are *gone*, so that they can be withdrawn and removed at any
 * later time.  Cgroups and disks are held, too, but without an event: watch
 * their files with inotify(7).  Maps are held until the extent is removed or
 * the region is closed.
 *
 * Extents can be removed and regions closed, as the end of a process does, in any order
 * with memory registrations and other users of the pages (vmsplice(), MSG_ZEROCOPY):
 * the kernel does not reuse memory that these hold until they release it.
 *
 * A window shows whole pages, and so also the kernel data around the counters.  Adding
 * one therefore takes CAP_SYS_ADMIN in the initial user namespace and a kernel that is
 * not locked down for confidentiality (LOCKDOWN_KCORE).  Below, CAP_SYS_ADMIN means
 * that both the caller and the process that opened the device have it: passing a
 * descriptor on, in either direction, gives no process a right that it lacks.
 *
 * The file descriptor is the right to read the region: pass it on with care.  All
 * ioctls but INFO and LIST may change the region and take a descriptor that is open for
 * writing (EBADF).  OPEN_READER returns a descriptor that is not.
 *
 * All numbers are in the byte order of the machine.  Every argument starts with its
 * size in bytes, so that a later ABI can extend it; a size unknown to this kernel, and
 * reserved or output members that are not zero, are refused with EINVAL before anything
 * else happens.  A refused call changes nothing.  Any thread that has the descriptor
 * may make any call.
 */
#ifndef _UAPI_LINUX_DART_ZERO_H
#define _UAPI_LINUX_DART_ZERO_H

/* eBPF programs have these types from the kernel's BTF. */
#ifndef __VMLINUX_H__
#include <linux/ioctl.h>
#include <linux/types.h>
#endif

#define DART_ZERO_DEVICE	"/dev/dart_zero"
#define DART_ZERO_ABI_VERSION	9
#define DART_ZERO_NAME_LENGTH	64

/* The per-CPU counters that a window can be opened on, by selector. */
enum dart_zero_source {
	DART_ZERO_SOURCE_NONE = 0,

	/* No selector: there is only one. */
	DART_ZERO_SOURCE_CPUSTAT = 1,	/* kernel_cpustat, /proc/stat, ns */
	DART_ZERO_SOURCE_VMSTAT = 2,	/* vm_event_states, /proc/vmstat */
	DART_ZERO_SOURCE_SOFTNET = 3,	/* softnet_data, /proc/net/softnet_stat */
	DART_ZERO_SOURCE_KSTAT = 4,	/* kstat, /proc/softirqs */
	DART_ZERO_SOURCE_IRQ_STAT = 5,	/* irq_stat, end of /proc/interrupts */

	/* A network namespace: its /proc/net/{snmp,snmp6,netstat}. */
	DART_ZERO_SOURCE_IP = 16,	/* struct ipstats_mib */
	DART_ZERO_SOURCE_IP6 = 17,
	DART_ZERO_SOURCE_TCP = 18,	/* struct tcp_mib; both families */
	DART_ZERO_SOURCE_TCPEXT = 19,	/* struct linux_mib */
	DART_ZERO_SOURCE_UDP = 20,	/* struct udp_mib */
	DART_ZERO_SOURCE_UDP6 = 21,
	DART_ZERO_SOURCE_ICMP = 22,	/* struct icmp_mib */
	DART_ZERO_SOURCE_ICMP6 = 23,	/* struct icmpv6_mib */

	/* A network device in a network namespace: ip -s link */
	DART_ZERO_SOURCE_NETDEV = 32,	/* struct pcpu_{sw_net,l,d}stats */
	DART_ZERO_SOURCE_NETDEV_CORE = 33, /* struct net_device_core_stats */

	/* A block device: /proc/diskstats */
	DART_ZERO_SOURCE_DISK = 48,	/* struct disk_stats */

	/*
	 * A cgroup (v2), not the root: cpu.stat; its own tasks only, but in a record with one
	 * row also the tasks of the cgroups below it, which may have ended.
	 */
	DART_ZERO_SOURCE_CGROUP_CPU = 64, /* struct cgroup_base_stat */

	/* For records only, with one row. */
	DART_ZERO_SOURCE_GATHERING = 128, /* struct dart_zero_gathering */

	/* For records only, with one row: memory of a process, at locations. */
	DART_ZERO_SOURCE_PROCESS_MEMORY = 175,

	/* For records only: samples. */
	DART_ZERO_SOURCE_SAMPLED = 129,	/* the first of them */
#define DART_ZERO_SAMPLE(source, number, ...) source = number,
#include <linux/dart_zero_samples.def>
};

/* The module was loaded with windows=0: ADD_WINDOW and ADD_COUNTERS are refused. */
#define DART_ZERO_INFO_NO_WINDOWS	(1 << 0)

enum dart_zero_extent_kind {
	DART_ZERO_EXTENT_WINDOW = 1,
	DART_ZERO_EXTENT_MAP = 2,
	DART_ZERO_EXTENT_COUNTERS = 3,
	DART_ZERO_EXTENT_SLAB = 4,
	DART_ZERO_EXTENT_RECORDS = 5,
};

/*
 * DART_ZERO_IOC_INFO: the ABI, the limits and the use of a region.
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
	__u32 quarantined;	/* extents, as DART_ZERO_IOC_QUARANTINE counts */
	__u32 flags;		/* DART_ZERO_INFO_NO_WINDOWS */
};

/* The memory that an extent shows is gone: its values no longer change. */
#define DART_ZERO_EXTENT_GONE	(1 << 0)

/*
 * An extent as the kernel describes it.  Copy c (of CPU c for a window and for
 * counters, element c of a map, page c of a slab) is the @length bytes of the
 * mapping from @data + c * @stride.
 *
 * Windows on counters that lie side by side, such as the counters of cgroups, show the
 * same pages.  The region contains such pages once: these extents have the same
 * @offset, @pages and @stride, and differ in @data.  Other extents do not overlap.
 */
struct dart_zero_extent {
	__u32 id;		/* never 0, never used twice by a region */
	__u32 kind;		/* enum dart_zero_extent_kind */
	__u32 source;		/* enum dart_zero_source, or 0: no window */
	__u32 map_id;		/* id of the eBPF map, or 0: no map */
	__u32 counters_id;	/* for bpf_dart_counters_add(), or 0 */
	__u32 flags;		/* DART_ZERO_EXTENT_GONE */
	__u32 copies;
	__u32 reserved;		/* 0 */
	__u64 offset;		/* bytes, page-aligned: first page in the region */
	__u64 pages;		/* of the region, perhaps shared */
	__u64 data;		/* bytes: where copy 0 begins */
	__u64 length;		/* bytes of a copy */
	__u64 stride;		/* bytes from a copy to the next */
	/*
	 * Window: the variable, otherwise the type, in BTF.  Counters: their
	 * type in the BTF of @module, "" if they are plain __u64.  Map: the
	 * name it was created with, possibly "".  Slab: "".
	 */
	char name[DART_ZERO_NAME_LENGTH];
	char module[DART_ZERO_NAME_LENGTH]; /* of counters; or "" */
};

/*
 * DART_ZERO_IOC_ADD_WINDOW: open a window on a source.
 *
 * @fd is a descriptor of the selector of the source: a network namespace
 * (/proc/PID/ns/net), the directory of a cgroup or a block device, which may be opened
 * with O_PATH. The caller may name a network namespace by its inode number instead
 * (@netns, @fd -1).  Unused selectors are -1 (@fd) or 0 (the others).
 *
 * CAP_SYS_ADMIN.  Errors: EINVAL (size, flags, reserved members, unknown source, selectors that
 * do not fit the source, another type of @fd, the root cgroup), EBADF (not an open file), ENOENT
 * (no such network namespace), ENODEV (no such network or block device), EOPNOTSUPP (this kernel
 * lacks these counters, or the counters of this device are of no known type), EPERM (no
 * CAP_SYS_ADMIN, or the kernel is locked down for confidentiality), EACCES (the module was
 * loaded with windows=0), EEXIST (the region already shows these counters), EDQUOT (one user
 * would take more than an eighth of the capacity or of extents_max), ENOSPC (no room in the
 * capacity, or extents_max is reached), EFAULT, ENOMEM.
 *
 * The quota is for network namespaces, and devices in them, of other user namespaces
 * than the initial one, which users create at will.  It adds up everything that one
 * user owns or, where root created the outermost user namespace, everything in that
 * namespace.  Pages that several windows share count once for each user with such a
 * window.
 */
struct dart_zero_window {
	__u32 size;		/* in: sizeof(struct dart_zero_window) */
	__u32 flags;		/* in: 0 */
	__u32 source;		/* in: enum dart_zero_source */
	__s32 fd;		/* in */
	__u32 netns;		/* in: inode number, or 0 */
	__u32 ifindex;		/* in: network device, or 0 */
	struct dart_zero_extent extent; /* out */
};

/*
 * DART_ZERO_IOC_ADD_MAP: add the values of an eBPF map.
 *
 * @fd refers to a BPF_MAP_TYPE_ARRAY that was created with BPF_F_MMAPABLE and
 * is open for reading; its holder could mmap() the same pages.  Errors: EINVAL
 * (size, flags, reserved members, another type of map, no BPF_F_MMAPABLE,
 * values with locks, timers or kernel pointers, which cannot be mapped either),
 * EBADF (not an open file), EPERM (no CAP_SYS_ADMIN, or the descriptor is not
 * open for reading), EEXIST (the region already has this map), ENOSPC, EFAULT,
 * ENOMEM.
 */
struct dart_zero_map {
	__u32 size;		/* in: sizeof(struct dart_zero_map) */
	__u32 flags;		/* in: 0 */
	__s32 fd;		/* in */
	__u32 reserved;		/* in: 0 */
	struct dart_zero_extent extent; /* out */
};

/* Create @count counters; without the flag they must exist. */
#define DART_ZERO_COUNTERS_CREATE	(1 << 0)

/*
 * DART_ZERO_IOC_ADD_COUNTERS: add per-CPU counters by their name.
 *
 * A module registered them (see kmod/extents/dart_counters.h), or DART_ZERO_COUNTERS_CREATE
 * creates them for eBPF programs to add to (see bpf/dart_counters.h) until the extent
 * is removed.  The name is unique among the counters of the machine: 1 to 63 printable
 * ASCII characters.
 *
 * CAP_SYS_ADMIN.  Errors: EINVAL (size, flags, name, @count 0 or beyond 32 KiB
 * of counters, or not 0 without CREATE), EPERM, EACCES (windows=0), ENOENT (no counters of this
 * name), EEXIST (the region already shows them, or with CREATE, the name is in
 * use), ENOSPC, EFAULT, ENOMEM.
 */
struct dart_zero_counters {
	__u32 size;		/* in: sizeof(struct dart_zero_counters) */
	__u32 flags;		/* in: DART_ZERO_COUNTERS_CREATE or 0 */
	__u32 count;		/* in: __u64s on each CPU, with CREATE */
	__u32 reserved;		/* in: 0 */
	char name[DART_ZERO_NAME_LENGTH]; /* in: ends with NUL, then zeros */
	struct dart_zero_extent extent; /* out */
};

/* The pages are for records, not for slices. */
#define DART_ZERO_SLAB_RECORDS	(1 << 0)

/*
 * DART_ZERO_IOC_ADD_SLAB: add new pages, zeroed.
 *
 * CAP_SYS_ADMIN.  The memory is charged to the caller's memory cgroup.  Errors:
 * EINVAL (size, flags, @pages 0), EPERM, ENOSPC, EFAULT, ENOMEM.
 */
struct dart_zero_slab {
	__u32 size;		/* in: sizeof(struct dart_zero_slab) */
	__u32 flags;		/* in: DART_ZERO_SLAB_RECORDS or 0 */
	__u32 pages;		/* in */
	__u32 reserved;		/* in: 0 */
	struct dart_zero_extent extent; /* out */
};

/*
 * DART_ZERO_IOC_ADD_SLICE: lend pages of a slab.
 *
 * Returns a new descriptor (close-on-exec) that maps these pages for reading
 * and writing, and nothing else: MAP_SHARED, from offset 0, any number of
 * times.  They are zero at first.  The descriptor is the right to write them:
 * pass it on to one process and close it.  When its last copy and its last
 * mapping are closed the slice is gone, which read() tells; it stays in the
 * region, with its last values, until it is removed.
 *
 * Anyone with the descriptor of the region.  Errors: EINVAL (size, flags, @pages 0 or
 * more than 256), ENOENT (no slab of this id), ENOSPC (the slab lacks such a run of
 * free pages), EMFILE, ENFILE, EFAULT, ENOMEM.
 */
struct dart_zero_slice {
	__u32 size;		/* in: sizeof(struct dart_zero_slice) */
	__u32 flags;		/* in: 0 */
	__u32 slab;		/* in: id of the extent */
	__u32 pages;		/* in */
	__u32 id;		/* out: like that of an extent */
	__s32 fd;		/* out */
	__u64 data;		/* out, bytes: where it is in the region */
};

/*
 * Records.  A record consists of one row (DART_ZERO_RECORD_SUM) or, one after the other,
 * of a row for each online CPU (DART_ZERO_RECORD_COPIES); for some samples it consists
 * of a row for each NUMA node or device.  A row consists of lines of
 * DART_ZERO_RECORD_LINE bytes, with DART_ZERO_RECORD_LINE_WORDS words of 8 bytes between
 * two sequences of 4:
 *
 *   line 0  | sequence | time | CPU  | value | value | value | value | value | sequence |
 *   line 1  | sequence | value ...                                           | sequence |
 *
 * All sequences of a row are the same number, odd while the kernel writes the row, and 0
 * in an empty row: one without a CPU, or without values so far.  A reader that copies
 * each line from one end to the other, in either direction, and finds the same even
 * number, not 0, at both ends of all lines, has read a whole row: <dart/control.h>,
 * "Sequences", says why.  Values lie in the words in the order of the pieces, after the
 * time of gathering (CLOCK_BOOTTIME, ns) and, in records of several rows, the number of
 * the CPU, node or device.  Each value lies at the next multiple of its width, counted
 * in bytes of words, so that two of 4 bytes, for example, share a word.  All bytes
 * without a value are 0.  Words begin 4 bytes after a multiple of 8, so a reader must
 * not take a single word as whole.
 */
#define DART_ZERO_RECORD_LINE		64	/* bytes */
#define DART_ZERO_RECORD_LINE_WORDS	7
#define DART_ZERO_RECORD_WORDS_MAX	4096	/* values of a row, with time and CPU */
#define DART_ZERO_RECORD_MS_MIN		10
#define DART_ZERO_RECORD_MS_MAX		3600000
#define DART_ZERO_RECORD_REST_MAX	64	/* passes from one row to the next */
#define DART_ZERO_RECORDS_MAX		65536	/* of a region */

enum dart_zero_record_form {
	/* Values are added up over all CPUs, modulo 2 to the power of their width. */
	DART_ZERO_RECORD_SUM = 1,
	DART_ZERO_RECORD_COPIES = 2,
};

struct dart_zero_record_line {
	__u32 sequence;
	__u64 words[DART_ZERO_RECORD_LINE_WORDS];
	__u32 last_sequence;
} __attribute__((packed, aligned(DART_ZERO_RECORD_LINE)));

/* Do not wake an idle CPU to gather: the record is gathered when it next wakes. */
#define DART_ZERO_RECORD_DEFERRABLE	(1 << 0)

/* @count elements of @width bytes, side by side, from byte @offset of a copy. */
struct dart_zero_piece {
	__u32 offset;		/* bytes, a multiple of @width */
	__u16 width;		/* 1, 2, 4 or 8 bytes */
	__u16 count;		/* not 0 */
};

#define DART_ZERO_LOCATION_STEPS_MAX	2

/*
 * A location in the memory of a process: @length bytes, which begin at @address or, if @step_count
 * is not 0, behind pointers.  Each step loads the pointer at the address so far, and adds its
 * number to the pointer.  Behind a null pointer all bytes are 0.
 */
struct dart_zero_location {
	__u64 address;		/* a multiple of 8 */
	__s64 steps[DART_ZERO_LOCATION_STEPS_MAX]; /* bytes; 0 from @step_count on */
	__u32 step_count;	/* at most DART_ZERO_LOCATION_STEPS_MAX */
	__u32 length;		/* bytes, a multiple of 8, not 0 */
};

/*
 * DART_ZERO_IOC_ADD_RECORD: gather counters into a record every @interval_ms.
 *
 * The record gathers the counters that a window with the same @source, @fd, @netns and @ifindex
 * shows, or a sample, whose form <linux/dart_zero_samples.h> defines.  DART_ZERO_SOURCE_FILESYSTEM
 * is selected by @path, @device_major and @device_minor instead: a line of /proc/1/mountinfo
 * contains all three.  The module looks the path up for each question, so the caller need not be
 * able to reach it.
 *
 * DART_ZERO_SOURCE_PROCESS_MEMORY is selected by @pid and @locations.  A copy consists of the bytes
 * of all locations, one after the other, at most DART_ZERO_RECORD_WORDS_MAX words; the worker loads
 * each at once.  The record does not hold the process or its memory: it ends with the process,
 * or when the process executes another program.  The worker takes no page fault: while a location
 * is not in memory, because its page is swapped out, say, or a pointer leads nowhere, the row is
 * empty, and @unreadable of struct dart_zero_gathering counts the pass.
 *
 * The module gathers the record once before the call returns, then in a work item of
 * the region for all records of the interval.  When its counters end the record gets
 * their last values and keeps them, and read() reports it.  Without pieces nothing is
 * added: the call describes a copy of the counters in @length and @name.
 *
 * With @rest_max above 1, a record with one row of counters per CPU rests while they do not change:
 * after two rows with the same counters it is gathered in every second pass, after two more in
 * every fourth, and so on, up to every @rest_max-th.  The row keeps the time when it was last
 * gathered.  A row that differs ends the rest.  A record is gathered in spite of it when the times
 * of its cgroup have grown, which a pass knows, when its counters end, and in a pass after a kill
 * for memory.  Other records never rest.
 *
 * CAP_SYS_ADMIN.  Errors: as for ADD_WINDOW except EEXIST; and EINVAL (form, interval, rest, a
 * piece outside the copy, or too many words), ENOENT (no such pages of records), ENOSPC
 * (no room in these pages, or too many records), EDQUOT (one user would own more than an
 * eighth of DART_ZERO_RECORDS_MAX).  For a file system: ENODEV (no file system of this
 * device is mounted at @path), ENAMETOOLONG (@path is longer than 4,095 bytes).  For memory of a
 * process: ESRCH (no such process), EPERM (the caller or the opener lacks CAP_SYS_PTRACE in the
 * user namespace of the process), EINVAL (a malformed location, or too many).  For PERF and
 * SOCKETS also the errors with which the kernel refuses an event of perf or a socket.
 */
struct dart_zero_record {
	__u32 size;		/* in: sizeof(struct dart_zero_record) */
	__u32 flags;		/* in: DART_ZERO_RECORD_DEFERRABLE or 0 */
	__u32 slab;		/* in: id of the extent */
	__u32 form;		/* in: enum dart_zero_record_form */
	__u32 interval_ms;	/* in */
	__u32 piece_count;	/* in: at most DART_ZERO_RECORD_WORDS_MAX */
	__aligned_u64 pieces;	/* in: address of struct dart_zero_piece[] */
	__u32 source;		/* in: as in struct dart_zero_window */
	__s32 fd;		/* in */
	__u32 netns;		/* in */
	__u32 ifindex;		/* in */
	/* in: address of the path of a mount point, which ends with NUL, or 0 */
	__aligned_u64 path;
	__u32 device_major;	/* in: of the file system at @path, or 0 */
	__u32 device_minor;	/* in */
	__u32 pid;		/* in: of a process in the caller's PID namespace, or 0 */
	__u32 location_count;	/* in: not 0 if @pid is not, at most DART_ZERO_RECORD_WORDS_MAX */
	__aligned_u64 locations;	/* in: address of struct dart_zero_location[], or 0 */
	__u32 rest_max;		/* in: passes, at most DART_ZERO_RECORD_REST_MAX; 0 is 1 */
	__u32 reserved;		/* in: 0 */
	__u32 id;		/* out: like that of an extent; 0 without pieces */
	__u32 rows;		/* out: room in rows; 1, or all that are possible */
	__u64 data;		/* out, bytes: where row 0 is in the region */
	__u64 length;		/* out, bytes of a row, and from a row to the next */
	/* out, without pieces: as in struct dart_zero_extent */
	char name[DART_ZERO_NAME_LENGTH];
};

/*
 * DART_ZERO_SOURCE_GATHERING: the work item that gathers all records of this
 * region with the same interval and flags.  Its last pass includes the cost of this
 * record, but not the writing of its row.
 */
struct dart_zero_gathering {
	__u64 passes;
	__u64 missed;		/* passes that did not begin in time */
	__u64 records;		/* gathered in all passes */
	__u64 time_ns;		/* in all passes, waiting for a CPU included */
	__u64 longest_ns;	/* pass */
	/*
	 * Visits to cgroups for their CPU time, in all passes: one for each CPU with times of a
	 * cgroup that the kernel has not added up yet.
	 */
	__u64 cgroup_visits;
	__u64 stale;		/* records without new values: their rows kept older ones */
	__u64 unreadable;	/* memory of processes that was not there: rows became empty */
	__u64 rested;		/* records that were not gathered because their counters rest */
};

/*
 * DART_ZERO_IOC_ADOPT_SLICE: take over a slice of a region that was closed.
 *
 * @fd is a descriptor that ADD_SLICE returned to any process.  When a region is closed,
 * or a slice removed, the owner of the slice keeps the memory and goes on writing; this
 * call gives the slice and its values to another region (or the same one) as if that
 * region had lent it.  The region also shows the slab of the slice, with all slices in
 * it, if it did not yet, and can lend the free pages of the slab.  Two regions never
 * show one slab.  The memory stays charged to the memory cgroup of the process that
 * added the slab.
 *
 * CAP_SYS_ADMIN.  Errors: EINVAL (size, flags, reserved members, @fd is not a slice),
 * EBADF (not an open file), EPERM, EEXIST (the region already contains this slice: @id
 * is set), EBUSY (another region contains the slice, or shows its slab: try again when
 * that region is closed), ENOSPC, EFAULT, ENOMEM.
 */
struct dart_zero_adoption {
	__u32 size;		/* in: sizeof(struct dart_zero_adoption) */
	__u32 flags;		/* in: 0 */
	__s32 fd;		/* in */
	__u32 pages;		/* out: of the slice */
	__u32 id;		/* out: of the slice in this region */
	__u32 reserved;		/* in: 0 */
	__u64 data;		/* out, bytes: where it is in the region */
	struct dart_zero_extent slab; /* out */
};

/*
 * DART_ZERO_IOC_REMOVE: take an extent, a slice or a record out of the region.
 *
 * The pages of an extent disappear from all mappings of the region at once (they read
 * as zero), unless another extent shares them.  The pages of a slice stay in the slab
 * and can be lent again once the slice is also gone; the pages of a record become zero
 * and serve the next record.  A slab with slices or records cannot be removed.  Errors:
 * EINVAL, ENOENT (no extent, slice or record of this id), EBUSY (a slab with slices or
 * records), EFAULT, ENOMEM.
 */
struct dart_zero_remove {
	__u32 size;		/* in: sizeof(struct dart_zero_remove) */
	__u32 flags;		/* in: 0 */
	__u32 id;		/* in: of the extent, slice or record */
	__u32 reserved;		/* in: 0 */
};

/*
 * DART_ZERO_IOC_LIST: the extents of the region in the order of their offset, extents
 * at one offset in the order of their id.
 *
 * @count is the room at @extents on input and the number of extents in the
 * region on output.  Errors: EINVAL, ENOSPC (they do not fit: @count is their
 * number, nothing was written at @extents), EFAULT, ENOMEM.
 */
struct dart_zero_list {
	__u32 size;		/* in: sizeof(struct dart_zero_list) */
	__u32 count;		/* in, out */
	__aligned_u64 extents;	/* in: address of struct dart_zero_extent[] */
};

/* Tell changes from now on: DART_ZERO_EVENT_NAMESPACES. */
#define DART_ZERO_NAMESPACES_WATCH	(1 << 0)

/*
 * DART_ZERO_IOC_NAMESPACES: the network namespaces of the machine, in no order,
 * by the inode numbers of /proc/PID/ns/net.
 *
 * With DART_ZERO_NAMESPACES_WATCH the region becomes readable when a namespace begins
 * or ends after this call; a call without it ends this.  CAP_SYS_ADMIN.  Errors:
 * EINVAL, EPERM, ENOSPC (they do not fit: @count is their number, nothing was written
 * at @inodes), EFAULT, ENOMEM.
 */
struct dart_zero_namespaces {
	__u32 size;		/* in: sizeof(struct dart_zero_namespaces) */
	__u32 flags;		/* in: DART_ZERO_NAMESPACES_WATCH or 0 */
	__u32 count;		/* in, out */
	__u32 reserved;		/* in: 0 */
	__aligned_u64 inodes;	/* in: address of __u32[] */
};

/*
 * DART_ZERO_IOC_QUARANTINE: extents, of all regions of the machine, that were removed
 * or closed and whose memory the module keeps because it is still in use: pinned by an
 * RDMA device, in a pipe or in a packet.
 *
 * Users hold whole pages.  For a removed extent the module keeps those pages that no
 * remaining extent of the region shows; a page that the region still shows can be read
 * with everything on it.  For an extent of a closed region it keeps all pages.  It
 * releases the extent within 2 s of the last reference, or once another extent shows
 * the same counters.
 *
 * The region becomes readable, once, when that changes after this call.  Anyone
 * with the descriptor.  Errors: EINVAL, EFAULT.
 */
struct dart_zero_quarantine {
	__u32 size;		/* in: sizeof(struct dart_zero_quarantine) */
	__u32 extents;		/* out */
	__u64 pages;		/* out: of these extents */
};

/*
 * DART_ZERO_IOC_OPEN_READER: a descriptor for a process that only reads.
 *
 * Returns a new descriptor (close-on-exec) of the same region, which takes mmap(),
 * DART_ZERO_IOC_INFO and DART_ZERO_IOC_LIST and nothing else.  This descriptor keeps
 * the region alive, too.  Errors: EINVAL (size, flags, @fd or reserved members not 0),
 * EMFILE, ENFILE, EFAULT, ENOMEM.
 */
struct dart_zero_reader {
	__u32 size;		/* in: sizeof(struct dart_zero_reader) */
	__u32 flags;		/* in: 0 */
	__s32 fd;		/* out */
	__u32 reserved;		/* in: 0 */
};

enum dart_zero_event_type {
	DART_ZERO_EVENT_EXTENT_GONE = 1,
	DART_ZERO_EVENT_SLICE_GONE = 2,
	DART_ZERO_EVENT_NAMESPACES = 3,	/* their list changed */
	DART_ZERO_EVENT_QUARANTINE = 4,	/* the quarantine changed */
	DART_ZERO_EVENT_RECORD_GONE = 5, /* its counters ended: it no longer changes */
};

/*
 * read() returns as many pending events as fit, each once.  Errors: EINVAL (no room
 * for one), EAGAIN (none, and O_NONBLOCK), EINTR, EFAULT.
 */
struct dart_zero_event {
	__u32 type;		/* enum dart_zero_event_type */
	__u32 id;		/* of the extent, slice or record, or 0 */
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
#define DART_ZERO_IOC_ADD_COUNTERS \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x15, struct dart_zero_counters)
#define DART_ZERO_IOC_ADD_SLAB \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x16, struct dart_zero_slab)
#define DART_ZERO_IOC_ADD_SLICE \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x17, struct dart_zero_slice)
#define DART_ZERO_IOC_NAMESPACES \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x18, struct dart_zero_namespaces)
#define DART_ZERO_IOC_ADOPT_SLICE \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x19, struct dart_zero_adoption)
#define DART_ZERO_IOC_QUARANTINE \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x1a, struct dart_zero_quarantine)
#define DART_ZERO_IOC_OPEN_READER \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x1b, struct dart_zero_reader)

#define DART_ZERO_IOC_ADD_RECORD \
	_IOWR(DART_ZERO_IOC_MAGIC, 0x1c, struct dart_zero_record)

#endif /* _UAPI_LINUX_DART_ZERO_H */
