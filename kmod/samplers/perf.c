// SPDX-License-Identifier: GPL-2.0-only
/* Samples the hardware counters of each CPU (PMU), through perf. */
#include "sampler.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include <linux/dart_zero.h>

#if IS_ENABLED(CONFIG_PERF_EVENTS)

/* The first words of struct dart_zero_perf, in their order. */
static const u64 counted[] = {
	PERF_COUNT_HW_CPU_CYCLES,	   PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CACHE_REFERENCES,	   PERF_COUNT_HW_CACHE_MISSES,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
};

static_assert(offsetof(struct dart_zero_perf, enabled) == ARRAY_SIZE(counted) * sizeof(u64));

struct perf_value {
	u64 count, enabled, running;
};

/* perf takes the events away from a CPU that goes offline, and does not return them. */
struct perf_counter {
	struct perf_event *event;
	struct perf_value before; /* of earlier events */
};

struct perf_cpu {
	struct perf_counter counters[ARRAY_SIZE(counted)];
	bool open;
};

struct perf_sampler {
	struct dart_sampler sampler;
	struct perf_cpu cpus[]; /* nr_cpu_ids */
};

/* Interrupts the CPU if it is counting. */
static struct perf_value read_counter(const struct perf_counter *counter)
{
	struct perf_value value = counter->before;
	u64 enabled, running;

	if (!counter->event)
		return value;
	value.count += perf_event_read_value(counter->event, &enabled, &running);
	value.enabled += enabled;
	value.running += running;
	return value;
}

static void close_counters(struct perf_cpu *cpu)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(counted); i++) {
		struct perf_counter *counter = &cpu->counters[i];

		if (!counter->event)
			continue;
		counter->before = read_counter(counter);
		perf_event_release_kernel(counter->event);
		counter->event = NULL;
	}
	cpu->open = false;
}

/* Returns the number of counters that the CPU has, or -errno. */
static int open_counters(struct perf_cpu *cpu, u32 number)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attributes),
	};
	struct perf_event *event;
	int i, found = 0;

	for (i = 0; i < ARRAY_SIZE(counted); i++) {
		attributes.config = counted[i];
		event = perf_event_create_kernel_counter(&attributes, number, NULL, NULL, NULL);
		/* A PMU may lack some of the counters. */
		if (PTR_ERR(event) == -ENOENT || PTR_ERR(event) == -EINVAL ||
		    PTR_ERR(event) == -EOPNOTSUPP)
			continue;
		if (IS_ERR(event)) {
			close_counters(cpu);
			return PTR_ERR(event);
		}
		cpu->counters[i].event = event;
		found++;
	}
	cpu->open = found;
	return found;
}

static bool has_lost_counters(const struct perf_cpu *cpu)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(counted); i++)
		if (cpu->counters[i].event &&
		    READ_ONCE(cpu->counters[i].event->state) < PERF_EVENT_STATE_INACTIVE)
			return true;
	return false;
}

static int sample_cpu(struct dart_sampler *base, u32 index, u64 *number, void *sample, u64 *time)
{
	struct perf_sampler *sampler = container_of(base, struct perf_sampler, sampler);
	struct perf_cpu *cpu = &sampler->cpus[index];
	struct dart_zero_perf *perf = sample;
	u64 *counts = sample;
	int i;

	if (cpu->open && (!cpu_online(index) || has_lost_counters(cpu)))
		close_counters(cpu);
	if (!cpu_online(index) || (!cpu->open && open_counters(cpu, index) <= 0))
		return -ENODATA;
	*number = index;
	perf->running = U64_MAX;
	for (i = 0; i < ARRAY_SIZE(counted); i++) {
		struct perf_value value = read_counter(&cpu->counters[i]);

		counts[i] = value.count;
		if (cpu->counters[i].event && value.running < perf->running) {
			perf->enabled = value.enabled;
			perf->running = value.running;
		}
	}
	return 0;
}

static void free_sampler(struct dart_sampler *base)
{
	struct perf_sampler *sampler = container_of(base, struct perf_sampler, sampler);
	u32 i;

	for (i = 0; i < nr_cpu_ids; i++)
		close_counters(&sampler->cpus[i]);
	kvfree(sampler);
}

static const struct dart_sampler_kind perf_kind = {
	.name = "dart_zero_perf",
	.length = sizeof(struct dart_zero_perf),
	.sample_row = sample_cpu,
	.free = free_sampler,
};

struct dart_sampler *dart_perf_sampler_open(const struct dart_zero_window *window)
{
	struct perf_sampler *sampler;
	u32 first;
	int found;

	sampler = kvzalloc(struct_size(sampler, cpus, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!sampler)
		return ERR_PTR(-ENOMEM);
	sampler->sampler.kind = &perf_kind;
	sampler->sampler.indices = nr_cpu_ids;
	sampler->sampler.rows = num_possible_cpus();

	/* The others are opened by the first pass that finds them online. */
	first = cpumask_first(cpu_online_mask);
	found = open_counters(&sampler->cpus[first], first);
	if (found <= 0) {
		kvfree(sampler);
		return ERR_PTR(found ?: -EOPNOTSUPP);
	}
	return &sampler->sampler;
}

#else

struct dart_sampler *dart_perf_sampler_open(const struct dart_zero_window *window)
{
	return ERR_PTR(-EOPNOTSUPP);
}

#endif /* CONFIG_PERF_EVENTS */
