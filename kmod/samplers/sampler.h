/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_SAMPLER_H
#define DART_ZERO_SAMPLER_H

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

#include <linux/dart_zero.h>
#include <linux/dart_zero_samples.h>

struct dart_sampler;
struct file;

#define DART_SAMPLE_MAX (DART_ZERO_RECORD_WORDS_MAX * 8) /* bytes */

/* A kind of sample, and the function that takes it. */
struct dart_sampler_kind {
	const char *name; /* of the struct in <linux/dart_zero_samples.def> */
	/*
	 * Of the struct, in bytes: at most DART_SAMPLE_MAX.  0: each sampler has a @length.
	 */
	size_t length;

	/*
	 * Fills in @sample, which is zeroed if the kind has a @length.  *@time is now
	 * (CLOCK_BOOTTIME, ns); the function may set it to an earlier time to which the values
	 * belong.  Returns 0, -EAGAIN (no new values yet), -ENODATA (the object has no such values
	 * now: the row becomes empty), -EFAULT (the same, because memory of a process is not there)
	 * or -ENODEV (the object has ended: the function is not called again).  In process context
	 * with the lock of the gathering held: it may sleep, but not for long.
	 */
	int (*sample)(struct dart_sampler *sampler, void *sample, u64 *time);
	/*
	 * Instead of @sample, for records with several rows: called with each index below
	 * @sampler->indices until the rows are full.  Sets *@number to the number of the CPU, NUMA
	 * node or device of the row.  Returns 0, -ENODATA (this index has no row now), -EAGAIN (no
	 * new values yet: this row and all later rows keep their values) or -ENODEV.
	 */
	int (*sample_row)(struct dart_sampler *sampler, u32 index, u64 *number,
			  void *sample, u64 *time);
	/* Frees @sampler, without locks.  NULL: kfree() does. */
	void (*free)(struct dart_sampler *sampler);
};

/*
 * Asks the kernel for values of one object.  A sampler does not hold its object if that would delay
 * the end of the object.  This is the first member of the struct of each kind.
 */
struct dart_sampler {
	const struct dart_sampler_kind *kind;
	u64 payer; /* as in struct dart_percpu */
	size_t length; /* of a sample, in bytes, if the kind has none */
	/* For kinds with sample_row(): */
	u32 indices;
	u32 rows; /* for which a record has room */
};

/* A count of pages can be negative for a moment. */
static inline u64 dart_bytes_of_pages(long pages)
{
	return (u64)max(pages, 0L) << PAGE_SHIFT;
}

static inline size_t dart_sampler_length(const struct dart_sampler *sampler)
{
	return sampler->kind->length ?: sampler->length;
}

/* True if @source is sampled. */
bool dart_sampler_has(u32 source);

/*
 * A sampler of the object that @selected selects, or ERR_PTR(): the errors of dart_window_open().
 * @opener: the file of the region that will show the samples.  The caller has checked capabilities
 * that all sources need.  Process context.
 */
struct dart_sampler *dart_sampler_open(const struct dart_zero_record *selected,
				       const struct file *opener);
void dart_sampler_free(struct dart_sampler *sampler);

/* A sampler without an object. */
struct dart_sampler *dart_sampler_new(const struct dart_sampler_kind *kind);

extern const struct dart_sampler_kind dart_memory_sampler;
extern const struct dart_sampler_kind dart_load_sampler;
extern const struct dart_sampler_kind dart_process_sampler;

/* With a row for each CPU. */
struct dart_sampler *dart_cpu_sampler_open(const struct dart_zero_window *window);
/* With a row for each CPU.  -EOPNOTSUPP: the first one has no counters. */
struct dart_sampler *dart_perf_sampler_open(const struct dart_zero_window *window);
/* With a row for each port of an RDMA device. */
struct dart_sampler *dart_rdma_sampler_open(const struct dart_zero_window *window);
/* With a row for each NUMA node. */
struct dart_sampler *dart_node_sampler_open(const struct dart_zero_window *window);

/*
 * A sampler whose values an eBPF program fills in: see struct dart_zero_sample.  For a cgroup, it
 * holds the cgroup, which can be removed nevertheless.
 */
struct dart_sampler *dart_program_sampler_open(const struct dart_zero_window *window);
/* The statistics of a network device. */
struct dart_sampler *dart_netdev_sampler_open(const struct dart_zero_window *window);
/* The sockets of a network namespace. */
struct dart_sampler *dart_namespace_sampler_open(const struct dart_zero_window *window);
/* The statistics of a block device.  Its driver can be unloaded while the sampler exists. */
struct dart_sampler *dart_disk_sampler_open(const struct dart_zero_window *window);
/*
 * The file system that is mounted at @selected->path, an address of user space.  Holds no mount, so
 * the file system can be unmounted, after which samples return -ENODEV.  Waits for the first
 * values, but not long.  -ENODEV: PID 1 has no file system of this device there; -ENAMETOOLONG,
 * -EFAULT: @path cannot be read.
 */
struct dart_sampler *dart_filesystem_sampler_open(const struct dart_zero_record *selected,
						  const struct file *opener);
/*
 * Memory of the process @selected->pid, which it does not keep: samples of a process that has
 * ended, or executed another program, return -ENODEV.  -ESRCH: no such process; -EPERM: the caller,
 * or the process that opened @opener, lacks CAP_SYS_PTRACE in the user namespace of the memory;
 * -EINVAL, -EFAULT: @selected->locations.
 */
struct dart_sampler *dart_process_memory_sampler_open(const struct dart_zero_record *selected,
						      const struct file *opener);

#endif /* DART_ZERO_SAMPLER_H */
