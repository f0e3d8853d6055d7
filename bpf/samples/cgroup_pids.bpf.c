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

static __always_inline enum dart_zero_sample_answer
take_cgroup_pids(const struct cgroup *cgroup, struct dart_zero_cgroup_pids *values)
{
	const struct pids_cgroup *pids;

	pids = (const void *)CGROUP_STATE(cgroup, pids);
	if (!pids)
		return DART_ZERO_ANSWER_ABSENT;
	*values = (struct dart_zero_cgroup_pids){
		.tasks = BPF_CORE_READ(pids, counter.counter),
		.peak = bpf_core_field_exists(pids->watermark) ? BPF_CORE_READ(pids, watermark) : 0,
		.max = BPF_CORE_READ(pids, limit.counter),
		.events_max = pids_events(pids),
	};
	return DART_ZERO_ANSWER_VALUES;
}

CGROUP_SAMPLE(DART_ZERO_SOURCE_CGROUP_PIDS, cgroup_pids)

char LICENSE[] SEC("license") = "GPL";
