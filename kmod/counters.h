/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_COUNTERS_H
#define DART_ZERO_COUNTERS_H

#include <linux/types.h>

struct dart_extent;
struct dart_zero_counters;

/*
 * An extent over the counters that @request names or creates, with no place
 * yet, or ERR_PTR(): -EINVAL, -ENOENT, -EEXIST, -ENOMEM.  Process context.
 */
struct dart_extent *
dart_counters_open(const struct dart_zero_counters *request);

/*
 * Adds @value to counter @index of this CPU.  Any context.  Returns 0, -ENOENT
 * (no counters @id) or -EINVAL (no counter @index).
 */
int dart_counters_add(u32 id, u32 index, u64 value);

/* When the module exits; no counters are left. */
void dart_counters_exit(void);

/* The function that eBPF programs call: kfunc.c. */
int dart_kfunc_init(void);
int bpf_dart_counters_add(u32 id, u32 index, u64 value);

#endif /* DART_ZERO_COUNTERS_H */
