/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_OOM_WATCH_H
#define DART_ZERO_OOM_WATCH_H

/*
 * Calls dart_gather_at_once() soon after the kernel has killed a process for memory.  The cgroup of
 * a service that dies of the kill can be removed before the next regular pass, and its counters
 * with it.  Does nothing on kernels without the tracepoint.
 */
int dart_oom_watch_init(void);
/* Afterwards no call is running and no call follows. */
void dart_oom_watch_exit(void);

#endif /* DART_ZERO_OOM_WATCH_H */
