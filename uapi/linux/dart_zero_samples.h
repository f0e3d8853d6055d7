/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Samples of /dev/dart_zero: values that the kernel does not keep per CPU, so that no window can
 * show them.  The module asks the kernel for the values at each gathering.  A record of such a
 * source has one row (DART_ZERO_RECORD_SUM), or several (DART_ZERO_RECORD_COPIES).
 *
 * <linux/dart_zero_samples.def> lists the samples and their members, which are counted in bytes and
 * nanoseconds unless their unit says otherwise, and are 0 where a kernel does not have them.
 */
#ifndef _UAPI_LINUX_DART_ZERO_SAMPLES_H
#define _UAPI_LINUX_DART_ZERO_SAMPLES_H

/* eBPF programs have these types from the kernel's BTF. */
#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* A zone in /proc/zoneinfo, in bytes. */
struct dart_zero_zone {
	__u64 free;
	__u64 min;		/* watermarks */
	__u64 low;
	__u64 high;
	__u64 managed;
	__u64 present;
};

/* A struct for each sample. */
#define DART_ZERO_SAMPLE(source, number, name, ...)	struct dart_zero_##name {
#define DART_ZERO_MEMBER(type, member)			type member;
#define DART_ZERO_SAMPLE_END				};
#include <linux/dart_zero_samples.def>

/*
 * The values of a sample that an eBPF program takes, because modules cannot see them.  At each
 * gathering the module raises the writable raw tracepoint "dart_zero_sample" (program section
 * "raw_tp.w/dart_zero_sample"; arguments: struct dart_zero_sample *, and struct cgroup * or NULL
 * for the host) in process context.  A program that knows @source writes the struct of the source
 * into @values, and then @answer.  Without an answer the row stays as it is.  If a source has
 * several rows, its program is called for each, with @index, and sets @number.
 */
#define DART_ZERO_SAMPLE_WORDS	32

enum dart_zero_sample_answer {
	DART_ZERO_ANSWER_NONE = 0,
	DART_ZERO_ANSWER_VALUES = 1,
	/* The object has no such values at this time: the row becomes empty. */
	DART_ZERO_ANSWER_ABSENT = 2,
};

struct dart_zero_sample {
	__u32 source;		/* enum dart_zero_source */
	__u32 answer;		/* enum dart_zero_sample_answer */
	__u64 values[DART_ZERO_SAMPLE_WORDS];
	__u64 index;		/* of the row, from 0, where there are several */
	__u64 number;		/* out: number of the CPU, node or device of the row */
};

/*
 * The answer of a program for DART_ZERO_SOURCE_FILESYSTEM.  The module puts the address of the
 * struct vfsmount into @values[0], and the program overwrites it with this.
 */
struct dart_zero_mount_device {
	char device[56];
};

#endif /* _UAPI_LINUX_DART_ZERO_SAMPLES_H */
