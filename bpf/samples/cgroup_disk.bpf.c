// SPDX-License-Identifier: GPL-2.0-only
/* Samples the I/O of a cgroup on one disk. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cgroup_io.h"
#include "sample.h"

/* A search for the device of a row: the next device, and how many rows come before. */
struct io_search {
	const struct hlist_node *node;
	__u64 before;
	const struct blkcg_gq *found;
};

static long find_device(__u32 number, struct io_search *search)
{
	const struct hlist_node *node = search->node;
	const struct blkcg_gq *blkg;

	if (!node)
		return 1;
	blkg = (const void *)node - bpf_core_field_offset(struct blkcg_gq, blkcg_node);
	if (BPF_CORE_READ(blkg, online) && !search->before--) {
		search->found = blkg;
		return 1;
	}
	search->node = BPF_CORE_READ(node, next);
	return 0;
}

#define MINOR_BITS 20
#define LAST_ROW 15 /* of a record */

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_disks(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_disk disk = {}, values;
	struct io_search search = {};
	const struct hlist_node *last;
	const struct blkcg_gq *blkg;
	const struct blkcg *blkcg;
	__u32 number;

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_CGROUP_DISKS)
		return 0;
	blkcg = io_state(CGROUP_OF(context));
	if (blkcg) {
		search.before = SAMPLE_OF(context)->index;
		search.node = BPF_CORE_READ(blkcg, blkg_list.first);
		bpf_loop(DEVICES_MAX, find_device, &search, 0);
	}
	blkg = search.found;
	if (!blkg) {
		SAMPLE_IS_ABSENT(context);
		return 0;
	}
	number = BPF_CORE_READ(blkg, q, disk, part0, bd_dev);
	disk.major = number >> MINOR_BITS;
	disk.minor = number & ((1 << MINOR_BITS) - 1);
	add_io(blkg, &disk.io);
	/*
	 * Not search.node, for which BPF_CORE_READ() would relocate a structure that no kernel has.
	 */
	last = search.node;
	disk.io.left_out = SAMPLE_OF(context)->index == LAST_ROW && BPF_CORE_READ(last, next);
	values = disk;
	SAMPLE_OF(context)->number = number;
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
