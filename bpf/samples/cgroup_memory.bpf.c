// SPDX-License-Identifier: GPL-2.0-only
/* Samples the memory of a cgroup: memory.current and the other files of its controller. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "sample.h"

/* Lines of memory.stat, by the array of the kernel that contains them. */
enum stat_line {
	/* In memcg_vmstats.state. */
	ANON,
	FILE_PAGES,
	KERNEL,
	SOCK,
	SHMEM,
	MAPPED,
	DIRTY,
	WRITEBACK,
	SLAB_RECLAIMABLE,
	SLAB_UNRECLAIMABLE,
	REFAULT_ANON,
	REFAULT_FILE,
	INACTIVE_FILE,
	/* In memcg_vmstats.events. */
	FAULTS,
	MAJOR_FAULTS,
	LINES,
};

/*
 * Bytes from the beginning of struct memcg_vmstats; negative if the kernel lacks the line.  Not
 * static, because clang would divide it into variables with names that BTF refuses.
 */
__s32 places[LINES];
static __u32 page_shift;

/* The kernel's tables of bytes, by item: an index, or 255. */
static __u64 stats_index; /* 0: before Linux 6.10 an item is its own index */
static __u64 events_index;

static __always_inline __s32 find(__u64 table, __u32 item, __u32 array)
{
	__u8 index = 255;

	if (!stats_index && !table)
		return array + item * sizeof(long);
	/* Before Linux 6.10 a table of int: an index + 1, or 0. */
	if (!stats_index) {
		const __u32 place = READ(__u32, table + sizeof(int) * item);

		return place ? array + (place - 1) * sizeof(long) : -1;
	}
	if (bpf_probe_read_kernel(&index, sizeof(index), (const char *)table + item) ||
	    index == 255)
		return -1;
	return array + index * sizeof(long);
}

#define FIND_STATE(line, type, item)                                       \
	(places[line] = find(stats_index, bpf_core_enum_value(type, item), \
			     bpf_core_field_offset(struct memcg_vmstats, state)))
#define FIND_EVENTS(line, item)                                                           \
	(places[line] = find(events_index, bpf_core_enum_value(enum vm_event_item, item), \
			     bpf_core_field_offset(struct memcg_vmstats, events)))

SEC("syscall")
int find_lines(const struct sample_setting *setting)
{
	int ret;

	ret = bpf_kallsyms_lookup_name("mem_cgroup_stats_index", sizeof("mem_cgroup_stats_index"),
				       0, &stats_index);
	if (ret == -ENOENT)
		stats_index = 0;
	else if (ret)
		return ret;
	ret = bpf_kallsyms_lookup_name("mem_cgroup_events_index", sizeof("mem_cgroup_events_index"),
				       0, &events_index);
	if (ret)
		return ret;
	page_shift = setting->page_shift;
	FIND_STATE(ANON, enum node_stat_item, NR_ANON_MAPPED);
	FIND_STATE(FILE_PAGES, enum node_stat_item, NR_FILE_PAGES);
	FIND_STATE(KERNEL, enum memcg_stat_item, MEMCG_KMEM);
	FIND_STATE(SOCK, enum memcg_stat_item, MEMCG_SOCK);
	FIND_STATE(SHMEM, enum node_stat_item, NR_SHMEM);
	FIND_STATE(MAPPED, enum node_stat_item, NR_FILE_MAPPED);
	FIND_STATE(DIRTY, enum node_stat_item, NR_FILE_DIRTY);
	FIND_STATE(WRITEBACK, enum node_stat_item, NR_WRITEBACK);
	FIND_STATE(SLAB_RECLAIMABLE, enum node_stat_item, NR_SLAB_RECLAIMABLE_B);
	FIND_STATE(SLAB_UNRECLAIMABLE, enum node_stat_item, NR_SLAB_UNRECLAIMABLE_B);
	FIND_STATE(REFAULT_ANON, enum node_stat_item, WORKINGSET_REFAULT_ANON);
	FIND_STATE(REFAULT_FILE, enum node_stat_item, WORKINGSET_REFAULT_FILE);
	FIND_STATE(INACTIVE_FILE, enum node_stat_item, NR_INACTIVE_FILE);
	FIND_EVENTS(FAULTS, PGFAULT);
	FIND_EVENTS(MAJOR_FAULTS, PGMAJFAULT);
	return 0;
}

/*
 * Like memcg_page_state(): the value can be negative for a moment, because CPUs that counted down
 * may be added first.
 */
static __always_inline __u64 read_line(const struct memcg_vmstats *vmstats, enum stat_line line)
{
	long value = 0;

	if (places[line] >= 0)
		value = READ(long, (const char *)vmstats + places[line]);
	return value < 0 ? 0 : value;
}

#define BYTES(pages) ((__u64)(pages) << page_shift)
#define LIMIT(member) BYTES(BPF_CORE_READ(memcg, memory.member))
#define EVENTS(event) BPF_CORE_READ(memcg, memory_events[event].counter)

static __always_inline enum dart_zero_sample_answer
take_cgroup_memory(const struct cgroup *cgroup, struct dart_zero_cgroup_memory *values)
{
	const struct memcg_vmstats *vmstats;
	const struct mem_cgroup *memcg;

	memcg = (const void *)CGROUP_STATE(cgroup, memory);
	if (!memcg)
		return DART_ZERO_ANSWER_ABSENT;
	vmstats = BPF_CORE_READ(memcg, vmstats);
	/*
	 * One after the other: the verifier of 6.1 walks through all combinations of the branches
	 * in read_line() if a register keeps a value.
	 */
	values->usage = BYTES(BPF_CORE_READ(memcg, memory.usage.counter));
	values->peak = LIMIT(watermark);
	values->min = LIMIT(min);
	values->low = LIMIT(low);
	values->high = LIMIT(high);
	values->max = LIMIT(max);
	values->swap_current = BYTES(BPF_CORE_READ(memcg, swap.usage.counter));
	values->events_low = EVENTS(MEMCG_LOW);
	values->events_high = EVENTS(MEMCG_HIGH);
	values->events_max = EVENTS(MEMCG_MAX);
	values->events_oom = EVENTS(MEMCG_OOM);
	values->events_oom_kill = EVENTS(MEMCG_OOM_KILL);
	values->anon = BYTES(read_line(vmstats, ANON));
	values->file = BYTES(read_line(vmstats, FILE_PAGES));
	values->kernel = BYTES(read_line(vmstats, KERNEL));
	values->sock = BYTES(read_line(vmstats, SOCK));
	values->shmem = BYTES(read_line(vmstats, SHMEM));
	values->file_mapped = BYTES(read_line(vmstats, MAPPED));
	values->file_dirty = BYTES(read_line(vmstats, DIRTY));
	values->file_writeback = BYTES(read_line(vmstats, WRITEBACK));
	values->slab_reclaimable = read_line(vmstats, SLAB_RECLAIMABLE);
	values->slab_unreclaimable = read_line(vmstats, SLAB_UNRECLAIMABLE);
	values->pgfault = read_line(vmstats, FAULTS);
	values->pgmajfault = read_line(vmstats, MAJOR_FAULTS);
	values->workingset_refault_anon = read_line(vmstats, REFAULT_ANON);
	values->workingset_refault_file = read_line(vmstats, REFAULT_FILE);
	values->inactive_file = BYTES(read_line(vmstats, INACTIVE_FILE));
	return DART_ZERO_ANSWER_VALUES;
}

CGROUP_SAMPLE(DART_ZERO_SOURCE_CGROUP_MEMORY, cgroup_memory)

char LICENSE[] SEC("license") = "GPL";
