// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long tasks wait for a CPU: from when they become runnable or are preempted
 * until they run.  One histogram per CPU: the CPU on which the task runs.
 *
 * The scheduler itself records when a task was queued, for the run delay in
 * /proc/PID/schedstat, and clears that only after the tracepoint sched_switch.
 * So the program need not trace wakeups or keep state, and its counts are those
 * of /proc/schedstat.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dart_tags.h"
#include "histogram.h"

#define NS_PER_US 1000

struct runqlat {
	__u64 latency[HISTOGRAM_BUCKETS] DART_HISTOGRAM DART_UNIT("us");
} DART_COPIES_ARE_CPUS __attribute__((aligned(64)));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* possible CPUs, set by the loader */
	__type(key, __u32);
	__type(value, struct runqlat);
} runqlat SEC(".maps");

extern const struct rq runqueues __ksym;

/* Runs with the run queue locked, so this CPU's row has no other writer. */
SEC("tp_btf/sched_switch")
int BPF_PROG(dart_sched_switch, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	__u64 queued = next->sched_info.last_queued;
	__u32 cpu = bpf_get_smp_processor_id();
	const struct rq *rq;
	struct runqlat *row;
	__u64 now;

	if (!queued)	/* the idle task never waits */
		return 0;
	row = bpf_map_lookup_elem(&runqlat, &cpu);
	if (!row)
		return 0;

	/* The clock of the run queue, from which last_queued was taken, too. */
	rq = bpf_this_cpu_ptr(&runqueues);
	now = rq->clock;
	histogram__add(row->latency,
		       now > queued ? (now - queued) / NS_PER_US : 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
