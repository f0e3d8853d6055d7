/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For eBPF programs that count straight into a region of dart_zero: no map, no
 * lock, no atomic operation.  The counters are made by DART_ZERO_IOC_ADD_COUNTERS
 * (or registered by a module), which says their id.
 */
#ifndef DART_BPF_COUNTERS_H
#define DART_BPF_COUNTERS_H

/*
 * Adds @value to counter @index of this CPU.  Returns 0, -ENOENT when the
 * counters are gone, -EINVAL when they have no such counter.  For tracing, XDP,
 * tc and syscall programs; the module must be there when they are loaded.
 */
extern int bpf_dart_counters_add(__u32 id, __u32 index, __u64 value) __ksym;

#endif /* DART_BPF_COUNTERS_H */
