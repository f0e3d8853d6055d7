// SPDX-License-Identifier: GPL-2.0-only
/* Samples the processes: how many are in each state. */
#include "sampler.h"

#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

/* Number of processes that are counted before other tasks may run. */
#define BATCH 1024

/* By task_state_index(), in the order of the letters in /proc/PID/stat. */
static void count_process(const struct task_struct *task, struct dart_zero_processes *processes)
{
	u64 *const counts[] = {
		&processes->running,	  &processes->sleeping,
		&processes->disk_sleep,	  &processes->stopped,
		&processes->tracing_stop, &processes->dead,
		&processes->zombie,	  &processes->parked,
		&processes->idle,
	};
	const unsigned int state = task_state_index((void *)task);

	processes->total++;
	if (state < ARRAY_SIZE(counts))
		++*counts[state];
}

/*
 * Ends the section of an RCU reader and begins another.  Returns false if @task has left the list
 * of processes meanwhile.
 */
static bool pause_at(struct task_struct *task)
{
	bool is_listed;

	get_task_struct(task);
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
	is_listed = pid_alive(task);
	put_task_struct(task);
	return is_listed;
}

static int sample_processes(struct dart_sampler *sampler, void *sample, u64 *time)
{
	struct dart_zero_processes *processes = sample;
	struct task_struct *task;
	int ret = 0;

	rcu_read_lock();
	for_each_process(task) {
		count_process(task, processes);
		if (processes->total % BATCH == 0 && !pause_at(task)) {
			ret = -EAGAIN;
			break;
		}
	}
	rcu_read_unlock();
	return ret;
}

const struct dart_sampler_kind dart_process_sampler = {
	.name = "dart_zero_processes",
	.length = sizeof(struct dart_zero_processes),
	.sample = sample_processes,
};
