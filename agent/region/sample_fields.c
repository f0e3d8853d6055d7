// SPDX-License-Identifier: GPL-2.0-only
/* The fields of samples, with their units and kinds. */
#include "sample_fields.h"

#include <stddef.h>

#include <linux/dart_zero.h>
#include <linux/dart_zero_samples.h>

/* A member of struct dart_zero_@sample. */
#define FIELD(sample, member, unit_, kind_)                                    \
	{                                                                      \
		.name = #member, .unit = unit_,                                \
		.offset = offsetof(struct dart_zero_##sample, member),         \
		.width = 8, .count = 1, .kind = DART_CONTROL_FIELD_##kind_     \
	}
#define COUNTER(sample, member, unit) FIELD(sample, member, unit, COUNTER)
#define GAUGE(sample, member, unit) FIELD(sample, member, unit, GAUGE)

const struct dart_field gathering_fields[] = {
	COUNTER(gathering, passes, "passes"),
	COUNTER(gathering, missed, "passes"),
	COUNTER(gathering, records, "records"),
	COUNTER(gathering, time_ns, "ns"),
	GAUGE(gathering, longest_ns, "ns"),
	{ }
};

#define MEMORY(member) GAUGE(memory, member, "bytes")

const struct dart_field memory_fields[] = {
	MEMORY(total),
	MEMORY(free),
	MEMORY(available),
	MEMORY(buffers),
	MEMORY(cached),
	MEMORY(swap_cached),
	MEMORY(active),
	MEMORY(inactive),
	MEMORY(active_anon),
	MEMORY(inactive_anon),
	MEMORY(active_file),
	MEMORY(inactive_file),
	MEMORY(unevictable),
	MEMORY(mlocked),
	MEMORY(swap_free),
	MEMORY(dirty),
	MEMORY(writeback),
	MEMORY(anon_pages),
	MEMORY(mapped),
	MEMORY(shmem),
	MEMORY(kreclaimable),
	MEMORY(slab),
	MEMORY(sreclaimable),
	MEMORY(sunreclaim),
	MEMORY(kernel_stack),
	MEMORY(page_tables),
	MEMORY(sec_page_tables),
	MEMORY(committed_as),
	MEMORY(anon_huge_pages),
	MEMORY(shmem_huge_pages),
	MEMORY(shmem_pmd_mapped),
	MEMORY(file_huge_pages),
	MEMORY(file_pmd_mapped),
	{ }
};

const struct dart_field load_fields[] = {
	GAUGE(load, load1, "1/2048 tasks"),
	GAUGE(load, load5, "1/2048 tasks"),
	GAUGE(load, load15, "1/2048 tasks"),
	GAUGE(load, uptime, "ns"),
	GAUGE(load, online_cpus, "CPUs"),
	{ }
};
