// SPDX-License-Identifier: GPL-2.0-only
/* Samples the pressure of a cgroup. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "pressure.h"
#include "sample.h"

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_pressure(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_pressure values;
	const struct psi_group *group;

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_CGROUP_PRESSURE)
		return 0;
	group = BPF_CORE_READ(CGROUP_OF(context), psi);
	if (!group) {
		SAMPLE_IS_ABSENT(context);
		return 0;
	}
	values = (struct dart_zero_cgroup_pressure){
		PRESSURE_VALUES(group),
		.cpu_full = PRESSURE_TOTAL(group, PSI_CPU_FULL),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
