/* SPDX-License-Identifier: GPL-2.0-only */
/* The host as the kernel describes it: its name, release and CPUs. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counts.h"

/* The nodename of uname(2); "?" replaces characters outside ASCII, NULs fill the rest. */
void host__name(char *name, size_t size);

/* The kernel that runs, likewise. */
void host__kernel(struct kernel_texts *kernel);

/* Linux before 6.2 refuses to pin read-only memory for adapters. */
bool host__can_pin_read_only(void);

/*
 * Fills the bitmap of the online CPUs among the first @cpus, which has @cpus / 64
 * words, rounded up.  Returns 0, or -errno if the kernel does not tell.
 */
int host__online_cpus(uint64_t *online, uint32_t cpus);

/* A descriptor for host__read_online_cpus(), or -errno. */
int host__open_online_cpus(void);
/* The same as host__online_cpus(), for callers that often ask. */
int host__read_online_cpus(int fd, uint64_t *online, uint32_t cpus);

/* NUMA nodes that can ever have memory; 1 without NUMA. */
uint32_t host__nodes(void);

/* Highest possible CPU + 1; at least 1. */
uint32_t host__cpus(void);

/* The same as host__online_cpus() for all CPUs that can ever be online. */
int host__possible_cpus(uint64_t *possible, uint32_t cpus);

/* The same for the CPUs of nohz_full=; the set is empty if the kernel does not tell. */
void host__nohz_full_cpus(uint64_t *nohz_full, uint32_t cpus);

/*
 * Fills such a bitmap from a list of the kernel, such as "0-3,8\n".  Returns -EINVAL if @list is
 * malformed or empty, or names a CPU from @cpus on.
 */
int host__parse_cpus(const char *list, uint64_t *set, uint32_t cpus);

#endif /* HOST_H */
