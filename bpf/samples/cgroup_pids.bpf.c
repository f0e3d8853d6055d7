// SPDX-License-Identifier: GPL-2.0-only
/* Samples the number of tasks of a cgroup. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sample.h"

/* Before Linux 6.11. */
struct pids_cgroup___old {
	atomic64_t events_limit;
};

static __always_inline __u64 pids_events(const struct pids_cgroup *pids)
{
	const struct pids_cgroup___old *old = (const void *)pids;

	if (bpf_core_field_exists(old->events_limit))
		return BPF_CORE_READ(old, events_limit.counter);
	return BPF_CORE_READ(pids, events[PIDCG_MAX].counter);
}

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_pids(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_pids values;
	const struct pids_cgroup *pids;

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_CGROUP_PIDS)
		return 0;
	pids = (const void *)CGROUP_STATE(CGROUP_OF(context), pids);
	if (!pids) {
		SAMPLE_IS_ABSENT(context);
		return 0;
	}
	values = (struct dart_zero_cgroup_pids){
		.tasks = BPF_CORE_READ(pids, counter.counter),
		.peak = bpf_core_field_exists(pids->watermark) ? BPF_CORE_READ(pids, watermark) : 0,
		.max = BPF_CORE_READ(pids, limit.counter),
		.events_max = pids_events(pids),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
