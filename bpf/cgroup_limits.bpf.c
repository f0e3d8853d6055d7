// SPDX-License-Identifier: GPL-2.0-only
/* Samples of the tasks, the bandwidth, the pressure and the I/O of cgroups. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "pressure.h"
#include "sample.h"

/*
 * Devices of a cgroup whose I/O is added up: preemption is off meanwhile, and users may
 * be allowed to make devices.
 */
#define DEVICES_MAX 128

/* Before Linux 6.11. */
struct pids_cgroup___old {
	atomic64_t events_limit;
};

static __always_inline __u64 pids_events(const struct pids_cgroup *pids)
{
	const struct pids_cgroup___old *old = (const void *)pids;

	if (bpf_core_field_exists(old->events_limit))
		return BPF_CORE_READ(old, events_limit.counter);
	return BPF_CORE_READ(pids, events[PIDCG_MAX].counter);
}

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_pids(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_pids values;
	const struct pids_cgroup *pids;

	if (SAMPLE_OF(context)->source != SAMPLE_CGROUP_PIDS)
		return 0;
	pids = (const void *)CGROUP_STATE(CGROUP_OF(context), pids);
	if (!pids) {
		SAMPLE_OF(context)->answer = DART_ZERO_ANSWER_ABSENT;
		return 0;
	}
	values = (struct dart_zero_cgroup_pids){
		.tasks = BPF_CORE_READ(pids, counter.counter),
		.peak = bpf_core_field_exists(pids->watermark) ?
				BPF_CORE_READ(pids, watermark) :
				0,
		.max = BPF_CORE_READ(pids, limit.counter),
		.events_max = pids_events(pids),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

#define BANDWIDTH(member) BPF_CORE_READ(group, cfs_bandwidth.member)

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_bandwidth(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_bandwidth values;
	const struct task_group *group;

	if (SAMPLE_OF(context)->source != SAMPLE_CGROUP_BANDWIDTH)
		return 0;
	group = (const void *)CGROUP_STATE(CGROUP_OF(context), cpu);
	if (!group) {
		SAMPLE_OF(context)->answer = DART_ZERO_ANSWER_ABSENT;
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

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_pressure(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_pressure values;
	const struct psi_group *group;

	if (SAMPLE_OF(context)->source != SAMPLE_CGROUP_PRESSURE)
		return 0;
	group = BPF_CORE_READ(CGROUP_OF(context), psi);
	if (!group) {
		SAMPLE_OF(context)->answer = DART_ZERO_ANSWER_ABSENT;
		return 0;
	}
	values = (struct dart_zero_cgroup_pressure){
		PRESSURE_VALUES(group),
		.cpu_full = PRESSURE_TOTAL(group, PSI_CPU_FULL),
	};
	SAMPLE_ANSWER(context, values);
	return 0;
}

/* The device whose turn it is, and the sum of those before it. */
struct io_sum {
	const struct hlist_node *node;
	struct dart_zero_cgroup_io values;
};

#define IO(member, direction) BPF_CORE_READ(blkg, iostat.cur.member[direction])

static __always_inline void add_io(const struct blkcg_gq *blkg,
				   struct dart_zero_cgroup_io *sum)
{
	sum->rbytes += IO(bytes, BLKG_IOSTAT_READ);
	sum->wbytes += IO(bytes, BLKG_IOSTAT_WRITE);
	sum->dbytes += IO(bytes, BLKG_IOSTAT_DISCARD);
	sum->rios += IO(ios, BLKG_IOSTAT_READ);
	sum->wios += IO(ios, BLKG_IOSTAT_WRITE);
	sum->dios += IO(ios, BLKG_IOSTAT_DISCARD);
}

/* NULL: the io controller is not enabled, or its sums are not brought up to date. */
static __always_inline const struct blkcg *io_state(const struct cgroup *cgroup)
{
	if (!BPF_CORE_READ(cgroup, rstat_cpu))
		return NULL;
	return (const void *)CGROUP_STATE(cgroup, io);
}

static long add_device(__u32 number, struct io_sum *sum)
{
	const struct hlist_node *node = sum->node;
	const struct blkcg_gq *blkg;

	if (!node)
		return 1;
	blkg = (const void *)node -
	       bpf_core_field_offset(struct blkcg_gq, blkcg_node);
	if (BPF_CORE_READ(blkg, online))
		add_io(blkg, &sum->values);
	sum->node = BPF_CORE_READ(node, next);
	return 0;
}

/*
 * In the kernels whose flush of memory.stat, every 2 s, also flushes io.stat: since
 * Linux 6.16 each controller has its own, and struct cgroup has no rstat_cpu.
 */
SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_io(struct bpf_raw_tracepoint_args *context)
{
	struct dart_zero_cgroup_io values;
	const struct blkcg *blkcg;
	struct io_sum sum = {};

	if (SAMPLE_OF(context)->source != SAMPLE_CGROUP_IO)
		return 0;
	blkcg = io_state(CGROUP_OF(context));
	if (!blkcg) {
		SAMPLE_OF(context)->answer = DART_ZERO_ANSWER_ABSENT;
		return 0;
	}
	sum.node = BPF_CORE_READ(blkcg, blkg_list.first);
	bpf_loop(DEVICES_MAX, add_device, &sum, 0);
	sum.values.left_out = !!sum.node;
	values = sum.values;
	SAMPLE_ANSWER(context, values);
	return 0;
}

/* The device whose turn it is, and how many more come before the one that is asked. */
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
	blkg = (const void *)node -
	       bpf_core_field_offset(struct blkcg_gq, blkcg_node);
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

	if (SAMPLE_OF(context)->source != SAMPLE_CGROUP_DISKS)
		return 0;
	blkcg = io_state(CGROUP_OF(context));
	if (blkcg) {
		search.before = SAMPLE_OF(context)->index;
		search.node = BPF_CORE_READ(blkcg, blkg_list.first);
		bpf_loop(DEVICES_MAX, find_device, &search, 0);
	}
	blkg = search.found;
	if (!blkg) {
		SAMPLE_OF(context)->answer = DART_ZERO_ANSWER_ABSENT;
		return 0;
	}
	number = BPF_CORE_READ(blkg, q, disk, part0, bd_dev);
	disk.major = number >> MINOR_BITS;
	disk.minor = number & ((1 << MINOR_BITS) - 1);
	add_io(blkg, &disk.io);
	/* Not search.node: BPF_CORE_READ() would relocate a structure that no kernel has. */
	last = search.node;
	disk.io.left_out = SAMPLE_OF(context)->index == LAST_ROW &&
			   BPF_CORE_READ(last, next);
	values = disk;
	SAMPLE_OF(context)->number = number;
	SAMPLE_ANSWER(context, values);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
