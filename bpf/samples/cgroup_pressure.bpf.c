// SPDX-License-Identifier: GPL-2.0-only
/* Samples the pressure of a cgroup. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "pressure.h"
#include "sample.h"

static __always_inline enum dart_zero_sample_answer
take_cgroup_pressure(const struct cgroup *cgroup, struct dart_zero_cgroup_pressure *values)
{
	const struct psi_group *group;

	group = BPF_CORE_READ(cgroup, psi);
	if (!group)
		return DART_ZERO_ANSWER_ABSENT;
	*values = (struct dart_zero_cgroup_pressure){
		PRESSURE_VALUES(group),
		.cpu_full = PRESSURE_TOTAL(group, PSI_CPU_FULL),
	};
	return DART_ZERO_ANSWER_VALUES;
}

CGROUP_SAMPLE(DART_ZERO_SOURCE_CGROUP_PRESSURE, cgroup_pressure)

char LICENSE[] SEC("license") = "GPL";
