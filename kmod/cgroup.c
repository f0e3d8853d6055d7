// SPDX-License-Identifier: GPL-2.0-only
/* The CPU time of cgroups. */
#include "cgroup.h"

#include <linux/build_bug.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <linux/dart_zero.h>

#include "compat.h"
#include "percpu.h"

/* All members of struct cgroup_base_stat are times of 8 bytes. */
#define TIMES (sizeof(struct cgroup_base_stat) / sizeof(u64))

static_assert(sizeof(struct cgroup_base_stat) % sizeof(u64) == 0);

/* So many cgroups are visited before other tasks can run. */
#define BATCH 64

struct dart_cgroup {
	struct dart_percpu percpu;
	struct cgroup *cgroup;
	u64 last[TIMES];	/* guarded by the lock of the gathering */
};

bool dart_cgroup_has_ended(const struct cgroup *cgroup)
{
	return !(READ_ONCE(cgroup->self.flags) & CSS_ONLINE);
}

static bool held_has_ended(const struct dart_percpu *percpu)
{
	return dart_cgroup_has_ended(
		container_of(percpu, const struct dart_cgroup, percpu)->cgroup);
}

static void held_free(struct dart_percpu *percpu)
{
	struct dart_cgroup *held =
		container_of(percpu, struct dart_cgroup, percpu);

	cgroup_put(held->cgroup);
	kfree(held);
}

static void add(u64 *times, const struct cgroup_base_stat *stat)
{
	const u64 *more = (const u64 *)stat;
	size_t i;

	for (i = 0; i < TIMES; i++)
		times[i] += READ_ONCE(more[i]);
}

static void subtract(u64 *times, const struct cgroup_base_stat *stat)
{
	const u64 *less = (const u64 *)stat;
	size_t i;

	for (i = 0; i < TIMES; i++)
		times[i] -= READ_ONCE(less[i]);
}

/* What CPUs have counted for @cgroup and not yet handed to it. */
static void add_cpus(u64 *times, struct cgroup *cgroup)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		add(times, &per_cpu_ptr(dart_cgroup_rstat(cgroup), cpu)->bstat);
		subtract(times, &per_cpu_ptr(dart_cgroup_rstat(cgroup), cpu)
					 ->last_bstat);
	}
}

/*
 * The kernel moves times from CPUs to their cgroup, and on to its parents, periodically and when
 * cpu.stat is read, under a lock that all cgroups share.  This function takes no lock: it adds
 * the times that have arrived at @cgroup, those of ended cgroups among them, to the times that
 * are still at the CPUs and cgroups below.  It reads parents before children, so that a time
 * that moves meanwhile is missed once, and never counted twice.
 */
static void add_subtree(u64 *times, struct cgroup *cgroup)
{
	struct cgroup_subsys_state *state;
	struct cgroup *below;
	u32 count = 0;

	add(times, &cgroup->bstat);
	rcu_read_lock();
	css_for_each_descendant_pre(state, &cgroup->self) {
		below = container_of(state, struct cgroup, self);
		if (below != cgroup) {
			add(times, &below->bstat);
			subtract(times, &below->last_bstat);
		}
		add_cpus(times, below);
		if (++count % BATCH || !css_tryget(state))
			continue;
		rcu_read_unlock();
		cond_resched();
		rcu_read_lock();
		css_put(state);
	}
	rcu_read_unlock();
}

static void held_sum(struct dart_percpu *percpu, void *copy)
{
	struct dart_cgroup *held =
		container_of(percpu, struct dart_cgroup, percpu);
	u64 *times = copy;
	size_t i;

	add_subtree(times, held->cgroup);
	/* What was missed comes with the next sum: a time does not fall. */
	for (i = 0; i < TIMES; i++) {
		times[i] = max(times[i], held->last[i]);
		held->last[i] = times[i];
	}
}

struct cgroup *dart_cgroup_get(int fd)
{
	struct cgroup *cgroup = cgroup_get_from_fd(fd);

	/* The kernel counts for the root in the system's counters only. */
	if (!IS_ERR(cgroup) && !cgroup_parent(cgroup)) {
		cgroup_put(cgroup);
		return ERR_PTR(-EINVAL);
	}
	return cgroup;
}

struct dart_percpu *
dart_cgroup_open_cpu(const struct dart_source *source,
		     const struct dart_zero_window *window)
{
	struct cgroup *cgroup = dart_cgroup_get(window->fd);
	struct dart_cgroup *held;

	if (IS_ERR(cgroup))
		return ERR_CAST(cgroup);
	held = kzalloc(sizeof(*held), GFP_KERNEL_ACCOUNT);
	if (!held) {
		cgroup_put(cgroup);
		return ERR_PTR(-ENOMEM);
	}
	held->cgroup = cgroup;
	dart_percpu_init(&held->percpu, &dart_cgroup_rstat(cgroup)->bstat,
			 sizeof(struct cgroup_base_stat), "cgroup_base_stat",
			 held_free);
	held->percpu.has_ended = held_has_ended;
	held->percpu.sum = held_sum;
	return &held->percpu;
}
