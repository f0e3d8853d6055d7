// SPDX-License-Identifier: GPL-2.0-only
/* Answers questions about the memory of the host, and of its NUMA nodes and their zones. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "answer.h"

/* Addresses. */
static __u64 zone_stat;
static __u64 node_stat;
static __u64 total_pages;
static __u64 reserve_pages;
static __u64 swap_pages;
static __u64 committed;
static __u64 devices; /* the file system of block devices */
static __u64 nodes; /* pointers to them */
static __u64 online_nodes;
static __u64 node_count;
static __u32 page_shift;

/* MAX_NUMNODES is at most this on any architecture. */
#define NODES_MAX 1024
/* More than the zones of any kernel. */
#define ZONES_MAX 8
/* Limit of inodes of block devices to add up; each partition counts as one. */
#define DEVICES_MAX 4096

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	int ret = answer__find_cpus()				    ?:
			  FIND(zone_stat, "vm_zone_stat")	    ?:
			  FIND(node_stat, "vm_node_stat")	    ?:
			  FIND(total_pages, "_totalram_pages")	    ?:
			  FIND(reserve_pages, "totalreserve_pages") ?:
			  FIND(swap_pages, "nr_swap_pages")	    ?:
			  FIND(committed, "vm_committed_as")	    ?:
			  FIND(devices, "blockdev_superblock")	    ?:
			  FIND(nodes, "node_data")		    ?:
			  FIND(node_count, "nr_node_ids")	    ?:
			  FIND(online_nodes, "node_states");

	page_shift = setting->page_shift;
	online_nodes +=
		bpf_core_type_size(nodemask_t) * bpf_core_enum_value(enum node_states, N_ONLINE);
	return ret;
}

static __always_inline __u64 bytes(__u64 pages)
{
	return pages << page_shift;
}

/* The value of an item in an array of the kernel; 0 if the kernel lacks the item. */
#define ITEM(array, type, item)                                                           \
	(bpf_core_enum_value_exists(type, item) ?                                         \
		 READ(__s64, (array) + sizeof(__s64) * bpf_core_enum_value(type, item)) : \
		 0)

/* Pages of the host: the sum of the counts of CPUs, which can be negative for a moment. */
#define NODE_PAGES(item) at_least_0(ITEM(node_stat, enum node_stat_item, item))
#define ZONE_PAGES(item) at_least_0(ITEM(zone_stat, enum zone_stat_item, item))

/* NULL if the node is offline. */
static __always_inline const struct pglist_data *node_at(__u32 number)
{
	if (!(READ(__u8, online_nodes + number / 8) & 1 << number % 8))
		return NULL;
	return (const void *)READ(__u64, nodes + sizeof(__u64) * number);
}

static __always_inline const struct zone *zone_at(const struct pglist_data *node, __u32 number)
{
	return (const void *)node + bpf_core_field_offset(struct pglist_data, node_zones) +
	       number * bpf_core_type_size(struct zone);
}

static __always_inline bool is_zone(__u32 number)
{
	return number < bpf_core_enum_value(enum zone_type, __MAX_NR_ZONES);
}

static __always_inline __u64 watermark(const struct zone *zone, __u32 mark)
{
	const void *marks = (const void *)zone + bpf_core_field_offset(struct zone, _watermark);

	return READ(unsigned long, marks + sizeof(unsigned long) * mark) +
	       BPF_CORE_READ(zone, watermark_boost);
}

static long add_low(__u32 number, __u64 *pages)
{
	const struct pglist_data *node = node_at(number);
	__u32 i;

	for (i = 0; node && i < ZONES_MAX && is_zone(i); i++)
		*pages += watermark(zone_at(node, i), WMARK_LOW);
	return 0;
}

static __always_inline __u64 without_low(__u64 pages, __u64 low)
{
	return pages - (pages / 2 < low ? pages / 2 : low);
}

/* Like si_mem_available(), in pages. */
static __always_inline __u64 available(void)
{
	__u64 low = 0, cached, reclaimable;

	bpf_loop(READ(__u32, node_count), add_low, &low, 0);
	cached = NODE_PAGES(NR_ACTIVE_FILE) + NODE_PAGES(NR_INACTIVE_FILE);
	reclaimable = NODE_PAGES(NR_SLAB_RECLAIMABLE_B) + NODE_PAGES(NR_KERNEL_MISC_RECLAIMABLE);
	return at_least_0(ZONE_PAGES(NR_FREE_PAGES) - READ(__u64, reserve_pages) +
			  without_low(cached, low) + without_low(reclaimable, low));
}

/* A walk over the inodes of block devices: the next, and the end. */
struct device_walk {
	__u64 link;
	__u64 end;
	__u64 pages;
};

static long add_device(__u32 number, struct device_walk *walk)
{
	const struct inode *inode;
	__u64 next;

	if (walk->link == walk->end)
		return 1;
	inode = (const void *)(walk->link - bpf_core_field_offset(struct inode, i_sb_list));
	next = (__u64)BPF_CORE_READ(inode, i_sb_list.next);
	/* The device just left the list: its link leads to itself. */
	if (!next || next == walk->link)
		return 1;
	walk->pages += BPF_CORE_READ(inode, i_mapping, nrpages);
	walk->link = next;
	return 0;
}

/*
 * Like nr_blockdev_pages(), but without the lock of the list: RCU keeps the inodes.  Returns false
 * if a device left the list meanwhile.
 */
static __always_inline bool read_buffers(__u64 *pages)
{
	const struct super_block *block = (const void *)READ(__u64, devices);
	struct device_walk walk = {
		.link = (__u64)BPF_CORE_READ(block, s_inodes.next),
		.end = (__u64)block + bpf_core_field_offset(struct super_block, s_inodes),
	};

	bpf_loop(DEVICES_MAX, add_device, &walk, 0);
	*pages = walk.pages;
	return walk.link == walk.end;
}

static long add_committed(__u32 place, __s64 *pages)
{
	const struct percpu_counter *counter = (const void *)committed;

	*pages += READ(__s32,
		       answer__at_cpu((__u64)BPF_CORE_READ(counter, counters), answer__cpu(place)));
	return 0;
}

/* Like vm_memory_committed(): the count of one CPU alone may be negative. */
static __always_inline __u64 committed_pages(void)
{
	const struct percpu_counter *counter = (const void *)committed;
	__s64 pages = BPF_CORE_READ(counter, count);

	bpf_loop(answer__cpu_count(), add_committed, &pages, 0);
	return at_least_0(pages);
}

static __always_inline __u64 cached(__u64 file_pages, __u64 others)
{
	return file_pages - (file_pages < others ? file_pages : others);
}

/* Like fs/proc/meminfo.c. */
static __always_inline int answer_memory(struct gather_question *question)
{
	struct dart_zero_memory *memory;
	__u64 buffers;

	if (!read_buffers(&buffers))
		return -EBUSY;
	memory = ANSWER_SAMPLE(question, struct dart_zero_memory);
	if (!memory)
		return -ENOSPC;
	memory->total = bytes(READ(__u64, total_pages));
	memory->free = bytes(ZONE_PAGES(NR_FREE_PAGES));
	memory->available = bytes(available());
	memory->buffers = bytes(buffers);
	memory->swap_cached = bytes(NODE_PAGES(NR_SWAPCACHE));
	memory->cached =
		cached(bytes(NODE_PAGES(NR_FILE_PAGES)), memory->swap_cached + memory->buffers);

	memory->active_anon = bytes(NODE_PAGES(NR_ACTIVE_ANON));
	memory->inactive_anon = bytes(NODE_PAGES(NR_INACTIVE_ANON));
	memory->active_file = bytes(NODE_PAGES(NR_ACTIVE_FILE));
	memory->inactive_file = bytes(NODE_PAGES(NR_INACTIVE_FILE));
	memory->active = memory->active_anon + memory->active_file;
	memory->inactive = memory->inactive_anon + memory->inactive_file;
	memory->unevictable = bytes(NODE_PAGES(NR_UNEVICTABLE));
	memory->mlocked = bytes(ZONE_PAGES(NR_MLOCK));
	memory->swap_free = bytes(READ(__u64, swap_pages));

	memory->dirty = bytes(NODE_PAGES(NR_FILE_DIRTY));
	memory->writeback = bytes(NODE_PAGES(NR_WRITEBACK));
	memory->anon_pages = bytes(NODE_PAGES(NR_ANON_MAPPED));
	memory->mapped = bytes(NODE_PAGES(NR_FILE_MAPPED));
	memory->shmem = bytes(NODE_PAGES(NR_SHMEM));
	memory->sreclaimable = bytes(NODE_PAGES(NR_SLAB_RECLAIMABLE_B));
	memory->sunreclaim = bytes(NODE_PAGES(NR_SLAB_UNRECLAIMABLE_B));
	memory->slab = memory->sreclaimable + memory->sunreclaim;
	memory->kreclaimable = memory->sreclaimable + bytes(NODE_PAGES(NR_KERNEL_MISC_RECLAIMABLE));
	memory->kernel_stack = NODE_PAGES(NR_KERNEL_STACK_KB) << 10;
	memory->page_tables = bytes(NODE_PAGES(NR_PAGETABLE));
	memory->sec_page_tables = bytes(NODE_PAGES(NR_SECONDARY_PAGETABLE));
	memory->committed_as = bytes(committed_pages());
	memory->anon_huge_pages = bytes(NODE_PAGES(NR_ANON_THPS));
	memory->shmem_huge_pages = bytes(NODE_PAGES(NR_SHMEM_THPS));
	memory->shmem_pmd_mapped = bytes(NODE_PAGES(NR_SHMEM_PMDMAPPED));
	memory->file_huge_pages = bytes(NODE_PAGES(NR_FILE_THPS));
	memory->file_pmd_mapped = bytes(NODE_PAGES(NR_FILE_PMDMAPPED));
	return 0;
}

/* Bytes of one node. */
#define OF_NODE(item)                                                                       \
	bytes(ITEM((const void *)node + bpf_core_field_offset(struct pglist_data, vm_stat), \
		   enum node_stat_item, item))

/* Bytes of one zone. */
#define OF_ZONE(zone, item)                                                                       \
	bytes(at_least_0(ITEM((const void *)(zone) + bpf_core_field_offset(struct zone, vm_stat), \
			      enum zone_stat_item, item)))

static __always_inline __u64 managed(const struct zone *zone)
{
	return bytes(BPF_CORE_READ(zone, managed_pages.counter));
}

/* Answers of all nodes. */
struct node_rows {
	struct gather_question *question;
	__s64 ret;
};

static __always_inline void add_zones(const struct pglist_data *node,
				      struct dart_zero_node_memory *memory)
{
	const struct zone *zone;
	__u32 i;

	for (i = 0; i < ZONES_MAX && is_zone(i); i++) {
		zone = zone_at(node, i);
		memory->total += managed(zone);
		memory->free += OF_ZONE(zone, NR_FREE_PAGES);
		memory->mlocked += OF_ZONE(zone, NR_MLOCK);
	}
}

/* Like drivers/base/node.c. */
static long add_node_memory(__u32 number, struct node_rows *rows)
{
	const struct pglist_data *node = node_at(number);
	struct dart_zero_node_memory *memory;

	if (!node)
		return 0;
	memory = ANSWER_ROW(rows->question, number, struct dart_zero_node_memory);
	if (!memory) {
		rows->ret = -ENOSPC;
		return 1;
	}
	add_zones(node, memory);
	memory->swap_cached = OF_NODE(NR_SWAPCACHE);

	memory->active_anon = OF_NODE(NR_ACTIVE_ANON);
	memory->inactive_anon = OF_NODE(NR_INACTIVE_ANON);
	memory->active_file = OF_NODE(NR_ACTIVE_FILE);
	memory->inactive_file = OF_NODE(NR_INACTIVE_FILE);
	memory->active = memory->active_anon + memory->active_file;
	memory->inactive = memory->inactive_anon + memory->inactive_file;
	memory->unevictable = OF_NODE(NR_UNEVICTABLE);

	memory->dirty = OF_NODE(NR_FILE_DIRTY);
	memory->writeback = OF_NODE(NR_WRITEBACK);
	memory->file_pages = OF_NODE(NR_FILE_PAGES);
	memory->mapped = OF_NODE(NR_FILE_MAPPED);
	memory->anon_pages = OF_NODE(NR_ANON_MAPPED);
	memory->shmem = OF_NODE(NR_SHMEM);
	memory->kernel_stack = OF_NODE(NR_KERNEL_STACK_KB) >> page_shift << 10;
	memory->page_tables = OF_NODE(NR_PAGETABLE);
	memory->sec_page_tables = OF_NODE(NR_SECONDARY_PAGETABLE);
	memory->sreclaimable = OF_NODE(NR_SLAB_RECLAIMABLE_B);
	memory->sunreclaim = OF_NODE(NR_SLAB_UNRECLAIMABLE_B);
	memory->slab = memory->sreclaimable + memory->sunreclaim;
	memory->kreclaimable = memory->sreclaimable + OF_NODE(NR_KERNEL_MISC_RECLAIMABLE);
	memory->anon_huge_pages = OF_NODE(NR_ANON_THPS);
	memory->shmem_huge_pages = OF_NODE(NR_SHMEM_THPS);
	memory->shmem_pmd_mapped = OF_NODE(NR_SHMEM_PMDMAPPED);
	memory->file_huge_pages = OF_NODE(NR_FILE_THPS);
	memory->file_pmd_mapped = OF_NODE(NR_FILE_PMDMAPPED);
	return 0;
}

static __always_inline void read_zone(const struct pglist_data *node, __u32 number,
				      struct dart_zero_zone *to)
{
	const struct zone *zone = zone_at(node, number);

	to->free = OF_ZONE(zone, NR_FREE_PAGES);
	to->min = bytes(watermark(zone, WMARK_MIN));
	to->low = bytes(watermark(zone, WMARK_LOW));
	to->high = bytes(watermark(zone, WMARK_HIGH));
	to->managed = managed(zone);
	to->present = bytes(BPF_CORE_READ(zone, present_pages));
}

#define READ_ZONE(kind, member)                                                    \
	do {                                                                       \
		if (bpf_core_enum_value_exists(enum zone_type, kind))              \
			read_zone(node, bpf_core_enum_value(enum zone_type, kind), \
				  &zones->member);                                 \
	} while (0)

static long add_node_zones(__u32 number, struct node_rows *rows)
{
	const struct pglist_data *node = node_at(number);
	struct dart_zero_node_zones *zones;

	if (!node)
		return 0;
	zones = ANSWER_ROW(rows->question, number, struct dart_zero_node_zones);
	if (!zones) {
		rows->ret = -ENOSPC;
		return 1;
	}
	READ_ZONE(ZONE_DMA, dma);
	READ_ZONE(ZONE_DMA32, dma32);
	READ_ZONE(ZONE_NORMAL, normal);
	READ_ZONE(ZONE_MOVABLE, movable);
	READ_ZONE(ZONE_DEVICE, device);
	zones->page_size = 1ULL << page_shift;
	return 0;
}

static __always_inline int memory(struct gather_question *question)
{
	struct node_rows rows = { .question = question };

	switch (question->source) {
	case DART_ZERO_SOURCE_MEMORY:
		return answer_memory(question);
	case DART_ZERO_SOURCE_NODE_MEMORY:
		bpf_loop(READ(__u32, node_count), add_node_memory, &rows, 0);
		return rows.ret;
	case DART_ZERO_SOURCE_NODE_ZONES:
		bpf_loop(READ(__u32, node_count), add_node_zones, &rows, 0);
		return rows.ret;
	default:
		return -EINVAL;
	}
}

ANSWER_QUESTIONS(memory)

char LICENSE[] SEC("license") = "GPL";
