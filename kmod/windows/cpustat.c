// SPDX-License-Identifier: GPL-2.0-only
/* Up-to-date CPU time of a CPU. */
#include "cpustat.h"

#include <linux/cpumask.h>
#include <linux/kernel_stat.h>
#include <linux/tick.h>
#include <linux/time64.h>

/* Like get_idle_time() and get_iowait_time() of fs/proc/stat.c. */
static void set_measured(u64 *counter, u64 microseconds)
{
	if (microseconds != -1ULL)
		*counter = microseconds * NSEC_PER_USEC;
}

void dart_cpustat_read(unsigned int cpu, void *copy)
{
	struct kernel_cpustat *cpustat = copy;

	kcpustat_cpu_fetch(cpustat, cpu);
	if (!cpu_online(cpu))
		return;
	set_measured(&cpustat->cpustat[CPUTIME_IDLE], get_cpu_idle_time_us(cpu, NULL));
	set_measured(&cpustat->cpustat[CPUTIME_IOWAIT], get_cpu_iowait_time_us(cpu, NULL));
}
