// SPDX-License-Identifier: GPL-2.0-only
/* Tells dartd that the kernel chose a process to kill for memory. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

/* One page would do, and pages have up to 64 KiB. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} kills SEC(".maps");

/*
 * By now the counters of the cgroup include the kill, and the process still has its cgroup.  Which
 * process it is does not matter: dartd gathers all cgroups.
 */
SEC("raw_tp/mark_victim")
int dart_oom_kill(void *context)
{
	char one = 1;

	bpf_ringbuf_output(&kills, &one, sizeof(one), 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
