/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_COUNTERS_H
#define DART_ZERO_COUNTERS_H

#include <linux/types.h>

struct dart_extent;
struct dart_zero_counters;

/*
 * An extent over the counters that @request names or creates, not yet placed, or ERR_PTR():
 * -EINVAL, -ENOENT, -EEXIST, -ENOMEM.  Process context.
 */
struct dart_extent *dart_counters_open(const struct dart_zero_counters *request);

/*
 * For eBPF programs (see bpf/dart_counters.h): adds @value, on this CPU, to counter @index of the
 * counters @id (dart_zero_extent.counters_id).  Any context.  Returns 0, -ENOENT (no counters @id),
 * -EPERM (the counters belong to a module, and only it counts), -EINVAL (no counter @index).
 */
int bpf_dart_counters_add(u32 id, u32 index, u64 value);

/* Allows eBPF programs to call bpf_dart_counters_add(). */
int dart_counters_init(void);
/* To call when no counters are left. */
void dart_counters_exit(void);

#endif /* DART_ZERO_COUNTERS_H */
