// SPDX-License-Identifier: GPL-2.0-only
/* Samples the tasks of the host. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cpus.h"
#include "sample.h"

extern const struct rq runqueues __ksym;

/* Addresses. */
static __u64 forks;
static __u64 threads;
static __u64 threads_max;
static __u64 pid_max;

/* Since Linux 6.14 each PID namespace has its own limit. */
struct pid_namespace___limited {
	int pid_max;
};

static __always_inline int find_pid_max(void)
{
	int ret;

	if (!bpf_core_field_exists(struct pid_namespace___limited, pid_max))
		return FIND(pid_max, "pid_max");
	ret = FIND(pid_max, "init_pid_ns");
	pid_max += bpf_core_field_offset(struct pid_namespace___limited, pid_max);
	return ret;
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return FIND(forks, "total_forks")			   ?:
		       FIND(threads, "nr_threads")		   ?:
		       FIND(threads_max, "max_threads")	   ?:
		       find_pid_max() ?: find_cpus();
}

static long add_cpu(__u32 cpu, struct dart_zero_tasks *tasks)
{
	const struct rq *rq = bpf_per_cpu_ptr(&runqueues, cpu);

	if (!rq)
		return 1;
	if (is_possible(cpu)) {
		tasks->procs_running += rq->nr_running;
		tasks->procs_blocked += (__s64)rq->nr_iowait.counter;
		tasks->ctxt += rq->nr_switches;
	}
	return 0;
}

/* Like the end of /proc/stat. */
static __always_inline enum dart_zero_sample_answer take_tasks(struct dart_zero_tasks *values)
{
	struct dart_zero_tasks tasks = {};

	bpf_loop(CPUS_MAX, add_cpu, &tasks, 0);
	tasks.processes = READ(unsigned long, forks);
	tasks.threads = READ(__u32, threads);
	tasks.threads_max = READ(__u32, threads_max);
	tasks.pid_max = READ(__u32, pid_max);
	*values = tasks;
	return DART_ZERO_ANSWER_VALUES;
}

HOST_SAMPLE(DART_ZERO_SOURCE_TASKS, tasks)

char LICENSE[] SEC("license") = "GPL";
