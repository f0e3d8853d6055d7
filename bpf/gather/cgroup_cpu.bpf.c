// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers questions about the CPU times of cgroups.  Each answer is one row, the times of a cgroup
 * and all its descendants.
 *
 * The kernel counts times per CPU.  A flush moves them to the cgroup, and from there to its parent,
 * but flushes run only when a process reads a file, or on a timer seconds later.  So an answer is
 * the sum of the times that arrived at the cgroup and the times that wait at CPUs and in
 * descendants.  Each move is two writes: the kernel adds the time to the destination, then to the
 * total that left the source.  This program reads the destination first, as
 * kmod/objects/cgroup_time.h explains, so it can miss a time that moves meanwhile, and seldom
 * counts one twice.  If more times arrive at the cgroup during the sum, the program sums again.
 *
 * Callbacks keep their state in maps: see answer.h.
 */
#include "vmlinux.h"

#include "answer.h"

/* Words of the longest struct cgroup_base_stat; all its members are times. */
#define TIMES_MAX 8
/* Attempts at a sum while the kernel keeps moving times. */
#define ATTEMPTS 3
/* Depth below a cgroup to which a walk notices that a list changed. */
#define LEVELS 64
#define CGROUPS_MAX (1 << 20)
/* CPUs whose times a walk over all cgroups adds at once. */
#define CPUS_AT_ONCE 32
/* Visits to cgroups between two looks at the clock; a power of two. */
#define VISITS_AT_ONCE 8

/* Before Linux 6.16. */
struct cgroup_rstat_cpu___old {
	struct cgroup_base_stat bstat;
	struct cgroup_base_stat last_bstat;
	struct cgroup *updated_children;
	struct cgroup *updated_next;
} __attribute__((preserve_access_index));

struct cgroup___old {
	struct cgroup_rstat_cpu___old *rstat_cpu;
} __attribute__((preserve_access_index));

/* Since Linux 6.16. */
struct cgroup_rstat_base_cpu___new {
	struct cgroup_base_stat bstat;
	struct cgroup_base_stat last_bstat;
} __attribute__((preserve_access_index));

struct cgroup___new {
	struct cgroup_rstat_base_cpu___new *rstat_base_cpu;
} __attribute__((preserve_access_index));

#define HAS_UPDATED_LISTS bpf_core_field_exists(((struct cgroup___old *)0)->rstat_cpu)

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return answer__find_cpus();
}

/* A sum that continues from run to run until all CPUs are done. */
struct sum {
	__u64 arrived[TIMES_MAX]; /* at the cgroup, when the sum began */
	__u64 below[TIMES_MAX]; /* at CPUs, and in cgroups below */
	__u32 cpus_done;
	__u32 attempts;
	__u32 is_disturbed; /* the kernel moved times meanwhile */
	__u32 unused;
};

/*
 * A walk over cgroups, from the top down, for @cpu_count CPUs.  A later run can continue it.
 * Between two runs the kernel may free the cgroup at the place, so the next run finds it again by
 * the number of its node, which the kernel gives to no other node.
 */
struct walk {
	const struct cgroup *top;
	const struct cgroup *place;
	__u64 place_id; /* of a walk that stopped; 0: none */
	__u64 links[LEVELS]; /* updated_next of the place, and of the cgroups above it */
	__u32 first_cpu; /* place in the list of dartd */
	__u32 cpu_count;
	__u32 is_leaving; /* @place and its descendants are done */
	__u32 is_done;
	__u32 is_late; /* stopped at @place, to go on in a later run */
	__u32 unused;
};

/* Not static, because clang would divide them into variables with names that BTF refuses. */
struct sum sum;
struct walk walk;
__u64 counted[2 * TIMES_MAX]; /* times that arrived, then times that left */

#define TIMES (bpf_core_type_size(struct cgroup_base_stat) / sizeof(__u64))

/* Reads times, or two following groups of them. */
static __always_inline void read_times(__u64 *times, __u64 address, __u32 groups)
{
	__u32 size = bpf_core_type_size(struct cgroup_base_stat) * groups;

	if (size > TIMES_MAX * sizeof(__u64) * groups)
		size = TIMES_MAX * sizeof(__u64) * groups;
	bpf_probe_read_kernel(times, size, (const void *)address);
}

/* Reads the times that arrived before the times that left, as the kernel's copy does, too. */
static __always_inline void read_both(__u64 arrived_at, __u64 left_at)
{
	if (left_at == arrived_at + TIMES * sizeof(__u64)) {
		read_times(counted, arrived_at, 2);
		return;
	}
	read_times(counted, arrived_at, 1);
	if (TIMES <= TIMES_MAX)
		read_times(counted + TIMES, left_at, 1);
}

/*
 * Returns whether times arrived at one address and did not leave the other; adds them if @is_added.
 */
static __always_inline bool add_remaining(__u64 arrived_at, __u64 left_at, bool is_added)
{
	bool is_any = false;
	__s64 difference;
	__u32 i;

	read_both(arrived_at, left_at);
#pragma unroll
	for (i = 0; i < TIMES_MAX; i++) {
		if (i >= TIMES || TIMES > TIMES_MAX)
			continue;
		difference = counted[i] - counted[TIMES + i];
		if (difference <= 0)
			continue;
		is_any = true;
		if (is_added)
			sum.below[i] += difference;
	}
	return is_any;
}

/* Times of @cgroup, a descendant of the top, that its parent lacks.  See add_remaining(). */
static __always_inline bool add_moving(const struct cgroup *cgroup, bool is_added)
{
	return add_remaining(
		(__u64)cgroup + bpf_core_field_offset(struct cgroup, bstat),
		(__u64)cgroup + bpf_core_field_offset(struct cgroup, last_bstat), is_added);
}

static __always_inline const struct cgroup *cgroup_of(const struct cgroup_subsys_state *state)
{
	return (const void *)((const char *)state - bpf_core_field_offset(struct cgroup, self));
}

/*
 * Before Linux 6.16 the kernel links cgroups with times at a CPU in lists, which a flush takes
 * apart.  A cgroup can leave its list while the walk is there, and join it again, always at the
 * head: its link then leads to cgroups that the walk has visited.  The walk sees that the link
 * changed, and the sum is repeated.
 */
static __always_inline __u64 old_at_cpu(const struct cgroup *cgroup, __u32 place)
{
	const struct cgroup___old *old = (const void *)cgroup;

	return answer__at_cpu((__u64)BPF_CORE_READ(old, rstat_cpu), answer__cpu(place));
}

#define OLD(at, member) ((at) + bpf_core_field_offset(struct cgroup_rstat_cpu___old, member))

static long has_visited(__u32 place, __u32 *is_visited)
{
	if (!READ(__u64, OLD(old_at_cpu(walk.place, place), updated_next)))
		return 0;
	*is_visited = 1;
	return 1;
}

/* Adds the times that wait in @cgroup for a move to its parent, once and not at each CPU. */
static __always_inline void add_moving_once(const struct cgroup *cgroup)
{
	__u32 is_visited = 0;

	if (!add_moving(cgroup, false))
		return;
	bpf_loop(walk.first_cpu, has_visited, &is_visited, 0);
	if (!is_visited)
		add_moving(cgroup, true);
}

static __always_inline long walk_loses(void)
{
	sum.is_disturbed = 1;
	return 1;
}

/* Goes to the place after @place; @link is its updated_next. */
static __always_inline long leave_updated(const struct cgroup *place, __u64 link)
{
	const struct cgroup *parent;

	if (place == walk.top) {
		walk.is_done = 1;
		return 1;
	}
	parent = cgroup_of(BPF_CORE_READ(place, self.parent));
	walk.is_leaving = link == (__u64)parent;
	walk.place = (const void *)link;
	return 0;
}

/* Stops the walk if the time of this run is over. */
static __always_inline bool walk_is_late(__u32 round)
{
	const struct gather_exchange *in = answer__exchange();

	walk.is_late = !(round & (VISITS_AT_ONCE - 1)) && in && answer__is_late(in, round);
	return walk.is_late;
}

static long visit_updated(__u32 round, void *nothing)
{
	const struct cgroup *top = walk.top, *place = walk.place;
	const __u64 at = old_at_cpu(place, walk.first_cpu);
	const __u64 link = READ(__u64, OLD(at, updated_next));
	const __u32 level = BPF_CORE_READ(place, level) - BPF_CORE_READ(top, level);
	__u64 below;

	if (walk_is_late(round))
		return 1;
	if (!link)
		return walk_loses();
	if (walk.is_leaving) {
		if (level < LEVELS && walk.links[level & (LEVELS - 1)] != link)
			return walk_loses();
		return leave_updated(place, link);
	}
	if (level < LEVELS)
		walk.links[level & (LEVELS - 1)] = link;
	add_remaining(OLD(at, bstat), OLD(at, last_bstat), true);
	if (place != top)
		add_moving_once(place);
	below = READ(__u64, OLD(at, updated_children));
	if (!below || below == (__u64)place)
		return leave_updated(place, link);
	walk.place = (const void *)below;
	return 0;
}

struct skipping {
	__u64 lists; /* per CPU */
	__u32 cpus;
	__u32 unused;
};

static long skip_cpu(__u32 round, const struct skipping *skipping)
{
	const __u64 at = answer__at_cpu(skipping->lists, answer__cpu(sum.cpus_done));

	if (sum.cpus_done >= skipping->cpus || READ(__u64, OLD(at, updated_next)))
		return 1;
	sum.cpus_done++;
	return 0;
}

/* Most CPUs have no times of a cgroup that runs on few of them, or seldom. */
static __always_inline void skip_cpus(const struct cgroup *cgroup, __u32 cpus)
{
	const struct cgroup___old *old = (const void *)cgroup;
	struct skipping skipping = {
		.lists = (__u64)BPF_CORE_READ(old, rstat_cpu),
		.cpus = cpus,
	};

	bpf_loop(cpus, skip_cpu, &skipping, 0);
}

static __always_inline void walk_updated(__u32 rounds)
{
	if (!READ(__u64, OLD(old_at_cpu(walk.top, walk.first_cpu), updated_next))) {
		walk.is_done = 1;
		return;
	}
	bpf_loop(rounds, visit_updated, NULL, 0);
}

/*
 * Since Linux 6.16 the list of cgroups with times at a CPU is incomplete before a flush, so a walk
 * visits all cgroups.  A cgroup that leaves the list of its parent keeps its link, and stays
 * allocated until the RCU section ends.
 */
static long add_cpu(__u32 number, void *nothing)
{
	const struct cgroup___new *cgroup = (const void *)walk.place;
	const __u64 at = answer__at_cpu((__u64)BPF_CORE_READ(cgroup, rstat_base_cpu),
					answer__cpu(walk.first_cpu + number));

	add_remaining(at + bpf_core_field_offset(struct cgroup_rstat_base_cpu___new, bstat),
		      at + bpf_core_field_offset(struct cgroup_rstat_base_cpu___new, last_bstat),
		      true);
	return 0;
}

static __always_inline long go_to_sibling(const struct cgroup *place)
{
	const struct cgroup_subsys_state *parent;
	__u64 next, head;

	if (place == walk.top) {
		walk.is_done = 1;
		return 1;
	}
	next = (__u64)BPF_CORE_READ(place, self.sibling.next);
	parent = BPF_CORE_READ(place, self.parent);
	head = (__u64)parent + bpf_core_field_offset(struct cgroup_subsys_state, children);
	walk.is_leaving = next == head;
	walk.place = next == head ? cgroup_of(parent) :
				    cgroup_of((const void *)(next - bpf_core_field_offset(
						struct cgroup_subsys_state, sibling)));
	return 0;
}

static long visit_descendant(__u32 round, void *nothing)
{
	const struct cgroup *place = walk.place;
	const __u64 head = (__u64)place + bpf_core_field_offset(struct cgroup, self.children);
	__u64 first;

	if (walk_is_late(round))
		return 1;
	if (walk.is_leaving)
		return go_to_sibling(place);
	if (place != walk.top && !walk.first_cpu)
		add_moving(place, true);
	bpf_loop(walk.cpu_count, add_cpu, NULL, 0);
	first = READ(__u64, head);
	if (!first)
		return walk_loses();
	if (first == head)
		return go_to_sibling(place);
	walk.place = cgroup_of((const void *)(first - bpf_core_field_offset(
							      struct cgroup_subsys_state,
							      sibling)));
	return 0;
}

/*
 * The node of a number in the tree (struct xarray) of all nodes of a file system, or NULL.  Slots
 * with the bits 10 lead to another level of the tree.
 */
#define TREE_LEVELS 6
#define LEADS_ON(slot) (((slot) & 3) == 2 && (slot) > 4096)

static __always_inline const struct kernfs_node *node_of(const struct kernfs_root *root, __u64 id)
{
	__u64 slot = (__u64)BPF_CORE_READ(root, ino_idr.idr_rt.xa_head);
	const struct xa_node *level = NULL;
	const struct kernfs_node *node;
	__u32 i, index;

#pragma unroll
	for (i = 0; i < TREE_LEVELS; i++) {
		if (!LEADS_ON(slot))
			break;
		level = (const void *)(slot - 2);
		index = (__u32)id >> BPF_CORE_READ(level, shift);
		index &= bpf_core_field_size(struct xa_node, slots) / sizeof(slot) - 1;
		slot = READ(__u64, (__u64)level + bpf_core_field_offset(struct xa_node, slots) +
					   sizeof(slot) * index);
	}
	node = (const void *)slot;
	return BPF_CORE_READ(node, id) == id ? node : NULL;
}

/* Is the place of a walk that stopped still the same cgroup, and not freed? */
static __always_inline bool walk_finds_place(void)
{
	const struct cgroup *top = walk.top;
	const struct kernfs_node *node =
		node_of(BPF_CORE_READ(top, root, kf_root), walk.place_id);

	return node && BPF_CORE_READ(node, priv) == walk.place;
}

static __always_inline void walk_begin(const struct cgroup *cgroup, __u32 cpus)
{
	walk.top = cgroup;
	walk.place = cgroup;
	walk.first_cpu = sum.cpus_done;
	walk.cpu_count = 1;
	walk.is_leaving = 0;
	walk.is_done = 0;
	if (HAS_UPDATED_LISTS)
		return;
	walk.cpu_count = cpus - sum.cpus_done;
	if (walk.cpu_count > CPUS_AT_ONCE)
		walk.cpu_count = CPUS_AT_ONCE;
}

static __always_inline __u64 arrived_at(const struct cgroup *cgroup)
{
	return (__u64)cgroup + bpf_core_field_offset(struct cgroup, bstat);
}

static __always_inline void sum_begin(const struct cgroup *cgroup, __u32 attempts)
{
	__builtin_memset(&sum, 0, sizeof(sum));
	walk.place_id = 0;
	sum.attempts = attempts;
	read_times(sum.arrived, arrived_at(cgroup), 1);
}

/* Adds the times at the next CPUs; returns false if the next run must go on. */
static __always_inline bool sum_go_on(const struct cgroup *cgroup, __u32 cpus)
{
	__u32 cgroups = BPF_CORE_READ(cgroup, nr_descendants) +
			BPF_CORE_READ(cgroup, nr_dying_descendants) + 1;
	const __u32 rounds = cgroups + LEVELS < CGROUPS_MAX ? cgroups + LEVELS : CGROUPS_MAX;
	const struct cgroup *place;

	walk.is_late = 0;
	if (!walk.place_id)
		walk_begin(cgroup, cpus);
	else if (!walk_finds_place())
		walk_loses();
	walk.place_id = 0;
	if (!sum.is_disturbed) {
		/* A walk enters each cgroup, and leaves it. */
		if (HAS_UPDATED_LISTS)
			walk_updated(2 * rounds);
		else
			bpf_loop(2 * rounds, visit_descendant, NULL, 0);
	}
	if (walk.is_late) {
		place = walk.place;
		walk.place_id = BPF_CORE_READ(place, kn, id);
		return false;
	}
	if (!walk.is_done)
		walk_loses();
	sum.cpus_done += walk.cpu_count;
	return true;
}

static __always_inline bool is_disturbed(const struct cgroup *cgroup)
{
	bool is_changed = false;
	__u32 i;

	read_times(counted, arrived_at(cgroup), 1);
#pragma unroll
	for (i = 0; i < TIMES_MAX; i++)
		if (i < TIMES && counted[i] != sum.arrived[i])
			is_changed = true;
	return is_changed || sum.is_disturbed;
}

static __always_inline int sum_answer(struct gather_question *question)
{
	__u64 *word;
	__u32 i;

	if ((__u64)question->offset + question->length > TIMES * sizeof(__u64))
		return -EINVAL;
#pragma unroll
	for (i = 0; i < TIMES_MAX; i++) {
		if (i * sizeof(__u64) < question->offset ||
		    i * sizeof(__u64) >= question->offset + question->length)
			continue;
		word = answer__append(sizeof(*word));
		if (!word)
			return -ENOSPC;
		*word = sum.arrived[i] + sum.below[i];
	}
	question->rows = 1;
	question->answer = GATHER_VALUES;
	return 0;
}

struct summing {
	struct gather_question *question;
	const struct cgroup *cgroup;
	__u64 cursor; /* of the exchange, when the run began */
	__u32 cpus;
	int ret;
};

/* One step of a sum, or its end. */
static long sum_step(__u32 round, struct summing *summing)
{
	struct gather_exchange *in = answer__exchange();

	if (!in)
		return 1;
	if (HAS_UPDATED_LISTS && !walk.place_id)
		skip_cpus(summing->cgroup, summing->cpus);
	if (answer__is_late(in, round) ||
	    (sum.cpus_done < summing->cpus && !sum.is_disturbed &&
	     !sum_go_on(summing->cgroup, summing->cpus))) {
		/* Not 0, and not as before: the next run goes on. */
		in->cursor = summing->cursor + 1;
		return 1;
	}
	if (sum.cpus_done < summing->cpus && !sum.is_disturbed)
		return 0;
	if (!is_disturbed(summing->cgroup)) {
		summing->ret = 0;
		return 1;
	}
	if (sum.attempts >= ATTEMPTS) {
		summing->ret = -EBUSY;
		return 1;
	}
	sum_begin(summing->cgroup, sum.attempts + 1);
	return 0;
}

static __always_inline int cgroup_cpu(struct gather_question *question)
{
	struct gather_exchange *in = answer__exchange();
	struct summing summing = { .cpus = answer__cpu_count(), .ret = -EAGAIN };

	if (!in)
		return -EINVAL;
	summing.cursor = in->cursor;
	in->cursor = 0;
	summing.cgroup = answer__cgroup(question);
	if (!summing.cgroup) {
		question->answer = GATHER_ENDED;
		return 0;
	}
	if (!summing.cursor)
		sum_begin(summing.cgroup, 1);
	bpf_loop((GATHER_CPUS + 1) * ATTEMPTS, sum_step, &summing, 0);
	return summing.ret ?: sum_answer(question);
}

ANSWER_QUESTIONS(cgroup_cpu)

char LICENSE[] SEC("license") = "GPL";
