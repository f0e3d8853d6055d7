/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Learns through an eBPF program that the kernel kills a process for memory: the cgroup of the
 * process may end before the next pass, so its last values must be gathered now.
 */
#ifndef OOM_WATCH_H
#define OOM_WATCH_H

#include <stdbool.h>

#include <libdart/error.h>

struct oom_watch {
	struct oom_watch_bpf *programs; /* NULL: closed */
	struct ring_buffer *kills;
	int fd; /* readable after a kill; -1: closed */
};

/* Returns 0 or -errno; after an error the watch is closed. */
int oom_watch__open(struct oom_watch *watch, struct dart_error *error);
/* Closes the watch, unless it is closed. */
void oom_watch__close(struct oom_watch *watch);
/* Makes @fd unreadable until the next kill.  Returns true if the kernel killed since the last call. */
bool oom_watch__take(struct oom_watch *watch);

#endif /* OOM_WATCH_H */
