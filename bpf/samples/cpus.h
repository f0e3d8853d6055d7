/* SPDX-License-Identifier: GPL-2.0-only */
/* The possible CPUs, and the per-CPU memory of each. */
#ifndef CPUS_H
#define CPUS_H

#include "variables.h"

/* Addresses. */
static __u64 possible_cpus;
static __u64 online_cpus;
static __u64 percpu_offsets;

static __u32 cpu_ids; /* greater than the number of any CPU */

/* Call it in the SEC("syscall") program.  Returns 0 or -errno. */
static __always_inline int find_cpus(void)
{
	__u64 count = 0;
	int ret = FIND(possible_cpus, "__cpu_possible_mask")	    ?:
			  FIND(online_cpus, "__cpu_online_mask")	    ?:
			  FIND(percpu_offsets, "__per_cpu_offset") ?:
			  FIND(count, "nr_cpu_ids");

	cpu_ids = ret ? 0 : READ(__u32, count);
	return ret;
}

/* A number may belong to no CPU: the kernel then freed its memory after boot. */
static __always_inline bool is_possible(__u32 cpu)
{
	return READ(__u8, possible_cpus + cpu / 8) & (1 << cpu % 8);
}

static __always_inline bool is_online(__u32 cpu)
{
	return READ(__u8, online_cpus + cpu / 8) & (1 << cpu % 8);
}

/* The address of the variable of @cpu; alloc_percpu() returned @percpu. */
static __always_inline const void *at_cpu(const void *percpu, __u32 cpu)
{
	return percpu + READ(__u64, percpu_offsets + 8 * (__u64)cpu);
}

#endif /* CPUS_H */
