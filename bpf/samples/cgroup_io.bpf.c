// SPDX-License-Identifier: GPL-2.0-only
/* Samples the I/O of a cgroup, the sum over its devices. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cgroup_io.h"
#include "sample.h"

/* The next device, and the sum of the devices before it. */
struct io_sum {
	const struct hlist_node *node;
	struct dart_zero_cgroup_io values;
};

static long add_device(__u32 number, struct io_sum *sum)
{
	const struct hlist_node *node = sum->node;
	const struct blkcg_gq *blkg;

	if (!node)
		return 1;
	blkg = (const void *)node - bpf_core_field_offset(struct blkcg_gq, blkcg_node);
	if (BPF_CORE_READ(blkg, online))
		add_io(blkg, &sum->values);
	sum->node = BPF_CORE_READ(node, next);
	return 0;
}

/*
 * For kernels whose flush of memory.stat, every 2 s, also flushes io.stat.  Since Linux 6.16 each
 * controller is flushed by itself, and struct cgroup has no rstat_cpu.
 */
SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_io(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_io values;
	const struct blkcg *blkcg;
	struct io_sum sum = {};

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_CGROUP_IO)
		return 0;
	blkcg = io_state(CGROUP_OF(context));
	if (!blkcg) {
		SAMPLE_IS_ABSENT(context);
		return 0;
	}
	sum.node = BPF_CORE_READ(blkcg, blkg_list.first);
	bpf_loop(DEVICES_MAX, add_device, &sum, 0);
	sum.values.left_out = !!sum.node;
	values = sum.values;
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
