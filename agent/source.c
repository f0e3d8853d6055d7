// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <string.h>

#include "source.h"

/*
 * What lies between these members are pointers, lists and locks of the kernel,
 * which are nobody's business.  In exact exposure each run of adjacent members
 * therefore gets a memory region of its own: softnet costs a controller some
 * READs per CPU, where cpustat and vmstat, counters from end to end, cost one.
 */
static const struct source_member softnet_members[] = {
	{ .name = "processed", .unit = "packets" },
	{ .name = "time_squeeze", .unit = "times" },
	{ .name = "received_rps", .unit = "packets" },
	/* One counter; in newer kernels two, which are to be added up. */
	{ .name = "dropped", .unit = "packets", .optional = true },
	{ .name = "drop_counters.drops0", .unit = "packets", .optional = true },
	{ .name = "drop_counters.drops1", .unit = "packets", .optional = true },
	{ }
};

static const struct source sources[] = {
	{
		.name = "cpustat",
		.id = DART_ZERO_SOURCE_CPUSTAT,
		.array = "cpustat",
		.elements = "cpu_usage_stat",
		.prefix = "CPUTIME_",
		.unit = "ns",
	},
	{
		.name = "vmstat",
		.id = DART_ZERO_SOURCE_VMSTAT,
		.array = "event",
		.elements = "vm_event_item",
		.prefix = "",
		.unit = "events",
	},
	{
		.name = "softnet",
		.id = DART_ZERO_SOURCE_SOFTNET,
		.members = softnet_members,
	},
};

const struct source *source__find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(sources[i].name, name))
			return &sources[i];
	return NULL;
}
