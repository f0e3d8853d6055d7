/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Idle time of CPUs by a direct cpustat.  The kernel's counters of it lag and jump, because a
 * CPU that sleeps has no ticks; all other modes are right.  So idle time is the time since
 * boot less those, and never falls; of it, as much is iowait as the kernel has counted.  A CPU
 * that was offline, or a suspended host, was idle.
 *
 * Kept of a target as long as its host does not boot again: in the thread that has the
 * target's samples.
 */
#ifndef CONTROLLER_IDLE_TIMES_H
#define CONTROLLER_IDLE_TIMES_H

#include "tools/controller/decode/sample.h"

struct idle_time {
	uint64_t idle_ns;
	uint64_t iowait_ns;
};

/* All zeros has no state yet. */
struct idle_times {
	struct idle_time *cpus; /* by number */
	uint32_t cpu_count;
	uint8_t boot_id[16];
	/* Time since the boot at a moment of CLOCK_MONOTONIC, the first scrape's. */
	int64_t uptime_ns;
	uint64_t at_ns;
	bool has_uptime;
};

/* Makes room for the CPUs of @entry, and forgets another boot.  Returns 0 or -ENOMEM. */
int idle_times__prepare(struct idle_times *times, const struct sample *sample,
			const struct sample_entry *entry);
/* @entry is the direct cpustat of @sample; prepared before. */
void idle_times__update(struct idle_times *times, const struct sample *sample,
			const struct sample_entry *entry);
void idle_times__free(struct idle_times *times);

#endif /* CONTROLLER_IDLE_TIMES_H */
