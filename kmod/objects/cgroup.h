/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_CGROUP_H
#define DART_ZERO_CGROUP_H

#include "source.h"

struct cgroup;

/*
 * The cgroup whose directory @fd refers to, with a reference, or ERR_PTR(): -EINVAL for the root,
 * -EBADF, or an error of cgroup_get_from_fd().
 */
struct cgroup *dart_cgroup_get(int fd);

/* True if the directory of the cgroup was removed. */
bool dart_cgroup_has_ended(const struct cgroup *cgroup);

/*
 * The CPU time of a cgroup's own tasks, as the scheduler counts it, not summed over CPUs and
 * descendants.  A record has the sum over both.  The cgroup can be removed while this holds it.
 */
struct dart_percpu *dart_cgroup_open_cpu(const struct dart_source *source,
					 const struct dart_zero_window *window);

#endif /* DART_ZERO_CGROUP_H */
