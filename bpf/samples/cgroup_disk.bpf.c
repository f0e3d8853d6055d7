// SPDX-License-Identifier: GPL-2.0-only
/* Samples the I/O of a cgroup on one disk. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cgroup_io.h"
#include "sample.h"

#define MINOR_BITS 20
#define LAST_ROW 15 /* of a record */

/* Returns the number of the device of row @index, or 0 if the cgroup used fewer devices. */
static __always_inline __u32 take_disk(const struct cgroup_subsys_state *state, __u64 index,
				       struct dart_zero_cgroup_disk *disk)
{
	const struct blkcg *blkcg =
		(const void *)state - bpf_core_field_offset(struct blkcg, css);
	struct io_search search = {
		.node = BPF_CORE_READ(blkcg, blkg_list.first),
		.before = index,
	};
	struct io_walk walk = { .top = state };
	const struct blkcg_gq *blkg;
	__u32 number;

	bpf_loop(DEVICES_MAX, find_device, &search, 0);
	blkg = search.found;
	if (!blkg)
		return 0;
	number = BPF_CORE_READ(blkg, q, disk, part0, bd_dev);
	disk->major = number >> MINOR_BITS;
	disk->minor = number & ((1 << MINOR_BITS) - 1);
	add_line(blkg, &walk, &disk->io);
	disk->io.left_out = walk.is_cut || (index == LAST_ROW && search.node);
	return number;
}

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return find_cpus();
}

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_disks(struct bpf_raw_tracepoint_args *context)
{
	const struct cgroup_subsys_state *state;
	struct dart_zero_cgroup_disk values = {};
	__u32 number = 0;

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_CGROUP_DISKS)
		return 0;
	state = CGROUP_STATE(CGROUP_OF(context), io);
	if (state)
		number = take_disk(state, SAMPLE_OF(context)->index, &values);
	if (!number) {
		SAMPLE_IS_ABSENT(context);
		return 0;
	}
	SAMPLE_OF(context)->number = number;
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
