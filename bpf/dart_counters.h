/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For eBPF programs that count directly in a region of dart_zero: no map, no
 * lock, no atomic operation.  DART_ZERO_IOC_ADD_COUNTERS with
 * DART_ZERO_COUNTERS_CREATE creates the counters and returns their id.
 */
#ifndef DART_BPF_COUNTERS_H
#define DART_BPF_COUNTERS_H

/*
 * Adds @value to counter @index of this CPU.  Returns 0, -ENOENT if the counters no longer exist,
 * -EPERM if they belong to a module, -EINVAL if there is no counter @index.  For tracing, XDP, tc
 * and syscall programs.  The module must be loaded before the program.
 */
extern int bpf_dart_counters_add(__u32 id, __u32 index, __u64 value) __ksym;

#endif /* DART_BPF_COUNTERS_H */
