// SPDX-License-Identifier: GPL-2.0-only
/* Regions: extents, slices, and the mappings that show them. */
#include "region.h"

#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kmod/base/compat.h"
#include "kmod/extents/extent.h"
#include "kmod/extents/extents.h"
#include "kmod/extents/slab.h"

struct dart_region *dart_region_new(struct file *file)
{
	struct dart_region *region;

	region = kvzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return ERR_PTR(-ENOMEM);

	region->hole = dart_hole_new();
	if (!region->hole) {
		kvfree(region);
		return ERR_PTR(-ENOMEM);
	}

	mutex_init(&region->lock);
	dart_extents_init(&region->extents);
	xa_init(&region->slices);
	xa_init(&region->records);
	dart_events_init(&region->events);
	dart_namespace_watch_init(&region->namespaces, &region->events);
	region->file = file;
	dart_quarantine_watch_init(&region->quarantine, &region->events);
	dart_gathering_init(&region->gathering, &region->events);
	return region;
}

/* No file and no mapping exists any more, but pages may still be held. */
void dart_region_free(struct dart_region *region)
{
	struct dart_record *record;
	struct dart_slice *slice;
	unsigned long index;

	dart_namespace_watch_set(&region->namespaces, false, 0);
	dart_quarantine_watch_stop(&region->quarantine);
	xa_for_each(&region->slices, index, slice)
		dart_slice_withdraw(slice);
	xa_destroy(&region->slices);
	xa_for_each(&region->records, index, record)
		dart_gathering_remove(&region->gathering, record);
	xa_destroy(&region->records);
	dart_gathering_exit(&region->gathering);
	dart_extents_destroy(&region->extents);
	dart_hole_free(region->hole);
	kvfree(region);
}

/*
 * Clears the page table entries of @pages pages from byte @offset in every
 * mapping: the next access faults and finds the current pages.  f_mapping is
 * that of the device's inode, so other regions lose their entries for the same
 * offsets and fault them in again.
 */
static void region_unmap(struct dart_region *region, u64 offset, u64 pages)
{
	unmap_mapping_range(region->file->f_mapping, offset, pages << PAGE_SHIFT, 1);
}

/* The description for user space. */
static struct dart_zero_extent describe(const struct dart_extent *extent)
{
	struct dart_zero_extent info = extent->info;

	if (READ_ONCE(extent->is_gone))
		info.flags |= DART_ZERO_EXTENT_GONE;
	return info;
}

/* Gives @extent a place and an id.  Called with the region's lock held. */
static int region_insert(struct dart_region *region, struct dart_extent *extent)
{
	bool is_new;
	int ret;

	if (region->last_id == U32_MAX)
		return -ENOSPC;
	ret = dart_extents_add(&region->extents, extent, region->last_id + 1, &is_new);
	if (ret)
		return ret;
	/*
	 * Mappings show a hole at this place, or still the previous extent.  The lock keeps other
	 * extents from sharing the place before the entries are cleared.
	 */
	if (is_new)
		region_unmap(region, extent->info.offset, extent->info.pages);

	region->last_id++;
	if (extent->kind->begin)
		extent->kind->begin(extent, &region->events);
	dart_quarantine_begin(extent);
	return 0;
}

int dart_region_add(struct dart_region *region, struct dart_extent *extent,
		    struct dart_zero_extent *info)
{
	int ret;

	mutex_lock(&region->lock);
	ret = region_insert(region, extent);
	if (!ret)
		*info = describe(extent);
	mutex_unlock(&region->lock);
	return ret;
}

/* Gives @slice an id.  Called with the region's lock held. */
static int region_insert_slice(struct dart_region *region, struct dart_slice *slice)
{
	int ret;

	if (region->last_id == U32_MAX)
		return -ENOSPC;
	ret = xa_insert(&region->slices, region->last_id + 1, slice, GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	slice->id = ++region->last_id;
	slice->gone.id = slice->id;
	return 0;
}

/* From now on @extent cannot be removed before @slice.  Returns the place of @slice. */
static u64 extent_count_slice(struct dart_extent *extent, struct dart_slice *slice)
{
	slice->slab_id = extent->info.id;
	extent->parts++;
	return extent->info.data + (u64)slice->first * PAGE_SIZE;
}

int dart_region_add_slice(struct dart_region *region,
			  struct dart_zero_slice *lent, struct file **file)
{
	struct dart_extent *extent;
	struct dart_slice *slice;
	int ret;

	mutex_lock(&region->lock);
	extent = dart_extents_find(&region->extents, lent->slab);
	if (!extent) {
		ret = -ENOENT;
		goto out;
	}
	slice = dart_slice_new(extent, lent->pages, &region->events, file);
	if (IS_ERR(slice)) {
		ret = PTR_ERR(slice);
		goto out;
	}

	ret = region_insert_slice(region, slice);
	if (ret) {
		fput(*file);
		dart_slice_withdraw(slice);
		goto out;
	}
	lent->id = slice->id;
	lent->data = extent_count_slice(extent, slice);
out:
	mutex_unlock(&region->lock);
	return ret;
}

int dart_region_adopt(struct dart_region *region, struct dart_slice *slice,
		      struct dart_zero_adoption *adoption, bool *is_shown)
{
	struct dart_extent *extent;
	int ret;

	mutex_lock(&region->lock);
	ret = dart_slice_adopt(slice, &region->events);
	if (ret == -EEXIST)
		adoption->id = slice->id;
	if (ret)
		goto out;

	extent = dart_extents_find_memory(&region->extents, slice->slab);
	*is_shown = extent;
	if (!extent)
		extent = dart_slab_open_again(slice->slab);
	if (IS_ERR(extent)) {
		ret = PTR_ERR(extent);
		goto err_slice;
	}
	/* The slice comes first, because taking it out again needs no memory. */
	ret = region_insert_slice(region, slice);
	if (ret)
		goto err_extent;
	if (!*is_shown)
		ret = region_insert(region, extent);
	if (ret)
		goto err_id;

	adoption->id = slice->id;
	adoption->pages = slice->pages;
	adoption->data = extent_count_slice(extent, slice);
	adoption->slab = describe(extent);
	goto out;

err_id:
	xa_erase(&region->slices, slice->id);
err_extent:
	if (!*is_shown)
		dart_extent_free(extent);
err_slice:
	dart_slice_withdraw(slice);
out:
	mutex_unlock(&region->lock);
	return ret;
}

/*
 * Takes the slice @id out of the region; NULL if there is none.  Called with the region's lock
 * held.
 */
static struct dart_slice *region_take_slice(struct dart_region *region, u32 id)
{
	struct dart_slice *slice = xa_erase(&region->slices, id);

	if (slice)
		dart_extents_find(&region->extents, slice->slab_id)->parts--;
	return slice;
}

int dart_region_remove(struct dart_region *region, u32 id)
{
	struct dart_extent *extent = NULL;
	struct dart_record *record;
	struct dart_slice *slice;
	bool is_last;
	int ret = 0;

	mutex_lock(&region->lock);
	slice = region_take_slice(region, id);
	record = dart_region_take_record(region, id);
	if (!slice && !record)
		extent = dart_extents_find(&region->extents, id);
	if (extent && extent->parts)
		ret = -EBUSY;
	else if (extent)
		ret = dart_extents_remove(&region->extents, extent, &is_last);
	else if (!slice && !record)
		ret = -ENOENT;
	mutex_unlock(&region->lock);

	if (ret)
		return ret;
	if (slice) {
		dart_slice_withdraw(slice);
		return 0;
	}
	if (record) {
		dart_gathering_remove(&region->gathering, record);
		return 0;
	}
	if (is_last)
		region_unmap(region, extent->info.offset, extent->info.pages);
	dart_quarantine_add(extent);
	return 0;
}

int dart_region_list(struct dart_region *region,
		     struct dart_zero_extent *infos, u32 room, u32 *count)
{
	struct dart_extent *extent = NULL;
	int ret = 0;

	mutex_lock(&region->lock);
	*count = region->extents.count;
	if (*count > room)
		ret = -ENOSPC;
	else
		while ((extent = dart_extents_next(&region->extents, extent)))
			*infos++ = describe(extent);
	mutex_unlock(&region->lock);
	return ret;
}

void dart_region_info(struct dart_region *region, struct dart_zero_info *info)
{
	*info = (struct dart_zero_info){
		.size = sizeof(*info),
		.abi_version = DART_ZERO_ABI_VERSION,
		.page_size = PAGE_SIZE,
		.cpus = nr_cpu_ids,
		.extents_max = DART_EXTENTS_MAX,
		.capacity = dart_region_pages << PAGE_SHIFT,
		.quarantined = dart_quarantine_extents(),
		.flags = dart_region_has_windows ? 0 : DART_ZERO_INFO_NO_WINDOWS,
	};

	mutex_lock(&region->lock);
	info->extents = region->extents.count;
	info->used = dart_extents_end(&region->extents) << PAGE_SHIFT;
	mutex_unlock(&region->lock);
}

/*
 * Called with mmap_lock held.  The page is inserted under the region's lock.  So this function
 * either no longer finds an extent that is being removed, or inserts its page before region_unmap()
 * looks.
 */
static vm_fault_t region_fault(struct vm_fault *vmf)
{
	struct dart_region *region = vmf->vma->vm_private_data;
	vm_fault_t result;
	struct page *page;

	if (vmf->pgoff >= dart_region_pages)
		return VM_FAULT_SIGBUS;

	mutex_lock(&region->lock);
	page = dart_extents_page(&region->extents, vmf->pgoff);
	result = vmf_insert_page(vmf->vma, vmf->address, page ?: region->hole);
	mutex_unlock(&region->lock);
	return result;
}

static const struct vm_operations_struct region_vm_ops = {
	.fault = region_fault,
};

int dart_region_mmap(struct dart_region *region, struct vm_area_struct *vma)
{
	/* VM_SHARED is not set if the file is open for reading only. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (vma->vm_pgoff > dart_region_pages || vma_pages(vma) > dart_region_pages - vma->vm_pgoff)
		return -EINVAL;

	/*
	 * Not VM_IO or VM_PFNMAP: their pages cannot be pinned.  VM_MIXEDMAP
	 * allows pages that are not in the page cache.
	 */
	vm_flags_mod(vma, VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY,
		     VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_private_data = region;
	vma->vm_ops = &region_vm_ops;
	return 0;
}
