// SPDX-License-Identifier: GPL-2.0-only
/* Samples the bandwidth of a cgroup: cpu.max. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sample.h"

#define BANDWIDTH(member) BPF_CORE_READ(group, cfs_bandwidth.member)

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_bandwidth(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_bandwidth values;
	const struct task_group *group;

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_CGROUP_BANDWIDTH)
		return 0;
	group = (const void *)CGROUP_STATE(CGROUP_OF(context), cpu);
	if (!group) {
		SAMPLE_IS_ABSENT(context);
		return 0;
	}
	values = (struct dart_zero_cgroup_bandwidth){
		.nr_periods = (__u32)BANDWIDTH(nr_periods),
		.nr_throttled = (__u32)BANDWIDTH(nr_throttled),
		.throttled_time = BANDWIDTH(throttled_time),
		.nr_bursts = (__u32)BANDWIDTH(nr_burst),
		.quota = BANDWIDTH(quota),
		.period = BANDWIDTH(period),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
