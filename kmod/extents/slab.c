// SPDX-License-Identifier: GPL-2.0-only
/* Slabs, and their slices, which processes write. */
#include "slab.h"

#include <linux/anon_inodes.h>
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "extent.h"
#include "kmod/base/compat.h"
#include "quarantine.h"

/*
 * New pages, parts of which are lent as slices.  A slab lives as long as the extent that shows it
 * or a slice of it.  At most one extent shows it: two regions would lend the same pages, and remove
 * each other's slices.
 */
struct dart_slab {
	refcount_t references;
	/*
	 * Taken inside a region's lock.  Guards the next four members, free pages in @pages, and
	 * the events of slices.
	 */
	struct mutex lock;
	const struct dart_extent *shown_by;
	u32 page_count;
	u32 next;			/* the search for free pages starts here */
	unsigned long *used;		/* by page */
	/*
	 * By page: pages of slices that were held when another region showed the slab, through
	 * mappings or pins of the former region.  They are not lent again, because the slab cannot
	 * distinguish its own references from these.
	 */
	unsigned long *stale;
	struct page *pages[];
};

static void slab_free(struct dart_slab *slab)
{
	u32 i;

	for (i = 0; i < slab->page_count; i++)
		__free_page(slab->pages[i]);
	bitmap_free(slab->used);
	bitmap_free(slab->stale);
	mutex_destroy(&slab->lock);
	kvfree(slab);
}

static void slab_put(void *held)
{
	struct dart_slab *slab = held;

	if (slab && refcount_dec_and_test(&slab->references))
		slab_free(slab);
}

static struct dart_slab *slab_new(u32 pages)
{
	struct dart_slab *slab;
	struct page *page;

	slab = kvzalloc(struct_size(slab, pages, pages), GFP_KERNEL_ACCOUNT);
	if (!slab)
		return NULL;
	refcount_set(&slab->references, 1);
	mutex_init(&slab->lock);
	slab->used = bitmap_zalloc(pages, GFP_KERNEL_ACCOUNT);
	slab->stale = bitmap_zalloc(pages, GFP_KERNEL_ACCOUNT);
	if (!slab->used || !slab->stale)
		goto err_slab;

	while (slab->page_count < pages) {
		if (fatal_signal_pending(current))
			goto err_slab;
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			goto err_slab;
		slab->pages[slab->page_count++] = page;
		cond_resched();
	}
	return slab;

err_slab:
	slab_free(slab);
	return NULL;
}

/*
 * No region shows @slab, but readers of the former region may hold its pages, and must not see
 * bytes that later slices write.  So this replaces free pages that are held.  Called with the lock
 * held.
 */
static int slab_leave_held(struct dart_slab *slab)
{
	struct page *page;
	u32 i;

	for (i = 0; i < slab->page_count; i++) {
		if (!dart_page_is_held(slab->pages[i]))
			continue;
		if (test_bit(i, slab->used)) {
			__set_bit(i, slab->stale);
			continue;
		}
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		__free_page(slab->pages[i]);
		slab->pages[i] = page;
	}
	return 0;
}

static int slab_show(struct dart_extent *extent)
{
	const u32 pages = extent->info.pages;
	struct dart_slab *slab = extent->held ?: slab_new(pages);
	int ret = 0;

	if (!slab)
		return -ENOMEM;
	mutex_lock(&slab->lock);
	if (slab->shown_by)
		ret = -EBUSY;
	else if (extent->held)
		ret = slab_leave_held(slab);
	if (!ret)
		slab->shown_by = extent;
	mutex_unlock(&slab->lock);
	if (ret)
		return ret;

	memcpy(extent->pages, slab->pages, array_size(pages, sizeof(*slab->pages)));
	extent->held = slab;
	extent->memory = slab;
	extent->info.length = PAGE_SIZE;
	extent->info.stride = PAGE_SIZE;
	extent->info.copies = pages;
	return 0;
}

static void slab_end(struct dart_extent *extent)
{
	struct dart_slab *slab = extent->held;

	if (!slab)
		return;
	mutex_lock(&slab->lock);
	if (slab->shown_by == extent)
		slab->shown_by = NULL;
	mutex_unlock(&slab->lock);
}

static const struct dart_extent_kind slab_kind = {
	.id = DART_ZERO_EXTENT_SLAB,
	.show = slab_show,
	.end = slab_end,
	.release = slab_put,
};

struct dart_extent *dart_slab_open(u32 pages)
{
	return dart_extent_new(&slab_kind, NULL, pages);
}

struct dart_extent *dart_slab_open_again(struct dart_slab *slab)
{
	refcount_inc(&slab->references);
	return dart_extent_new(&slab_kind, slab, slab->page_count);
}

/* Takes a run of free pages; returns false if there is none. */
static bool slab_take(struct dart_slab *slab, u32 pages, u32 *first)
{
	unsigned long at;

	mutex_lock(&slab->lock);
	at = bitmap_find_next_zero_area(slab->used, slab->page_count, slab->next, pages, 0);
	if (at >= slab->page_count)
		at = bitmap_find_next_zero_area(slab->used, slab->page_count, 0, pages, 0);
	if (at < slab->page_count) {
		bitmap_set(slab->used, at, pages);
		slab->next = at + pages;
		*first = at;
	}
	mutex_unlock(&slab->lock);
	return at < slab->page_count;
}

static void slice_put(struct dart_slice *slice)
{
	struct dart_slab *slab = slice->slab;
	u32 i;

	if (!refcount_dec_and_test(&slice->references))
		return;

	/* The pages may get another owner and other readers. */
	for (i = 0; i < slice->pages; i++)
		clear_highpage(slab->pages[slice->first + i]);
	mutex_lock(&slab->lock);
	for (i = slice->first; i < slice->first + slice->pages; i++)
		if (!test_bit(i, slab->stale))
			__clear_bit(i, slab->used);
	mutex_unlock(&slab->lock);
	slab_put(slab);
	kfree(slice);
}

void dart_slice_withdraw(struct dart_slice *slice)
{
	mutex_lock(&slice->slab->lock);
	dart_event_cancel(slice->events, &slice->gone);
	slice->events = NULL;
	mutex_unlock(&slice->slab->lock);
	slice_put(slice);
}

static int slice_release(struct inode *inode, struct file *file)
{
	struct dart_slice *slice = file->private_data;

	mutex_lock(&slice->slab->lock);
	if (slice->events)
		dart_event_tell(slice->events, &slice->gone);
	mutex_unlock(&slice->slab->lock);
	slice_put(slice);
	return 0;
}

static int slice_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct dart_slice *slice = file->private_data;
	unsigned long pages = vma_pages(vma), i;
	int ret = 0;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;

	if (vma->vm_pgoff || pages > slice->pages)
		return -ENXIO;

	/*
	 * Pages mapped by number cannot be pinned: a pin could write to them after they are lent to
	 * another process.  The mapping holds the file.
	 */
	vm_flags_mod(vma, 0, VM_MAYEXEC);
	for (i = 0; i < pages && !ret; i++)
		ret = remap_pfn_range(vma, vma->vm_start + i * PAGE_SIZE,
				      page_to_pfn(slice->slab->pages[slice->first + i]),
				      PAGE_SIZE, vma->vm_page_prot);
	return ret;
}

static const struct file_operations slice_fops = {
	.owner = THIS_MODULE,
	.release = slice_release,
	.mmap = slice_mmap,
};

struct dart_slice *dart_slice_new(const struct dart_extent *extent, u32 pages,
				  struct dart_events *events, struct file **file)
{
	struct dart_slab *slab = extent->held;
	struct dart_slice *slice;

	if (extent->kind != &slab_kind)
		return ERR_PTR(-ENOENT);
	slice = kzalloc(sizeof(*slice), GFP_KERNEL_ACCOUNT);
	if (!slice)
		return ERR_PTR(-ENOMEM);
	if (!slab_take(slab, pages, &slice->first)) {
		kfree(slice);
		return ERR_PTR(-ENOSPC);
	}

	refcount_inc(&slab->references);
	refcount_set(&slice->references, 1);
	slice->slab = slab;
	slice->pages = pages;
	slice->events = events;
	dart_event_init(&slice->gone, DART_ZERO_EVENT_SLICE_GONE);

	*file = anon_inode_getfile("[dart_slice]", &slice_fops, slice, O_RDWR);
	if (IS_ERR(*file)) {
		slice_put(slice);
		return ERR_CAST(*file);
	}
	refcount_inc(&slice->references);
	return slice;
}

struct dart_slice *dart_slice_of(const struct file *file)
{
	return file->f_op == &slice_fops ? file->private_data : NULL;
}

int dart_slice_adopt(struct dart_slice *slice, struct dart_events *events)
{
	int ret = 0;

	mutex_lock(&slice->slab->lock);
	if (slice->events) {
		ret = slice->events == events ? -EEXIST : -EBUSY;
	} else {
		slice->events = events;
		refcount_inc(&slice->references);
	}
	mutex_unlock(&slice->slab->lock);
	return ret;
}
