// SPDX-License-Identifier: GPL-2.0-only
/* Regions: extents at their places, and the mappings that show them. */
#include "region.h"

#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat.h"
#include "extent.h"
#include "slab.h"

struct dart_region *dart_region_new(struct file *file)
{
	struct dart_region *region;

	region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);
	if (!region)
		return ERR_PTR(-ENOMEM);

	region->hole = dart_hole_new();
	if (!region->hole) {
		kfree(region);
		return ERR_PTR(-ENOMEM);
	}

	mutex_init(&region->lock);
	mt_init_flags(&region->extents, MT_FLAGS_ALLOC_RANGE);
	xa_init(&region->slices);
	dart_events_init(&region->events);
	dart_namespace_watch_init(&region->namespaces, &region->events);
	region->file = file;
	dart_quarantine_watch_init(&region->quarantine, &region->events);
	return region;
}

/* No file is left, and so no mapping, but pages may be held. */
void dart_region_free(struct dart_region *region)
{
	struct dart_extent *extent;
	struct dart_slice *slice;
	unsigned long index;

	dart_namespace_watch_set(&region->namespaces, false, 0);
	dart_quarantine_watch_stop(&region->quarantine);
	xa_for_each(&region->slices, index, slice)
		dart_slice_withdraw(slice);
	xa_destroy(&region->slices);
	index = 0;
	mt_for_each(&region->extents, extent, index, ULONG_MAX)
		dart_quarantine_add(extent);
	mtree_destroy(&region->extents);
	dart_hole_free(region->hole);
	kfree(region);
}

/*
 * Clears the page table entries of @pages pages from byte @offset in every
 * mapping: the next access faults and finds the current pages.  f_mapping is
 * that of the device's inode, so other regions lose their entries for the same
 * offsets and fault them in again.
 */
static void region_unmap(struct dart_region *region, u64 offset, u64 pages)
{
	unmap_mapping_range(region->file->f_mapping, offset,
			    pages << PAGE_SHIFT, 1);
}

static struct dart_extent *region_find(struct dart_region *region, u32 id)
{
	struct dart_extent *extent;
	unsigned long index = 0;

	mt_for_each(&region->extents, extent, index, ULONG_MAX)
		if (extent->info.id == id)
			return extent;
	return NULL;
}

/* The extent that shows @memory, or NULL. */
static struct dart_extent *region_find_memory(struct dart_region *region,
					      const void *memory)
{
	struct dart_extent *extent;
	unsigned long index = 0;

	mt_for_each(&region->extents, extent, index, ULONG_MAX)
		if (extent->memory == memory)
			return extent;
	return NULL;
}

/*
 * Would more than an eighth of the region be taken by one user who may create
 * namespaces?  Called with the region's lock held.
 */
static bool region_is_over_quota(struct dart_region *region,
				 const struct dart_extent *added)
{
	u64 pages = added->info.pages;
	struct dart_extent *extent;
	unsigned long index = 0;
	u32 count = 1;

	mt_for_each(&region->extents, extent, index, ULONG_MAX) {
		if (extent->payer != added->payer)
			continue;
		count++;
		pages += extent->info.pages;
	}
	return count > DART_REGION_EXTENTS_MAX / 8 ||
	       pages > dart_region_pages / 8;
}

/* As user space sees it. */
static struct dart_zero_extent describe(const struct dart_extent *extent)
{
	struct dart_zero_extent info = extent->info;

	if (READ_ONCE(extent->is_gone))
		info.flags |= DART_ZERO_EXTENT_GONE;
	return info;
}

/*
 * Puts @extent at the first gap that is large enough, as mtree_alloc_range()
 * does, which overlooks gaps before 6.5.  Called with the region's lock held.
 */
static int region_place(struct dart_region *region, struct dart_extent *extent)
{
	MA_STATE(mas, &region->extents, 0, 0);
	int ret;

	mas_lock(&mas);
	ret = mas_empty_area(&mas, 0, dart_region_pages - 1,
			     extent->info.pages);
	if (!ret) {
		extent->info.offset = (u64)mas.index << PAGE_SHIFT;
		ret = mas_store_gfp(&mas, extent, GFP_KERNEL_ACCOUNT);
	}
	mas_unlock(&mas);
	return ret == -EBUSY ? -ENOSPC : ret;
}

/* Gives @extent a place and an id.  Called with the region's lock held. */
static int region_insert(struct dart_region *region, struct dart_extent *extent)
{
	int ret;

	if (region->count == DART_REGION_EXTENTS_MAX ||
	    region->last_id == U32_MAX)
		return -ENOSPC;
	ret = region_place(region, extent);
	if (ret)
		return ret;

	region->count++;
	extent->info.id = ++region->last_id;
	extent->info.data += extent->info.offset;
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
	if (region_find_memory(region, extent->memory))
		ret = -EEXIST;
	else if (extent->payer && region_is_over_quota(region, extent))
		ret = -EDQUOT;
	else
		ret = region_insert(region, extent);
	if (!ret)
		*info = describe(extent);
	mutex_unlock(&region->lock);

	if (!ret)
		region_unmap(region, info->offset, info->pages);
	return ret;
}

/* Gives @slice an id.  Called with the region's lock held. */
static int region_insert_slice(struct dart_region *region,
			       struct dart_slice *slice)
{
	int ret;

	if (region->last_id == U32_MAX)
		return -ENOSPC;
	ret = xa_insert(&region->slices, region->last_id + 1, slice,
			GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	slice->id = ++region->last_id;
	slice->gone.id = slice->id;
	return 0;
}

/* @extent cannot be removed before @slice.  Returns where @slice is. */
static u64 extent_count_slice(struct dart_extent *extent,
			      struct dart_slice *slice)
{
	slice->slab_id = extent->info.id;
	extent->slices++;
	return extent->info.data + (u64)slice->first * PAGE_SIZE;
}

int dart_region_add_slice(struct dart_region *region,
			  struct dart_zero_slice *lent, struct file **file)
{
	struct dart_extent *extent;
	struct dart_slice *slice;
	int ret;

	mutex_lock(&region->lock);
	extent = region_find(region, lent->slab);
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

	extent = region_find_memory(region, slice->slab);
	*is_shown = extent;
	if (!extent)
		extent = dart_slab_open_again(slice->slab);
	if (IS_ERR(extent)) {
		ret = PTR_ERR(extent);
		goto err_slice;
	}
	/* First the slice: to take it out again needs no memory. */
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
	/* Before another thread can adopt a slice of the same slab. */
	if (!*is_shown)
		region_unmap(region, extent->info.offset, extent->info.pages);
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
 * Takes out the slice @id; NULL if there is none.  Called with the region's
 * lock held.
 */
static struct dart_slice *region_take_slice(struct dart_region *region, u32 id)
{
	struct dart_slice *slice = xa_erase(&region->slices, id);

	if (slice)
		region_find(region, slice->slab_id)->slices--;
	return slice;
}

/* Takes out @extent, which may need memory.  With the region's lock held. */
static int region_take_extent(struct dart_region *region,
			      const struct dart_extent *extent)
{
	MA_STATE(mas, &region->extents, extent->info.offset >> PAGE_SHIFT,
		 (extent->info.offset >> PAGE_SHIFT) + extent->info.pages - 1);
	int ret;

	mas_lock(&mas);
	ret = mas_store_gfp(&mas, NULL, GFP_KERNEL_ACCOUNT);
	mas_unlock(&mas);
	return ret;
}

int dart_region_remove(struct dart_region *region, u32 id)
{
	struct dart_extent *extent;
	struct dart_slice *slice;
	int ret = 0;

	mutex_lock(&region->lock);
	slice = region_take_slice(region, id);
	extent = slice ? NULL : region_find(region, id);
	if (extent && extent->slices) {
		ret = -EBUSY;
	} else if (extent) {
		ret = region_take_extent(region, extent);
		if (!ret)
			region->count--;
	} else if (!slice) {
		ret = -ENOENT;
	}
	mutex_unlock(&region->lock);

	if (ret)
		return ret;
	if (slice) {
		dart_slice_withdraw(slice);
		return 0;
	}
	region_unmap(region, extent->info.offset, extent->info.pages);
	dart_quarantine_add(extent);
	return 0;
}

int dart_region_list(struct dart_region *region,
		     struct dart_zero_extent *infos, u32 room, u32 *count)
{
	struct dart_extent *extent;
	unsigned long index = 0;
	int ret = 0;

	mutex_lock(&region->lock);
	*count = region->count;
	if (region->count > room) {
		ret = -ENOSPC;
		goto out;
	}
	mt_for_each(&region->extents, extent, index, ULONG_MAX) {
		*infos++ = describe(extent);
	}
out:
	mutex_unlock(&region->lock);
	return ret;
}

void dart_region_info(struct dart_region *region, struct dart_zero_info *info)
{
	struct dart_extent *extent;
	unsigned long index = 0;

	*info = (struct dart_zero_info){
		.size = sizeof(*info),
		.abi_version = DART_ZERO_ABI_VERSION,
		.page_size = PAGE_SIZE,
		.cpus = nr_cpu_ids,
		.extents_max = DART_REGION_EXTENTS_MAX,
		.capacity = dart_region_pages << PAGE_SHIFT,
		.quarantined = dart_quarantine_extents(),
	};

	mutex_lock(&region->lock);
	info->extents = region->count;
	mt_for_each(&region->extents, extent, index, ULONG_MAX)
		info->used = extent->info.offset +
			     (extent->info.pages << PAGE_SHIFT);
	mutex_unlock(&region->lock);
}

/*
 * Called with mmap_lock held.  The page is inserted with the region's lock
 * held: an extent that is being removed is either no longer found here, or its
 * pages are in the page tables before region_unmap() looks there.
 */
static vm_fault_t region_fault(struct vm_fault *vmf)
{
	struct dart_region *region = vmf->vma->vm_private_data;
	struct page *page = NULL;
	struct dart_extent *extent;
	vm_fault_t result;

	if (vmf->pgoff >= dart_region_pages)
		return VM_FAULT_SIGBUS;

	mutex_lock(&region->lock);
	extent = mtree_load(&region->extents, vmf->pgoff);
	if (extent)
		page = extent->pages[vmf->pgoff -
				     (extent->info.offset >> PAGE_SHIFT)];
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
	if (vma->vm_pgoff > dart_region_pages ||
	    vma_pages(vma) > dart_region_pages - vma->vm_pgoff)
		return -EINVAL;

	/*
	 * Not VM_IO or VM_PFNMAP: their pages cannot be pinned.  VM_MIXEDMAP
	 * allows pages that are not in the page cache.
	 */
	vm_flags_mod(vma,
		     VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY,
		     VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_private_data = region;
	vma->vm_ops = &region_vm_ops;
	return 0;
}
