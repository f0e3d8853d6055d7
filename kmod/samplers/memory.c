// SPDX-License-Identifier: GPL-2.0-only
/* Samples the memory of the host. */
#include "sampler.h"

#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

static u64 node_bytes(enum node_stat_item item)
{
	return dart_bytes_of_pages(global_node_page_state_pages(item));
}

static u64 zone_bytes(enum zone_stat_item item)
{
	return dart_bytes_of_pages(global_zone_page_state(item));
}

/* Like fs/proc/meminfo.c, with the same rounding. */
static int sample_memory(struct dart_sampler *sampler, void *sample, u64 *time)
{
	struct dart_zero_memory *memory = sample;
	struct sysinfo info;
	u64 swap_cached;

	si_meminfo(&info);
	swap_cached = dart_bytes_of_pages(total_swapcache_pages());
	memory->total = dart_bytes_of_pages(info.totalram);
	memory->free = dart_bytes_of_pages(info.freeram);
	memory->available = dart_bytes_of_pages(si_mem_available());
	memory->buffers = dart_bytes_of_pages(info.bufferram);
	memory->swap_cached = swap_cached;
	memory->cached = node_bytes(NR_FILE_PAGES);
	memory->cached -= min(memory->cached, swap_cached + memory->buffers);

	memory->active_anon = node_bytes(NR_ACTIVE_ANON);
	memory->inactive_anon = node_bytes(NR_INACTIVE_ANON);
	memory->active_file = node_bytes(NR_ACTIVE_FILE);
	memory->inactive_file = node_bytes(NR_INACTIVE_FILE);
	memory->active = memory->active_anon + memory->active_file;
	memory->inactive = memory->inactive_anon + memory->inactive_file;
	memory->unevictable = node_bytes(NR_UNEVICTABLE);
	memory->mlocked = zone_bytes(NR_MLOCK);
	memory->swap_free = dart_bytes_of_pages(get_nr_swap_pages());

	memory->dirty = node_bytes(NR_FILE_DIRTY);
	memory->writeback = node_bytes(NR_WRITEBACK);
	memory->anon_pages = node_bytes(NR_ANON_MAPPED);
	memory->mapped = node_bytes(NR_FILE_MAPPED);
	memory->shmem = dart_bytes_of_pages(info.sharedram);
	memory->sreclaimable = node_bytes(NR_SLAB_RECLAIMABLE_B);
	memory->sunreclaim = node_bytes(NR_SLAB_UNRECLAIMABLE_B);
	memory->slab = memory->sreclaimable + memory->sunreclaim;
	memory->kreclaimable = memory->sreclaimable + node_bytes(NR_KERNEL_MISC_RECLAIMABLE);
	memory->kernel_stack = (u64)global_node_page_state_pages(NR_KERNEL_STACK_KB) << 10;
	memory->page_tables = node_bytes(NR_PAGETABLE);
	memory->sec_page_tables = node_bytes(NR_SECONDARY_PAGETABLE);
	memory->committed_as = dart_bytes_of_pages(vm_memory_committed());
	memory->anon_huge_pages = node_bytes(NR_ANON_THPS);
	memory->shmem_huge_pages = node_bytes(NR_SHMEM_THPS);
	memory->shmem_pmd_mapped = node_bytes(NR_SHMEM_PMDMAPPED);
	memory->file_huge_pages = node_bytes(NR_FILE_THPS);
	memory->file_pmd_mapped = node_bytes(NR_FILE_PMDMAPPED);
	return 0;
}

const struct dart_sampler_kind dart_memory_sampler = {
	.name = "dart_zero_memory",
	.length = sizeof(struct dart_zero_memory),
	.sample = sample_memory,
};
