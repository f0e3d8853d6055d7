// SPDX-License-Identifier: GPL-2.0-only
/* Samples the CPUs: their place and their frequency. */
#include "sampler.h"

#include <linux/cpufreq.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/topology.h>

#include <linux/dart_zero.h>

#define HZ_PER_KILOHERTZ 1000ULL

/* The kernel has -1 for unknown topology; like sysfs for an unknown node, this shows 0. */
static u64 place(int number)
{
	return max(number, 0);
}

static int sample_cpu(struct dart_sampler *sampler, u32 index, u64 *number, void *sample, u64 *time)
{
	struct dart_zero_cpu *cpu = sample;

	if (!cpu_online(index))
		return -ENODATA;
	*number = index;
	cpu->package = place(topology_physical_package_id(index));
	cpu->die = place(topology_die_id(index));
	cpu->core = place(topology_core_id(index));
	cpu->node = place(cpu_to_node(index));
	cpu->frequency = cpufreq_quick_get(index) * HZ_PER_KILOHERTZ;
	return 0;
}

static const struct dart_sampler_kind cpu_kind = {
	.name = "dart_zero_cpu",
	.length = sizeof(struct dart_zero_cpu),
	.sample_row = sample_cpu,
};

struct dart_sampler *dart_cpu_sampler_open(const struct dart_zero_window *window)
{
	struct dart_sampler *sampler = dart_sampler_new(&cpu_kind);

	if (IS_ERR(sampler))
		return sampler;
	sampler->indices = nr_cpu_ids;
	sampler->rows = num_possible_cpus();
	return sampler;
}
