// SPDX-License-Identifier: GPL-2.0-only
/* Samples the pages that the kernel scanned and reclaimed. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cpus.h"
#include "sample.h"

extern const struct vm_event_state vm_event_states __ksym;

static __u64 node_stat; /* address of the sums over all nodes */

/* Newer kernels count by node. */
enum node_stat_item___reclaim {
	PGREFILL___reclaim,
	PGSCAN_KSWAPD___reclaim,
	PGSCAN_DIRECT___reclaim,
	PGSCAN_KHUGEPAGED___reclaim,
	PGSCAN_PROACTIVE___reclaim,
	PGSCAN_ANON___reclaim,
	PGSCAN_FILE___reclaim,
	PGSTEAL_KSWAPD___reclaim,
	PGSTEAL_DIRECT___reclaim,
	PGSTEAL_KHUGEPAGED___reclaim,
	PGSTEAL_PROACTIVE___reclaim,
	PGSTEAL_ANON___reclaim,
	PGSTEAL_FILE___reclaim,
};

/* Older kernels count by CPU, and proactive reclaim as direct. */
enum vm_event_item___reclaim {
	PGREFILL___event,
	PGSCAN_KSWAPD___event,
	PGSCAN_DIRECT___event,
	PGSCAN_KHUGEPAGED___event,
	PGSCAN_PROACTIVE___event,
	PGSCAN_ANON___event,
	PGSCAN_FILE___event,
	PGSTEAL_KSWAPD___event,
	PGSTEAL_DIRECT___event,
	PGSTEAL_KHUGEPAGED___event,
	PGSTEAL_PROACTIVE___event,
	PGSTEAL_ANON___event,
	PGSTEAL_FILE___event,
};

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return FIND(node_stat, "vm_node_stat") ?: find_cpus();
}

/* All counts of a sample: each is a member, and an item of both enumerations. */
#define FOR_EACH_COUNT(do_count)                        \
	do_count(pgrefill, PGREFILL)                    \
	do_count(pgscan_kswapd, PGSCAN_KSWAPD)          \
	do_count(pgscan_direct, PGSCAN_DIRECT)          \
	do_count(pgscan_khugepaged, PGSCAN_KHUGEPAGED)  \
	do_count(pgscan_proactive, PGSCAN_PROACTIVE)    \
	do_count(pgscan_anon, PGSCAN_ANON)              \
	do_count(pgscan_file, PGSCAN_FILE)              \
	do_count(pgsteal_kswapd, PGSTEAL_KSWAPD)        \
	do_count(pgsteal_direct, PGSTEAL_DIRECT)        \
	do_count(pgsteal_khugepaged, PGSTEAL_KHUGEPAGED) \
	do_count(pgsteal_proactive, PGSTEAL_PROACTIVE)  \
	do_count(pgsteal_anon, PGSTEAL_ANON)            \
	do_count(pgsteal_file, PGSTEAL_FILE)

static __always_inline __u64 word_at(__u64 words, __u64 index)
{
	return READ(__u64, words + index * sizeof(__u64));
}

#define ADD_EVENT(member, item)                                                            \
	if (bpf_core_enum_value_exists(enum vm_event_item___reclaim, item##___event))      \
		reclaim->member +=                                                         \
			word_at(events, bpf_core_enum_value(enum vm_event_item___reclaim,  \
							    item##___event));

static long add_cpu(__u32 cpu, struct dart_zero_reclaim *reclaim)
{
	const struct vm_event_state *state = bpf_per_cpu_ptr(&vm_event_states, cpu);
	__u64 events;

	if (!state)
		return 1;
	events = (__u64)state + bpf_core_field_offset(struct vm_event_state, event);
	if (is_possible(cpu)) {
		FOR_EACH_COUNT(ADD_EVENT)
	}
	return 0;
}

#define SET_NODE_STAT(member, item)                                                          \
	if (bpf_core_enum_value_exists(enum node_stat_item___reclaim, item##___reclaim))     \
		reclaim->member = word_at(node_stat,                                         \
					  bpf_core_enum_value(enum node_stat_item___reclaim, \
							      item##___reclaim));

static __always_inline enum dart_zero_sample_answer take_reclaim(struct dart_zero_reclaim *values)
{
	struct dart_zero_reclaim sum = {}, *reclaim = &sum;

	if (bpf_core_enum_value_exists(enum node_stat_item___reclaim, PGREFILL___reclaim)) {
		FOR_EACH_COUNT(SET_NODE_STAT)
	} else {
		bpf_loop(CPUS_MAX, add_cpu, reclaim, 0);
	}
	*values = sum;
	return DART_ZERO_ANSWER_VALUES;
}

HOST_SAMPLE(DART_ZERO_SOURCE_RECLAIM, reclaim)

char LICENSE[] SEC("license") = "GPL";
