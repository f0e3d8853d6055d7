// SPDX-License-Identifier: GPL-2.0-only
/* Samples the NUMA nodes: their memory and their zones. */
#include "sampler.h"

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/vmstat.h>

#include <linux/dart_zero.h>

static u64 node_bytes(const pg_data_t *node, enum node_stat_item item)
{
	return dart_bytes_of_pages(atomic_long_read(&node->vm_stat[item]));
}

static u64 zones_bytes(pg_data_t *node, enum zone_stat_item item)
{
	u64 bytes = 0;
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++)
		bytes += dart_bytes_of_pages(zone_page_state(&node->node_zones[i], item));
	return bytes;
}

static u64 managed_bytes(const pg_data_t *node)
{
	struct zone *zones = (struct zone *)node->node_zones;
	u64 bytes = 0;
	int i;

	for (i = 0; i < MAX_NR_ZONES; i++)
		bytes += dart_bytes_of_pages(zone_managed_pages(&zones[i]));
	return bytes;
}

/* The structs of a node remain when it goes offline. */
static pg_data_t *node_find(u32 index)
{
	return node_online(index) ? NODE_DATA(index) : NULL;
}

/* Like drivers/base/node.c, with the same rounding. */
static int sample_memory(struct dart_sampler *sampler, u32 index, u64 *number,
			 void *sample, u64 *time)
{
	struct dart_zero_node_memory *memory = sample;
	pg_data_t *node = node_find(index);

	if (!node)
		return -ENODATA;
	*number = index;
	memory->total = managed_bytes(node);
	memory->free = zones_bytes(node, NR_FREE_PAGES);
#ifdef CONFIG_SWAP
	memory->swap_cached = node_bytes(node, NR_SWAPCACHE);
#endif

	memory->active_anon = node_bytes(node, NR_ACTIVE_ANON);
	memory->inactive_anon = node_bytes(node, NR_INACTIVE_ANON);
	memory->active_file = node_bytes(node, NR_ACTIVE_FILE);
	memory->inactive_file = node_bytes(node, NR_INACTIVE_FILE);
	memory->active = memory->active_anon + memory->active_file;
	memory->inactive = memory->inactive_anon + memory->inactive_file;
	memory->unevictable = node_bytes(node, NR_UNEVICTABLE);
	memory->mlocked = zones_bytes(node, NR_MLOCK);

	memory->dirty = node_bytes(node, NR_FILE_DIRTY);
	memory->writeback = node_bytes(node, NR_WRITEBACK);
	memory->file_pages = node_bytes(node, NR_FILE_PAGES);
	memory->mapped = node_bytes(node, NR_FILE_MAPPED);
	memory->anon_pages = node_bytes(node, NR_ANON_MAPPED);
	memory->shmem = node_bytes(node, NR_SHMEM);
	memory->kernel_stack = node_bytes(node, NR_KERNEL_STACK_KB) >> (PAGE_SHIFT - 10);
	memory->page_tables = node_bytes(node, NR_PAGETABLE);
	memory->sec_page_tables = node_bytes(node, NR_SECONDARY_PAGETABLE);
	memory->sreclaimable = node_bytes(node, NR_SLAB_RECLAIMABLE_B);
	memory->sunreclaim = node_bytes(node, NR_SLAB_UNRECLAIMABLE_B);
	memory->slab = memory->sreclaimable + memory->sunreclaim;
	memory->kreclaimable = memory->sreclaimable + node_bytes(node, NR_KERNEL_MISC_RECLAIMABLE);
	memory->anon_huge_pages = node_bytes(node, NR_ANON_THPS);
	memory->shmem_huge_pages = node_bytes(node, NR_SHMEM_THPS);
	memory->shmem_pmd_mapped = node_bytes(node, NR_SHMEM_PMDMAPPED);
	memory->file_huge_pages = node_bytes(node, NR_FILE_THPS);
	memory->file_pmd_mapped = node_bytes(node, NR_FILE_PMDMAPPED);
	return 0;
}

static const struct dart_sampler_kind memory_kind = {
	.name = "dart_zero_node_memory",
	.length = sizeof(struct dart_zero_node_memory),
	.sample_row = sample_memory,
};

static void sample_zone(struct zone *zone, struct dart_zero_zone *sample)
{
	sample->free = dart_bytes_of_pages(zone_page_state(zone, NR_FREE_PAGES));
	sample->min = dart_bytes_of_pages(min_wmark_pages(zone));
	sample->low = dart_bytes_of_pages(low_wmark_pages(zone));
	sample->high = dart_bytes_of_pages(high_wmark_pages(zone));
	sample->managed = dart_bytes_of_pages(zone_managed_pages(zone));
	sample->present = dart_bytes_of_pages(READ_ONCE(zone->present_pages));
}

static int sample_zones(struct dart_sampler *sampler, u32 index, u64 *number,
			void *sample, u64 *time)
{
	struct dart_zero_node_zones *zones = sample;
	pg_data_t *node = node_find(index);

	if (!node)
		return -ENODATA;
	*number = index;
#ifdef CONFIG_ZONE_DMA
	sample_zone(&node->node_zones[ZONE_DMA], &zones->dma);
#endif
#ifdef CONFIG_ZONE_DMA32
	sample_zone(&node->node_zones[ZONE_DMA32], &zones->dma32);
#endif
	sample_zone(&node->node_zones[ZONE_NORMAL], &zones->normal);
	sample_zone(&node->node_zones[ZONE_MOVABLE], &zones->movable);
#ifdef CONFIG_ZONE_DEVICE
	sample_zone(&node->node_zones[ZONE_DEVICE], &zones->device);
#endif
	zones->page_size = PAGE_SIZE;
	return 0;
}

static const struct dart_sampler_kind zones_kind = {
	.name = "dart_zero_node_zones",
	.length = sizeof(struct dart_zero_node_zones),
	.sample_row = sample_zones,
};

struct dart_sampler *dart_node_sampler_open(const struct dart_zero_window *window)
{
	const bool is_zones = window->source == DART_ZERO_SOURCE_NODE_ZONES;
	struct dart_sampler *sampler;

	sampler = dart_sampler_new(is_zones ? &zones_kind : &memory_kind);
	if (IS_ERR(sampler))
		return sampler;
	sampler->indices = nr_node_ids;
	sampler->rows = num_possible_nodes();
	return sampler;
}
