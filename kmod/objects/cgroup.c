// SPDX-License-Identifier: GPL-2.0-only
/* The CPU time of cgroups. */
#include "cgroup.h"

#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/dart_zero.h>

#include "cgroup_set.h"
#include "cgroup_time.h"
#include "kmod/base/compat.h"
#include "kmod/extents/percpu.h"

struct dart_cgroup {
	struct dart_percpu percpu;
	struct cgroup *cgroup;
	struct dart_cgroup_user user;	/* user of the record */
	/*
	 * The times that the record shows.  Guarded by the lock of the gathering once the record
	 * has joined.
	 */
	u64 times[DART_CGROUP_TIMES];
};

static struct dart_cgroup *held_of(struct dart_percpu *percpu)
{
	return container_of(percpu, struct dart_cgroup, percpu);
}

bool dart_cgroup_has_ended(const struct cgroup *cgroup)
{
	return !(READ_ONCE(cgroup->self.flags) & CSS_ONLINE);
}

static bool held_has_ended(const struct dart_percpu *percpu)
{
	const struct dart_cgroup *held = container_of(percpu, const struct dart_cgroup, percpu);

	return dart_cgroup_has_ended(held->cgroup);
}

static void held_free(struct dart_percpu *percpu)
{
	struct dart_cgroup *held = held_of(percpu);

	dart_cgroup_user_free(&held->user);
	cgroup_put(held->cgroup);
	kfree(held);
}

static int held_prepare(struct dart_percpu *percpu)
{
	struct dart_cgroup *held = held_of(percpu);

	dart_cgroup_sum(held->cgroup, held->times);
	return dart_cgroup_user_init(&held->user, held->cgroup);
}

static void held_join(struct dart_percpu *percpu, struct dart_cgroup_set *set)
{
	dart_cgroup_user_join(&held_of(percpu)->user, set);
}

static void held_leave(struct dart_percpu *percpu)
{
	dart_cgroup_user_leave(&held_of(percpu)->user);
}

/* Until a pass has summed the cgroup, the record shows the sum of held_prepare(). */
static void held_sum(struct dart_percpu *percpu, void *copy)
{
	struct dart_cgroup *held = held_of(percpu);
	const u64 *summed = dart_cgroup_user_times(&held->user);

	/* Times that a sum missed come with a later sum; a time never falls. */
	if (summed)
		dart_cgroup_advance(held->times, summed, DART_CGROUP_TIMES);
	memcpy(copy, held->times, sizeof(held->times));
}

static bool held_has_news(const struct dart_percpu *percpu)
{
	const struct dart_cgroup *held = container_of(percpu, const struct dart_cgroup, percpu);
	const u64 *summed = dart_cgroup_user_times(&held->user);
	u32 i;

	for (i = 0; summed && i < DART_CGROUP_TIMES; i++)
		if (summed[i] > held->times[i])
			return true;
	return false;
}

struct cgroup *dart_cgroup_get(int fd)
{
	struct cgroup *cgroup = cgroup_get_from_fd(fd);

	/* The kernel counts the time of the root only in the counters of the system. */
	if (!IS_ERR(cgroup) && !cgroup_parent(cgroup)) {
		cgroup_put(cgroup);
		return ERR_PTR(-EINVAL);
	}
	return cgroup;
}

struct dart_percpu *dart_cgroup_open_cpu(const struct dart_source *source,
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
			 sizeof(struct cgroup_base_stat), "cgroup_base_stat", held_free);
	held->percpu.has_ended = held_has_ended;
	held->percpu.sum = held_sum;
	held->percpu.prepare = held_prepare;
	held->percpu.join = held_join;
	held->percpu.leave = held_leave;
	held->percpu.has_news = held_has_news;
	return &held->percpu;
}
