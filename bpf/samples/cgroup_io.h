/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The devices that a cgroup used, and the I/O of each as in its line of io.stat.
 *
 * The kernel counts by CPU and adds up in flushes: a flush moves the counts of a CPU to the cgroup,
 * and the counts of a cgroup to its parent.  io.stat is the sum after a flush.  A flush takes a
 * lock that all containers share, and since Linux 6.16 only readers of io.stat flush.  So this code
 * adds the counts that a flush would move, for the cgroup and its descendants.
 *
 * Each move of the kernel is two writes: it adds to the destination (`iostat.cur`), then to the
 * count that left the source (`last`).  This code reads the destination before the source, and
 * parents before children, so a sum misses counts that move meanwhile; the next sum includes them.
 * The values shown never fall.  See also kmod/objects/cgroup_time.h.
 */
#ifndef CGROUP_IO_H
#define CGROUP_IO_H

#include "cpus.h"
#include "read.h"
#include "sample.h"

/*
 * Limit of visited devices of a cgroup, because preemption is off meanwhile, and users may be
 * allowed to create devices.
 */
#define DEVICES_MAX 128

/*
 * Limit of counts of CPUs that one sample reads, for the same reason: each takes 20 to 50 ns.  With
 * 64 CPUs and one disk, these are 256 descendants.
 */
#define CPU_COUNTS_MAX 16384

/* Since Linux 6.2 the kernel keeps lists of counts to flush. */
struct blkcg___listed {
	struct llist_head *lhead;
};

/* A line of io.stat. */
struct io_line {
	__u64 state; /* serial number of the io controller's state in the cgroup */
	__u64 disk; /* its sequence number, which unlike its device number is used once */
};

/* The counts last shown. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, struct io_line);
	__type(value, struct blkg_iostat);
} shown SEC(".maps");

/* A sum over a cgroup and its descendants, for one device after the other. */
struct io_walk {
	struct blkg_iostat sum; /* of the current device */
	struct blkg_iostat arrived, left; /* of add_remaining(): stacks of callbacks are small */
	const struct request_queue *queue; /* of the current device */
	const void *counts; /* by CPU: struct blkg_iostat_set */
	const void *lists; /* by CPU: counts of any device that a flush would move; or NULL */
	const struct cgroup_subsys_state *top;
	const struct cgroup_subsys_state *parent;
	const struct list_head *node; /* the next child of @parent */
	__u32 cpu_counts; /* read by this sample */
	bool is_cut; /* CPU_COUNTS_MAX was reached */
};

/* Adds @arrived - @left unless it is negative: counts then moved between the two reads. */
static __always_inline void add_difference(struct blkg_iostat *sum,
					   const struct blkg_iostat *arrived,
					   const struct blkg_iostat *left)
{
	__s64 difference;
	__u32 i;

#pragma unroll
	for (i = 0; i <= BLKG_IOSTAT_DISCARD; i++) {
		difference = arrived->bytes[i] - left->bytes[i];
		if (difference > 0)
			sum->bytes[i] += difference;
		difference = arrived->ios[i] - left->ios[i];
		if (difference > 0)
			sum->ios[i] += difference;
	}
}

static __always_inline void add_remaining(struct io_walk *walk,
					  const struct blkg_iostat_set *set)
{
	bpf_core_read(&walk->arrived, sizeof(walk->arrived), &set->cur);
	bpf_core_read(&walk->left, sizeof(walk->left), &set->last);
	add_difference(&walk->sum, &walk->arrived, &walk->left);
}

static long add_cpu(__u32 cpu, struct io_walk *walk)
{
	if (is_possible(cpu) && (!walk->lists || READ(__u64, at_cpu(walk->lists, cpu))))
		add_remaining(walk, at_cpu(walk->counts, cpu));
	return 0;
}

/* Adds the counts of CPUs, for a device of a cgroup, that a flush would move to the cgroup. */
static __always_inline void add_cpus(struct io_walk *walk, const struct blkcg_gq *blkg)
{
	const struct blkcg___listed *listed = (const void *)BPF_CORE_READ(blkg, blkcg);

	walk->cpu_counts += cpu_ids;
	walk->counts = BPF_CORE_READ(blkg, iostat_cpu);
	walk->lists = NULL;
	if (bpf_core_field_exists(listed->lhead))
		walk->lists = BPF_CORE_READ(listed, lhead);
	bpf_loop(cpu_ids, add_cpu, walk, 0);
}

/* A search for a device of a cgroup. */
struct io_search {
	const struct hlist_node *node; /* the next device */
	const struct request_queue *queue; /* NULL: any */
	__u64 before; /* matching devices to pass over */
	const struct blkcg_gq *found;
};

/* The devices that a cgroup used; NULL: none. */
static __always_inline const struct hlist_node *
first_device(const struct cgroup_subsys_state *state)
{
	const struct blkcg *blkcg =
		(const void *)state - bpf_core_field_offset(struct blkcg, css);

	return BPF_CORE_READ(blkcg, blkg_list.first);
}

static long find_device(__u32 number, struct io_search *search)
{
	const struct hlist_node *node = search->node;
	const struct blkcg_gq *blkg;

	if (!node)
		return 1;
	blkg = (const void *)node - bpf_core_field_offset(struct blkcg_gq, blkcg_node);
	search->node = BPF_CORE_READ(node, next);
	if (!BPF_CORE_READ(blkg, online) ||
	    (search->queue && BPF_CORE_READ(blkg, q) != search->queue))
		return 0;
	if (search->before) {
		search->before--;
		return 0;
	}
	search->found = blkg;
	return 1;
}

/* Adds the counts that a flush would move from a cgroup to its parent, as far as it lacks them. */
static __always_inline void add_below(const struct cgroup_subsys_state *state,
				      struct io_walk *walk)
{
	struct io_search search = {
		.node = first_device(state),
		.queue = walk->queue,
	};

	bpf_loop(DEVICES_MAX, find_device, &search, 0);
	if (!search.found)
		return;
	add_remaining(walk, (const void *)search.found +
				    bpf_core_field_offset(struct blkcg_gq, iostat));
	add_cpus(walk, search.found);
}

/* A step from cgroup to cgroup, each before its descendants. */
static long visit_next(__u32 number, struct io_walk *walk)
{
	const struct cgroup_subsys_state *parent = walk->parent, *state;
	const struct list_head *node = walk->node;

	if (!node)
		return 1;
	if (node == (const void *)parent +
			    bpf_core_field_offset(struct cgroup_subsys_state, children)) {
		if (parent == walk->top)
			return 1;
		walk->node = BPF_CORE_READ(parent, sibling.next);
		walk->parent = BPF_CORE_READ(parent, parent);
		return 0;
	}
	if (walk->cpu_counts >= CPU_COUNTS_MAX) {
		walk->is_cut = true;
		return 1;
	}
	state = (const void *)node - bpf_core_field_offset(struct cgroup_subsys_state, sibling);
	add_below(state, walk);
	walk->parent = state;
	walk->node = BPF_CORE_READ(state, children.next);
	return 0;
}

/* Raises @sum to at least the counts shown before, and stores it. */
static __always_inline void keep_shown(const struct blkcg_gq *blkg, struct blkg_iostat *sum)
{
	struct io_line line = {
		.state = BPF_CORE_READ(blkg, blkcg, css.serial_nr),
		.disk = BPF_CORE_READ(blkg, q, disk, diskseq),
	};
	struct blkg_iostat *before = bpf_map_lookup_elem(&shown, &line);

	if (!before) {
		bpf_map_update_elem(&shown, &line, sum, BPF_ANY);
		return;
	}
	add_difference(before, sum, before);
	*sum = *before;
}

/* Adds the line of a device to @values. */
static __always_inline void add_line(const struct blkcg_gq *blkg, struct io_walk *walk,
				     struct dart_zero_cgroup_io *values)
{
	/* A variable, because BPF_CORE_READ() would relocate struct io_walk as well. */
	const struct cgroup_subsys_state *top = walk->top;

	bpf_core_read(&walk->sum, sizeof(walk->sum), &blkg->iostat.cur);
	walk->queue = BPF_CORE_READ(blkg, q);
	add_cpus(walk, blkg);
	walk->parent = top;
	walk->node = BPF_CORE_READ(top, children.next);
	/* Two steps for each cgroup, as many as fit. */
	bpf_loop(2 * CPU_COUNTS_MAX, visit_next, walk, 0);
	keep_shown(blkg, &walk->sum);

	values->rbytes += walk->sum.bytes[BLKG_IOSTAT_READ];
	values->wbytes += walk->sum.bytes[BLKG_IOSTAT_WRITE];
	values->dbytes += walk->sum.bytes[BLKG_IOSTAT_DISCARD];
	values->rios += walk->sum.ios[BLKG_IOSTAT_READ];
	values->wios += walk->sum.ios[BLKG_IOSTAT_WRITE];
	values->dios += walk->sum.ios[BLKG_IOSTAT_DISCARD];
}

#endif /* CGROUP_IO_H */
