// SPDX-License-Identifier: GPL-2.0-only
/* Samples the load of the host, its uptime, its CPUs and its random numbers. */
#include "sampler.h"

#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/sched/loadavg.h>
#include <linux/timekeeping.h>

static int sample_load(struct dart_sampler *sampler, void *sample, u64 *time)
{
	struct dart_zero_load *load = sample;
	struct timespec64 boot;

	load->load1 = READ_ONCE(avenrun[0]);
	load->load5 = READ_ONCE(avenrun[1]);
	load->load15 = READ_ONCE(avenrun[2]);
	load->uptime = *time;
	load->online_cpus = num_online_cpus();
	getboottime64(&boot);
	load->boot_time = timespec64_to_ns(&boot);
	load->random_ready = rng_is_initialized();
	return 0;
}

const struct dart_sampler_kind dart_load_sampler = {
	.name = "dart_zero_load",
	.length = sizeof(struct dart_zero_load),
	.sample = sample_load,
};
