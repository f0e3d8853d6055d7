// SPDX-License-Identifier: GPL-2.0-only
#include "extent.h"

#include <linux/bpf.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "region.h"
#include "source.h"

static struct dart_extent *extent_alloc(u64 pages)
{
	struct dart_extent *extent;

	if (pages > DART_REGION_CAPACITY >> PAGE_SHIFT)
		return ERR_PTR(-ENOSPC);

	extent = kvzalloc(struct_size(extent, pages, pages),
			  GFP_KERNEL_ACCOUNT);
	if (!extent)
		return ERR_PTR(-ENOMEM);

	extent->info.pages = pages;
	return extent;
}

/* Per-CPU units lie in the linear map or in vmalloc, maps in vmalloc. */
static struct page *page_of(const void *address)
{
	return is_vmalloc_addr(address) ? vmalloc_to_page(address) :
					  virt_to_page(address);
}

struct dart_extent *dart_extent_new_window(u32 source_id)
{
	const struct dart_source *source = dart_source_find(source_id);
	unsigned int first, in_page, run, cpu, i;
	struct dart_extent *extent;
	const void *variable;

	if (!source)
		return ERR_PTR(-EINVAL);

	/* The units of all CPUs are page-aligned: one offset serves for all. */
	first = cpumask_first(cpu_possible_mask);
	variable = per_cpu_ptr(source->variable, first);
	in_page = offset_in_page(variable);
	run = PFN_UP(in_page + source->length);

	extent = extent_alloc((u64)run * nr_cpu_ids);
	if (IS_ERR(extent))
		return extent;

	for_each_possible_cpu(cpu) {
		variable = per_cpu_ptr(source->variable, cpu);
		if (WARN_ON_ONCE(offset_in_page(variable) != in_page)) {
			dart_extent_free(extent);
			return ERR_PTR(-EINVAL);
		}
		for (i = 0; i < run; i++)
			extent->pages[cpu * run + i] =
				page_of(variable - in_page + i * PAGE_SIZE);
	}

	extent->source = source;
	extent->info.kind = DART_ZERO_EXTENT_WINDOW;
	extent->info.source = source_id;
	extent->info.data = in_page;
	extent->info.length = source->length;
	extent->info.stride = (u64)run * PAGE_SIZE;
	extent->info.copies = nr_cpu_ids;
	strscpy(extent->info.name, source->symbol, sizeof(extent->info.name));
	return extent;
}

/*
 * Holds the map behind @fd.  It must be open for reading, as it would have to
 * be for mmap(): bpf_map_get() does not look at that.
 */
static struct bpf_map *map_get_for_reading(int fd)
{
	struct file *file = fget(fd);
	struct bpf_map *map;

	if (!file)
		return ERR_PTR(-EBADF);

	map = bpf_map_get(fd);
	if (IS_ERR(map))
		goto out;

	/* The descriptor may have become another file's in between. */
	if (file->private_data != map || !(file->f_mode & FMODE_CAN_READ)) {
		bpf_map_put(map);
		map = ERR_PTR(-EPERM);
	}
out:
	fput(file);
	return map;
}

struct dart_extent *dart_extent_new_map(int fd)
{
	struct dart_extent *extent;
	struct bpf_array *array;
	struct bpf_map *map;
	u64 i, bytes;

	map = map_get_for_reading(fd);
	if (IS_ERR(map))
		return ERR_CAST(map);

	/* As bpf_map_mmap(): no locks, timers and pointers of the kernel. */
	if (map->map_type != BPF_MAP_TYPE_ARRAY ||
	    !(map->map_flags & BPF_F_MMAPABLE) ||
	    !IS_ERR_OR_NULL(map->record)) {
		extent = ERR_PTR(-EINVAL);
		goto err_put;
	}

	array = container_of(map, struct bpf_array, map);
	bytes = (u64)array->elem_size * map->max_entries;
	extent = extent_alloc(PFN_UP(bytes));
	if (IS_ERR(extent))
		goto err_put;

	for (i = 0; i < extent->info.pages; i++)
		extent->pages[i] = page_of(array->value + i * PAGE_SIZE);

	extent->map = map;
	extent->info.kind = DART_ZERO_EXTENT_MAP;
	extent->info.map_id = map->id;
	extent->info.length = map->value_size;
	extent->info.stride = array->elem_size;
	extent->info.copies = map->max_entries;
	strscpy(extent->info.name, map->name, sizeof(extent->info.name));
	return extent;

err_put:
	bpf_map_put(map);
	return extent;
}

void dart_extent_free(struct dart_extent *extent)
{
	if (extent->map)
		bpf_map_put(extent->map);
	kvfree(extent);
}

bool dart_extent_same(const struct dart_extent *a, const struct dart_extent *b)
{
	return a->source == b->source && a->map == b->map;
}
