/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Computes the idle time of CPUs from a direct cpustat. The kernel's idle counters lag and jump,
 * because a sleeping CPU receives no ticks; the counters of all other modes are right. So idle time
 * is the time since boot less all other modes, and never falls; the part that the kernel counted as
 * iowait becomes iowait. A CPU that was offline, or a suspended host, counts as idle.
 *
 * The thread that owns the target's samples keeps the state of a target until its host boots again.
 */
#ifndef CONTROLLER_IDLE_TIMES_H
#define CONTROLLER_IDLE_TIMES_H

#include "tools/controller/decode/sample.h"

struct idle_time {
	uint64_t idle_ns;
	uint64_t iowait_ns;
};

/* Zeroed memory contains no state yet. */
struct idle_times {
	struct idle_time *cpus; /* indexed by CPU number */
	uint32_t cpu_count;
	uint8_t boot_id[16];
	/*
	 * Time since boot, and the CLOCK_MONOTONIC of the first scrape, at which it was measured.
	 */
	int64_t uptime_ns;
	uint64_t at_ns;
	bool has_uptime;
};

/*
 * Makes room for the CPUs of @entry, and discards the state of another boot. Returns 0 or -ENOMEM.
 */
int idle_times__prepare(struct idle_times *times, const struct sample *sample,
			const struct sample_entry *entry);
/*
 * Updates the state from @entry, the direct cpustat of @sample; call idle_times__prepare() first.
 */
void idle_times__update(struct idle_times *times, const struct sample *sample,
			const struct sample_entry *entry);
void idle_times__free(struct idle_times *times);

#endif /* CONTROLLER_IDLE_TIMES_H */
