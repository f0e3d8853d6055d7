/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_OOM_WATCH_H
#define DART_ZERO_OOM_WATCH_H

/*
 * Calls dart_gather_at_once() soon after the kernel has killed a process for memory: the cgroup
 * of a service that dies of it can be removed before the next pass, and its counters with it.
 * Without the tracepoint nothing is called.
 */
int dart_oom_watch_init(void);
/* No call is under way or follows. */
void dart_oom_watch_exit(void);

#endif /* DART_ZERO_OOM_WATCH_H */
