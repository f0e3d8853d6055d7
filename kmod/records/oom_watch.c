// SPDX-License-Identifier: GPL-2.0-only
/* Learns through the tracepoint mark_victim that the kernel killed a process for memory. */
#include "oom_watch.h"

#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "gather.h"
#include "kmod/base/compat.h"

/* The kernel does not export its name to modules. */
static struct tracepoint *mark_victim;

static void gather_work(struct work_struct *work)
{
	dart_gather_at_once();
}

static DECLARE_WORK(kill_work, gather_work);

/* By now the counters of the cgroup include the kill, and the process still has its cgroup. */
static void on_kill(void *data, DART_MARK_VICTIM_PROTO)
{
	queue_work(system_dfl_wq, &kill_work);
}

static void find(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "mark_victim"))
		mark_victim = tracepoint;
}

int dart_oom_watch_init(void)
{
	for_each_kernel_tracepoint(find, NULL);
	if (!mark_victim)
		return 0;
	return tracepoint_probe_register(mark_victim, on_kill, NULL);
}

void dart_oom_watch_exit(void)
{
	if (mark_victim) {
		tracepoint_probe_unregister(mark_victim, on_kill, NULL);
		tracepoint_synchronize_unregister();
	}
	cancel_work_sync(&kill_work);
}
