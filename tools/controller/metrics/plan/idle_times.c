// SPDX-License-Identifier: GPL-2.0-only
/* Computes the idle time of CPUs. */
#include "idle_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* user and nice include guest time; forced idle time counts as idle. */
static const char *const busy_modes[] = { "user", "nice", "system", "irq", "softirq", "steal" };

int idle_times__prepare(struct idle_times *times, const struct sample *sample,
			const struct sample_entry *entry)
{
	const uint32_t count = entry->entry->copies;
	struct idle_time *cpus;

	if (memcmp(times->boot_id, sample->table->boot_id, sizeof(times->boot_id)))
		idle_times__free(times);
	memcpy(times->boot_id, sample->table->boot_id, sizeof(times->boot_id));
	if (count <= times->cpu_count)
		return 0;
	cpus = reallocarray(times->cpus, count, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	memset(cpus + times->cpu_count, 0, (count - times->cpu_count) * sizeof(*cpus));
	times->cpus = cpus;
	times->cpu_count = count;
	return 0;
}

static uint64_t field_of(const struct dart_schema *schema, const void *copy, const char *name)
{
	const struct dart_field *field = dart_schema__find(schema, name);

	return field ? dart_field__get(field, copy, 0) : 0;
}

static uint64_t larger(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

static void idle_time__update(struct idle_time *time, const struct dart_schema *schema,
			      const void *copy, int64_t uptime_ns)
{
	uint64_t busy = 0, left, iowait = field_of(schema, copy, "iowait");
	unsigned int i;

	for (i = 0; i < sizeof(busy_modes) / sizeof(*busy_modes); i++)
		busy += field_of(schema, copy, busy_modes[i]);
	left = uptime_ns > 0 && (uint64_t)uptime_ns > busy ? (uint64_t)uptime_ns - busy : 0;
	time->iowait_ns = larger(time->iowait_ns, iowait < left ? iowait : left);
	if (left > time->iowait_ns)
		time->idle_ns = larger(time->idle_ns, left - time->iowait_ns);
}

void idle_times__update(struct idle_times *times, const struct sample *sample,
			const struct sample_entry *entry)
{
	const struct dart_schema *schema = entry->entry->schema;
	const struct sample_head *head = &sample->head;
	const char *copy = entry->copies;
	int64_t uptime_ns;
	uint32_t i;

	if (!times->has_uptime) {
		times->uptime_ns = sample->clock.boot_ns;
		times->at_ns = head->start_ns;
		times->has_uptime = true;
	}
	/* Computed from the first scrape, so that setting a clock later changes nothing. */
	uptime_ns = times->uptime_ns + (int64_t)(head->start_ns - times->at_ns);
	for (i = 0; i < times->cpu_count && i < entry->entry->copies; i++, copy += schema->length)
		idle_time__update(&times->cpus[i], schema, copy, uptime_ns);
}

void idle_times__free(struct idle_times *times)
{
	free(times->cpus);
	*times = (struct idle_times){};
}
