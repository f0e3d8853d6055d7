// SPDX-License-Identifier: GPL-2.0-only
/* The CPU time of cgroups. */
#include "cgroup.h"

#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/slab.h>

#include <linux/dart_zero.h>

#include "compat.h"
#include "percpu.h"

struct dart_cgroup {
	struct dart_percpu percpu;
	struct cgroup *cgroup;
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
	held = kmalloc(sizeof(*held), GFP_KERNEL_ACCOUNT);
	if (!held) {
		cgroup_put(cgroup);
		return ERR_PTR(-ENOMEM);
	}
	held->cgroup = cgroup;
	dart_percpu_init(&held->percpu, &dart_cgroup_rstat(cgroup)->bstat,
			 sizeof(struct cgroup_base_stat), "cgroup_base_stat",
			 held_free);
	held->percpu.has_ended = held_has_ended;
	return &held->percpu;
}
