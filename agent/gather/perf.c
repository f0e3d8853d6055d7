// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples the hardware counters of each CPU over perf_event_open(2).  A read interrupts a CPU that
 * counts, and waits for nothing else.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/base/host.h"
#include "own_sample.h"

/* The first words of struct dart_zero_perf, in their order. */
static const uint64_t counted[] = {
	PERF_COUNT_HW_CPU_CYCLES,	   PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CACHE_REFERENCES,	   PERF_COUNT_HW_CACHE_MISSES,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
};

#define COUNTERS (sizeof(counted) / sizeof(counted[0]))

_Static_assert(offsetof(struct dart_zero_perf, enabled) == sizeof(counted), "different counters");

/* As read(2) returns it. */
struct perf_value {
	uint64_t count, enabled, running; /* times in ns */
};

/*
 * When a CPU goes offline, perf takes its events away, and does not return them to it later.  Such
 * an event keeps its values, so @before adds up the events that were closed.
 */
struct perf_counter {
	int fd; /* -1: the CPU lacks this counter, or is closed */
	struct perf_value last; /* of @fd */
	struct perf_value before; /* of earlier events */
};

struct perf_cpu {
	struct perf_counter counters[COUNTERS];
	bool is_open;
};

struct perf_sample {
	struct own_sample sample; /* first: see own_sample.h */
	struct perf_cpu cpus[]; /* @sample.rows */
};

static void close_counters(struct perf_cpu *cpu)
{
	struct perf_counter *counter;

	for (counter = cpu->counters; counter < cpu->counters + COUNTERS; counter++) {
		if (counter->fd >= 0)
			close(counter->fd);
		counter->fd = -1;
		counter->before.count += counter->last.count;
		counter->before.enabled += counter->last.enabled;
		counter->before.running += counter->last.running;
		counter->last = (struct perf_value){};
	}
	cpu->is_open = false;
}

/* Returns a descriptor or -errno; -EPERM: dartd may not count. */
static int open_counter(uint64_t event, uint32_t cpu)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attributes),
		.config = event,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	const int fd =
		syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	return fd;
}

/* Returns the number of counters that the CPU has, or -errno; -ENODEV: it is offline. */
static int open_counters(struct perf_cpu *cpu, uint32_t number)
{
	int found = 0, fd;
	size_t i;

	for (i = 0; i < COUNTERS; i++) {
		fd = open_counter(counted[i], number);
		/* A PMU may lack some of the counters. */
		if (fd == -ENOENT || fd == -EINVAL || fd == -EOPNOTSUPP)
			continue;
		if (fd < 0) {
			close_counters(cpu);
			return fd;
		}
		cpu->counters[i].fd = fd;
		found++;
	}
	cpu->is_open = found;
	return found;
}

/* Returns false if perf took an event away: then its time stands still. */
static bool read_counters(struct perf_cpu *cpu)
{
	struct perf_counter *counter;
	struct perf_value value;

	for (counter = cpu->counters; counter < cpu->counters + COUNTERS; counter++) {
		if (counter->fd < 0)
			continue;
		if (read(counter->fd, &value, sizeof(value)) != sizeof(value) ||
		    value.enabled <= counter->last.enabled)
			return false;
		counter->last = value;
	}
	return true;
}

/* Opens the counters of a CPU that is online again, or was not counted yet. */
static bool are_read(struct perf_cpu *cpu, uint32_t number)
{
	if (cpu->is_open && read_counters(cpu))
		return true;
	if (cpu->is_open)
		close_counters(cpu);
	return open_counters(cpu, number) > 0 && read_counters(cpu);
}

static int perf__sample(struct own_sample *sample, uint32_t index, void *values, uint64_t *number,
			uint64_t *time)
{
	struct perf_cpu *cpu = &((struct perf_sample *)sample)->cpus[index];
	const struct perf_counter *counter = cpu->counters;
	struct dart_zero_perf *perf = values;
	uint64_t *counts = values, running;
	size_t i;

	if (!are_read(cpu, index))
		return -ENODATA;
	*number = index;
	perf->running = UINT64_MAX;
	for (i = 0; i < COUNTERS; i++, counter++) {
		counts[i] = counter->before.count + counter->last.count;
		running = counter->before.running + counter->last.running;
		if (counter->fd >= 0 && running < perf->running) {
			perf->enabled = counter->before.enabled + counter->last.enabled;
			perf->running = running;
		}
	}
	return 0;
}

static void perf__close(struct own_sample *sample)
{
	struct perf_sample *perf = (struct perf_sample *)sample;
	uint32_t i;

	for (i = 0; i < sample->rows; i++)
		close_counters(&perf->cpus[i]);
	free(perf);
}

/* Opens the counters of the first online CPU; the first sample opens the others. */
static int open_first(struct perf_sample *perf)
{
	int found = -ENODEV;
	uint32_t i;

	for (i = 0; i < perf->sample.rows && found == -ENODEV; i++)
		found = open_counters(&perf->cpus[i], i);
	return found > 0 ? 0 : found ?: -EOPNOTSUPP;
}

static int perf__open(const struct dart_zero_record *wanted, struct own_sample **result)
{
	const uint32_t cpus = host__cpus();
	struct perf_sample *perf = calloc(1, sizeof(*perf) + cpus * sizeof(perf->cpus[0]));
	uint32_t i;
	size_t j;
	int ret;

	if (!perf)
		return -ENOMEM;
	perf->sample.rows = cpus;
	for (i = 0; i < cpus; i++)
		for (j = 0; j < COUNTERS; j++)
			perf->cpus[i].counters[j].fd = -1;
	ret = open_first(perf);
	if (ret)
		perf__close(&perf->sample);
	else
		*result = &perf->sample;
	return ret;
}

const struct own_sample_kind perf_sample = {
	.open = perf__open,
	.close = perf__close,
	.sample = perf__sample,
};
