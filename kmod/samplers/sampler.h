/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_SAMPLER_H
#define DART_ZERO_SAMPLER_H

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

#include <linux/dart_zero_samples.h>

struct dart_zero_record;
struct dart_zero_window;
struct dart_sampler;

#define DART_SAMPLE_MAX 4096 /* bytes */

/* A kind of sample, and the function that takes it. */
struct dart_sampler_kind {
	const char *name; /* of the struct in <linux/dart_zero_samples.h> */
	size_t length; /* of it: at most DART_SAMPLE_MAX */

	/*
	 * Fills in the zeroed @sample.  *@time is now (CLOCK_BOOTTIME, ns) and may be
	 * set to an earlier time that the values are of.  Returns 0, -EAGAIN (there
	 * are no new values yet), -ENODATA (the object has no such values now: the
	 * row becomes empty) or -ENODEV (the object has ended: it is not called
	 * again).  In process context with the lock of the gathering held: it may
	 * sleep, but not for long.
	 */
	int (*sample)(struct dart_sampler *sampler, void *sample, u64 *time);
	/*
	 * Instead of @sample, of a kind whose records have several rows: called with
	 * each index below @sampler->indices until the rows are full.  Sets *@number,
	 * what the row is of: a CPU, a NUMA node or a device.  Returns 0, -ENODATA
	 * (this index does not have a row now), -EAGAIN (new values are not there yet:
	 * this row and all later ones keep theirs) or -ENODEV.
	 */
	int (*sample_row)(struct dart_sampler *sampler, u32 index, u64 *number,
			  void *sample, u64 *time);
	/* Frees @sampler, without locks; NULL: it is freed with kfree(). */
	void (*free)(struct dart_sampler *sampler);
};

/*
 * Asks the kernel for values of one object, which it does not keep alive where that
 * would delay the object's end.  Begins the struct of each kind.
 */
struct dart_sampler {
	const struct dart_sampler_kind *kind;
	u64 payer; /* as in struct dart_percpu */
	/* Of a kind with sample_row(). */
	u32 indices;
	u32 rows; /* that a record has room for */
};

/* Counts of pages can be below 0 for a moment. */
static inline u64 dart_bytes_of_pages(long pages)
{
	return (u64)max(pages, 0L) << PAGE_SHIFT;
}

/* Is @source sampled? */
bool dart_sampler_has(u32 source);

/*
 * A sampler of what @window selects, or ERR_PTR(): the errors of dart_window_open().
 * The caller has checked capabilities.  Process context.
 */
struct dart_sampler *dart_sampler_open(const struct dart_zero_window *window);
void dart_sampler_free(struct dart_sampler *sampler);

/* A sampler without an object. */
struct dart_sampler *dart_sampler_new(const struct dart_sampler_kind *kind);

extern const struct dart_sampler_kind dart_memory_sampler;
extern const struct dart_sampler_kind dart_load_sampler;
extern const struct dart_sampler_kind dart_process_sampler;

/* With a row for each CPU. */
struct dart_sampler *
dart_cpu_sampler_open(const struct dart_zero_window *window);
/* With a row for each CPU.  -EOPNOTSUPP: the first one has no counters. */
struct dart_sampler *
dart_perf_sampler_open(const struct dart_zero_window *window);
/* With a row for each port of an RDMA device. */
struct dart_sampler *
dart_rdma_sampler_open(const struct dart_zero_window *window);
/* With a row for each NUMA node. */
struct dart_sampler *
dart_node_sampler_open(const struct dart_zero_window *window);

/*
 * A sampler whose values eBPF programs fill in: see struct dart_zero_sample.  Of a
 * source for cgroups, holds the cgroup, which can be removed all the same.
 */
struct dart_sampler *
dart_program_sampler_open(const struct dart_zero_window *window);
/* The statistics of a network device. */
struct dart_sampler *
dart_netdev_sampler_open(const struct dart_zero_window *window);
/* The sockets of a network namespace. */
struct dart_sampler *
dart_namespace_sampler_open(const struct dart_zero_window *window);
/* The sockets of all network namespaces. */
struct dart_sampler *
dart_sockets_sampler_open(const struct dart_zero_window *window);
/* The statistics of a block device: its driver can be unloaded meanwhile. */
struct dart_sampler *
dart_disk_sampler_open(const struct dart_zero_window *window);
/*
 * The file system that is mounted at @selected->path, an address of user space.
 * It holds no mount: the file system can be unmounted, and is then -ENODEV.  Waits for
 * the first values, but not long.  -ENODEV: PID 1 has no file system of this device
 * there; -ENAMETOOLONG, -EFAULT: the path.
 */
struct dart_sampler *
dart_filesystem_sampler_open(const struct dart_zero_record *selected);

#endif /* DART_ZERO_SAMPLER_H */
