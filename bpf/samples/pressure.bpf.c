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

SEC("raw_tp.w/dart_zero_sample")
int sample_pressure(struct bpf_raw_tracepoint_args *context)
{
	const struct psi_group___psi *group = (const void *)pressure;
	struct dart_zero_pressure values;

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_PRESSURE)
		return 0;
	/* psi=0 on the kernel's command line. */
	if (!BPF_CORE_READ(group, enabled)) {
		SAMPLE_IS_ABSENT(context);
		return 0;
	}
	values = (struct dart_zero_pressure){
		PRESSURE_VALUES((const void *)group),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
