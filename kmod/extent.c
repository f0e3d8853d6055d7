// SPDX-License-Identifier: GPL-2.0-only
#include "extent.h"

#include <linux/bpf.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "counters.h"
#include "percpu.h"
#include "region.h"
#include "slab.h"

struct dart_extent *dart_extent_new(u64 pages)
{
	struct dart_extent *extent;

	if (pages > DART_REGION_CAPACITY >> PAGE_SHIFT)
		return ERR_PTR(-ENOSPC);

	extent = kvzalloc(struct_size(extent, pages, pages),
			  GFP_KERNEL_ACCOUNT);
	if (!extent)
		return ERR_PTR(-ENOMEM);

	extent->info.pages = pages;
	INIT_LIST_HEAD(&extent->shows);
	dart_event_init(&extent->gone, DART_ZERO_EVENT_EXTENT_GONE);
	return extent;
}

/* Per-CPU units lie in the linear map or in vmalloc, maps in vmalloc. */
static struct page *page_of(const void *address)
{
	return is_vmalloc_addr(address) ? vmalloc_to_page(address) :
					  virt_to_page(address);
}

struct dart_extent *dart_extent_new_percpu(struct dart_percpu *percpu)
{
	unsigned int first, in_page, run, cpu, i;
	struct dart_extent *extent;
	const void *variable;

	/* The units of all CPUs are page-aligned: one offset serves for all. */
	first = cpumask_first(cpu_possible_mask);
	variable = per_cpu_ptr(percpu->variable, first);
	in_page = offset_in_page(variable);
	run = PFN_UP(in_page + percpu->length);

	extent = dart_extent_new((u64)run * nr_cpu_ids);
	if (IS_ERR(extent)) {
		dart_percpu_put(percpu);
		return extent;
	}

	extent->percpu = percpu;
	for_each_possible_cpu(cpu) {
		variable = per_cpu_ptr(percpu->variable, cpu);
		if (WARN_ON_ONCE(offset_in_page(variable) != in_page)) {
			dart_extent_free(extent);
			return ERR_PTR(-EINVAL);
		}
		for (i = 0; i < run; i++)
			extent->pages[cpu * run + i] =
				page_of(variable - in_page + i * PAGE_SIZE);
	}

	extent->info.data = in_page;
	extent->info.length = percpu->length;
	extent->info.stride = (u64)run * PAGE_SIZE;
	extent->info.copies = nr_cpu_ids;
	strscpy(extent->info.name, percpu->name, sizeof(extent->info.name));

	mutex_lock(&dart_percpu_lock);
	list_add(&extent->shows, &percpu->shown_by);
	mutex_unlock(&dart_percpu_lock);
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
	extent = dart_extent_new(PFN_UP(bytes));
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

/* Nobody tells @extent's region about it any more. */
static void leave(struct dart_extent *extent)
{
	if (extent->owns_counters)
		dart_counters_end(extent->percpu);

	mutex_lock(&dart_percpu_lock);
	list_del_init(&extent->shows);
	if (extent->events)
		dart_event_cancel(extent->events, &extent->gone);
	extent->events = NULL;
	mutex_unlock(&dart_percpu_lock);
}

void dart_extent_free(struct dart_extent *extent)
{
	leave(extent);
	if (extent->percpu)
		dart_percpu_put(extent->percpu);
	if (extent->map)
		bpf_map_put(extent->map);
	if (extent->slab)
		dart_slab_put(extent->slab);
	kvfree(extent);
}

/*
 * Pages of maps and slabs can be freed while they are pinned: nobody else gets
 * them.  Per-CPU memory would be handed out anew.
 */
void dart_extent_abandon(struct dart_extent *extent)
{
	if (!extent->percpu || !extent->percpu->free) {
		dart_extent_free(extent);
		return;
	}
	leave(extent);
	dart_quarantine_add(extent);
}

bool dart_extent_same(const struct dart_extent *a, const struct dart_extent *b)
{
	if (a->map || b->map)
		return a->map == b->map;
	return a->percpu && b->percpu &&
	       a->percpu->variable == b->percpu->variable;
}

void dart_extent_enter(struct dart_extent *extent, struct dart_events *events)
{
	mutex_lock(&dart_percpu_lock);
	extent->gone.id = extent->info.id;
	extent->events = events;
	if (extent->percpu && extent->percpu->is_gone)
		dart_event_tell(events, &extent->gone);
	mutex_unlock(&dart_percpu_lock);
}

void dart_extent_tell_gone(struct dart_extent *extent)
{
	lockdep_assert_held(&dart_percpu_lock);
	if (extent->events)
		dart_event_tell(extent->events, &extent->gone);
}

bool dart_extent_is_gone(const struct dart_extent *extent)
{
	return extent->percpu && READ_ONCE(extent->percpu->is_gone);
}
