// SPDX-License-Identifier: GPL-2.0-only
/* Samples the name of a mounted device, which the kernel does not export to modules. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sample.h"

SEC("raw_tp.w/dart_zero_sample")
int sample_filesystem(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_mount_device values = {};
	const struct mount *mount;

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_FILESYSTEM)
		return 0;
	/* The module passed the address of the member mnt. */
	mount = (const void *)(SAMPLE_OF(context)->values[0] -
			       bpf_core_field_offset(struct mount, mnt));
	bpf_probe_read_kernel_str(values.device, sizeof(values.device),
				  BPF_CORE_READ(mount, mnt_devname));
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
