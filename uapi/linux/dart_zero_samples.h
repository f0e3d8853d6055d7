/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Sampled sources of /dev/dart_zero: values that the kernel does not keep per CPU,
 * so that no window can show them.  A record of such a source has one row, and the
 * module asks the kernel for the values at each gathering.
 *
 * A sample is one of these structures.  Members are counted in bytes and nanoseconds
 * unless their name says otherwise, and are 0 where a kernel does not have them.
 * Later ABIs add members at the end.
 */
#ifndef _UAPI_LINUX_DART_ZERO_SAMPLES_H
#define _UAPI_LINUX_DART_ZERO_SAMPLES_H

#include <linux/types.h>

/*
 * DART_ZERO_SOURCE_MEMORY: the lines of /proc/meminfo with these names, in bytes.
 * SwapTotal, CommitLimit, Vmalloc*, Percpu, HugePages_*, Hugetlb, DirectMap* and Cma*
 * are not here: the kernel does not export them to modules.
 */
struct dart_zero_memory {
	__u64 total;
	__u64 free;
	__u64 available;
	__u64 buffers;
	__u64 cached;
	__u64 swap_cached;
	__u64 active;		/* anonymous and file */
	__u64 inactive;
	__u64 active_anon;
	__u64 inactive_anon;
	__u64 active_file;
	__u64 inactive_file;
	__u64 unevictable;
	__u64 mlocked;
	__u64 swap_free;
	__u64 dirty;
	__u64 writeback;
	__u64 anon_pages;
	__u64 mapped;
	__u64 shmem;
	__u64 kreclaimable;
	__u64 slab;
	__u64 sreclaimable;
	__u64 sunreclaim;
	__u64 kernel_stack;
	__u64 page_tables;
	__u64 sec_page_tables;
	__u64 committed_as;
	__u64 anon_huge_pages;
	__u64 shmem_huge_pages;
	__u64 shmem_pmd_mapped;
	__u64 file_huge_pages;
	__u64 file_pmd_mapped;
};

/*
 * DART_ZERO_SOURCE_LOAD: /proc/loadavg and /proc/uptime.  Averages are in units of
 * 1/2048 task, the kernel's fixed point.
 */
struct dart_zero_load {
	__u64 load1;
	__u64 load5;
	__u64 load15;
	__u64 uptime;		/* ns since boot, with time suspended */
	__u64 online_cpus;
};

#endif /* _UAPI_LINUX_DART_ZERO_SAMPLES_H */
