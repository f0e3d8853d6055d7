// SPDX-License-Identifier: GPL-2.0-only
/* Samples of the host: its pressure, its tasks and its swap space. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "pressure.h"
#include "sample.h"

extern const struct rq runqueues __ksym;

/* Addresses. */
static __u64 pressure;
static __u64 forks;
static __u64 threads;
static __u64 possible_cpus;
static __u64 swap_total;
static __u64 swap_free;
static __u32 page_shift;

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	page_shift = setting->page_shift;
	switch (setting->source) {
	case SAMPLE_PRESSURE:
		return FIND(pressure, "psi_system");
	case SAMPLE_TASKS:
		return FIND(forks, "total_forks")	   ?:
			       FIND(threads, "nr_threads") ?:
			       FIND(possible_cpus, "__cpu_possible_mask");
	default:
		return FIND(swap_total, "total_swap_pages") ?:
			       FIND(swap_free, "nr_swap_pages");
	}
}

SEC("raw_tp.w/dart_zero_sample")
int sample_pressure(struct bpf_raw_tracepoint_args *context)
{
	const struct psi_group___psi *group = (const void *)pressure;
	struct dart_zero_pressure values;

	if (SAMPLE_OF(context)->source != SAMPLE_PRESSURE)
		return 0;
	/* psi=0 on the kernel's command line. */
	if (!BPF_CORE_READ(group, enabled)) {
		SAMPLE_OF(context)->answer = DART_ZERO_ANSWER_ABSENT;
		return 0;
	}
	values = (struct dart_zero_pressure){
		PRESSURE_VALUES((const void *)group),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

static __always_inline bool is_possible(__u32 cpu)
{
	return READ(__u8, possible_cpus + cpu / 8) & (1 << cpu % 8);
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

/* As the end of /proc/stat does. */
SEC("raw_tp.w/dart_zero_sample")
int sample_tasks(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_tasks tasks = {}, values;

	if (SAMPLE_OF(context)->source != SAMPLE_TASKS)
		return 0;
	bpf_loop(CPUS_MAX, add_cpu, &tasks, 0);
	tasks.processes = READ(unsigned long, forks);
	tasks.threads = READ(__u32, threads);
	values = tasks;
	SAMPLE_ANSWER(context, values);
	return 0;
}

static __always_inline __u64 swap_bytes(__u64 address)
{
	long pages = READ(long, address);

	return pages < 0 ? 0 : (__u64)pages << page_shift;
}

SEC("raw_tp.w/dart_zero_sample")
int sample_swap(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_swap values;

	if (SAMPLE_OF(context)->source != SAMPLE_SWAP)
		return 0;
	values = (struct dart_zero_swap){
		.total = swap_bytes(swap_total),
		.free = swap_bytes(swap_free),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
