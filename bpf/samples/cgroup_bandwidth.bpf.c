// SPDX-License-Identifier: GPL-2.0-only
/* Samples the bandwidth of a cgroup: cpu.max. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sample.h"

#define BANDWIDTH(member) BPF_CORE_READ(group, cfs_bandwidth.member)

static __always_inline enum dart_zero_sample_answer
take_cgroup_bandwidth(const struct cgroup *cgroup, struct dart_zero_cgroup_bandwidth *values)
{
	const struct task_group *group;

	group = (const void *)CGROUP_STATE(cgroup, cpu);
	if (!group)
		return DART_ZERO_ANSWER_ABSENT;
	*values = (struct dart_zero_cgroup_bandwidth){
		.nr_periods = (__u32)BANDWIDTH(nr_periods),
		.nr_throttled = (__u32)BANDWIDTH(nr_throttled),
		.throttled_time = BANDWIDTH(throttled_time),
		.nr_bursts = (__u32)BANDWIDTH(nr_burst),
		.quota = BANDWIDTH(quota),
		.period = BANDWIDTH(period),
	};
	return DART_ZERO_ANSWER_VALUES;
}

CGROUP_SAMPLE(DART_ZERO_SOURCE_CGROUP_BANDWIDTH, cgroup_bandwidth)

char LICENSE[] SEC("license") = "GPL";
