// SPDX-License-Identifier: GPL-2.0-only
#include "source.h"

#include <linux/kernel_stat.h>
#include <linux/nospec.h>
#include <linux/netdevice.h>
#include <linux/vmstat.h>

#include <linux/dart_zero.h>

#define SOURCE(name) { #name, &(name), sizeof(name) }

static const struct dart_source sources[] = {
	[DART_ZERO_SOURCE_CPUSTAT] = SOURCE(kernel_cpustat),
	[DART_ZERO_SOURCE_VMSTAT] = SOURCE(vm_event_states),
	[DART_ZERO_SOURCE_SOFTNET] = SOURCE(softnet_data),
};

const struct dart_source *dart_source_find(u32 id)
{
	if (id >= ARRAY_SIZE(sources))
		return NULL;

	id = array_index_nospec(id, ARRAY_SIZE(sources));
	return sources[id].symbol ? &sources[id] : NULL;
}
