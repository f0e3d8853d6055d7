// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long tasks wait for a CPU: from the time when they become runnable or are preempted until
 * they run.  One histogram per CPU: the CPU on which the task runs.
 *
 * The scheduler itself records when it queued a task, for the run delay in /proc/PID/schedstat, and
 * clears that only after the tracepoint sched_switch.  So the program need not trace wakeups, and
 * its counts equal the counts in /proc/schedstat.
 *
 * When a waiting task moves to another CPU, the scheduler adds the wait so far to its run delay and
 * starts again.  So the program remembers the run delay of each task when it got a CPU, and adds
 * the difference to the next wait.
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

/* State of a task when it last got a CPU. */
struct arrival {
	__u64 run_delay;	/* ns, all waits until then */
	__u64 count;		/* number of times that it got a CPU before */
};

/*
 * Made when a task begins.  dart_sched_switch() cannot allocate memory, because a run queue is
 * locked.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct arrival);
} last_arrival SEC(".maps");

/*
 * The same by the address of the task, for tasks without local storage: since Linux 6.19 the kernel
 * cannot allocate it here on CPUs that lack an atomic exchange of 16 bytes (cmpxchg16b).  Memory is
 * taken for entries in use only.  Of further tasks only the last wait counts.
 */
#define TASKS_BY_ADDRESS_MAX 131072

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TASKS_BY_ADDRESS_MAX);
	__type(key, __u64);
	__type(value, struct arrival);
} arrival_by_address SEC(".maps");

/* Number of entries in arrival_by_address.  Without any, no task need be looked up there. */
static __u32 address_count;

extern const struct rq runqueues __ksym;

static __always_inline struct arrival *last_arrival_of(struct task_struct *task)
{
	__u64 address = (__u64)task;

	if (*(volatile __u32 *)&address_count) {
		struct arrival *arrival = bpf_map_lookup_elem(&arrival_by_address, &address);

		if (arrival)
			return arrival;
	}
	return bpf_task_storage_get(&last_arrival, task, NULL, 0);
}

static __always_inline void remember(struct task_struct *task)
{
	const struct arrival none = {};
	__u64 address = (__u64)task;

	if (bpf_task_storage_get(&last_arrival, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		return;
	if (!bpf_map_update_elem(&arrival_by_address, &address, &none, BPF_NOEXIST))
		__sync_fetch_and_add(&address_count, 1);
}

/*
 * Earlier waits of @task on other CPUs since it last got a CPU; @wait, which ends now, is not one
 * of them.
 */
static __always_inline __u64 earlier_waits(struct task_struct *task, __u64 wait)
{
	__u64 run_delay = task->sched_info.run_delay;
	__u64 count = task->sched_info.pcount, earlier = 0;
	struct arrival *last;

	last = last_arrival_of(task);
	if (!last)
		return 0;
	/* Unless this is its first wait, or the program missed one. */
	if (count && last->count + 1 == count && run_delay > last->run_delay)
		earlier = run_delay - last->run_delay;
	last->run_delay = run_delay + wait;
	last->count = count;
	return earlier;
}

/* Runs with the run queue locked, so this CPU's row has no other writer. */
SEC("tp_btf/sched_switch")
int BPF_PROG(dart_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 queued = next->sched_info.last_queued;
	__u32 cpu = bpf_get_smp_processor_id();
	const struct rq *rq;
	struct runqlat *row;
	__u64 now, wait;

	if (!queued)	/* the idle task never waits */
		return 0;
	row = bpf_map_lookup_elem(&runqlat, &cpu);
	if (!row)
		return 0;

	/* Like last_queued, from the clock of the run queue. */
	rq = bpf_this_cpu_ptr(&runqueues);
	now = rq->clock;
	wait = now > queued ? now - queued : 0;
	wait += earlier_waits(next, wait);
	histogram__add(row->latency, wait / NS_PER_US);
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(dart_task_newtask, struct task_struct *task)
{
	remember(task);
	return 0;
}

/* The task runs no more, and nothing else has its address yet. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(dart_process_free, struct task_struct *task)
{
	__u64 address = (__u64)task;

	if (*(volatile __u32 *)&address_count &&
	    !bpf_map_delete_elem(&arrival_by_address, &address))
		__sync_fetch_and_add(&address_count, -1);
	return 0;
}

/* Tasks that exist when dartd loads the probe. */
SEC("iter/task")
int dart_existing(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (task)
		remember(task);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
