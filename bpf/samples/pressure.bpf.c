// SPDX-License-Identifier: GPL-2.0-only
/* Samples the pressure of the host. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "pressure.h"
#include "sample.h"

static __u64 pressure; /* address */

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return FIND(pressure, "psi_system");
}

static __always_inline enum dart_zero_sample_answer take_pressure(struct dart_zero_pressure *values)
{
	const struct psi_group___psi *group = (const void *)pressure;

	/* psi=0 on the kernel's command line. */
	if (!BPF_CORE_READ(group, enabled))
		return DART_ZERO_ANSWER_ABSENT;
	*values = (struct dart_zero_pressure){
		PRESSURE_VALUES((const void *)group),
	};
	return DART_ZERO_ANSWER_VALUES;
}

HOST_SAMPLE(DART_ZERO_SOURCE_PRESSURE, pressure)

char LICENSE[] SEC("license") = "GPL";
