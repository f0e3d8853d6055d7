// SPDX-License-Identifier: GPL-2.0-only
/* The extents of a region: their places, which several can share, and their quotas. */
#include "extents.h"

#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "extent.h"
#include "quarantine.h"

struct dart_run_page {
	struct hlist_node link;		/* in by_page */
	const struct page *page;
	const struct dart_run *run;
};

/* The common place of extents that show the same pages. */
struct dart_run {
	struct list_head extents;	/* dart_extent.same_run, oldest first */
	u64 first;			/* page of the region */
	u64 pages;
	u32 copy_pages;			/* pages of each copy */
	struct dart_run_page copy[];	/* of the first possible CPU */
};

void dart_extents_init(struct dart_extents *extents)
{
	mt_init_flags(&extents->runs, MT_FLAGS_ALLOC_RANGE);
	hash_init(extents->by_page);
	hash_init(extents->by_id);
	hash_init(extents->by_memory);
	hash_init(extents->by_payer);
	extents->count = 0;
}

void dart_extents_destroy(struct dart_extents *extents)
{
	struct dart_extent *extent, *next;
	unsigned long index = 0;
	struct dart_run *run;

	mt_for_each(&extents->runs, run, index, ULONG_MAX) {
		list_for_each_entry_safe(extent, next, &run->extents, same_run)
			dart_quarantine_add(extent);
		kfree(run);
	}
	mtree_destroy(&extents->runs);
}

struct dart_extent *dart_extents_find(struct dart_extents *extents, u32 id)
{
	struct dart_extent *extent;

	hash_for_each_possible(extents->by_id, extent, by_id, id)
		if (extent->info.id == id)
			return extent;
	return NULL;
}

struct dart_extent *dart_extents_find_memory(struct dart_extents *extents, const void *memory)
{
	struct dart_extent *extent;

	hash_for_each_possible(extents->by_memory, extent, by_memory, (unsigned long)memory)
		if (extent->memory == memory)
			return extent;
	return NULL;
}

static struct dart_extent *run_first(const struct dart_run *run)
{
	return list_first_entry(&run->extents, struct dart_extent, same_run);
}

struct dart_extent *dart_extents_next(struct dart_extents *extents,
				      const struct dart_extent *extent)
{
	const struct dart_run *run = extent ? extent->run : NULL;
	unsigned long index = run ? run->first + run->pages : 0;

	if (run && !list_is_last(&extent->same_run, &run->extents))
		return list_entry(extent->same_run.next, struct dart_extent, same_run);
	run = mt_find(&extents->runs, &index, ULONG_MAX);
	return run ? run_first(run) : NULL;
}

struct page *dart_extents_page(struct dart_extents *extents, u64 at)
{
	const struct dart_run *run = mtree_load(&extents->runs, at);

	return run ? run_first(run)->pages[at - run->first] : NULL;
}

u64 dart_extents_end(struct dart_extents *extents)
{
	MA_STATE(mas, &extents->runs, ULONG_MAX, ULONG_MAX);
	const struct dart_run *run;

	mas_lock(&mas);
	run = mas_find_rev(&mas, 0);
	mas_unlock(&mas);
	return run ? run->first + run->pages : 0;
}

/* The pages of the first copy, if other extents may show the pages of @extent as well. */
static struct page **first_copy(struct dart_extent *extent)
{
	return extent->pages + cpumask_first(cpu_possible_mask) * extent->copy_pages;
}

/* Finds the run with the same pages as @extent; NULL if there is none. */
static struct dart_run *find_run(struct dart_extents *extents, struct dart_extent *extent)
{
	const struct dart_extent *other;
	const struct dart_run_page *shown;
	const struct page *page;

	if (!extent->copy_pages)
		return NULL;
	page = first_copy(extent)[0];
	hash_for_each_possible(extents->by_page, shown, link,
			       (unsigned long)page) {
		other = run_first(shown->run);
		if (other->info.pages == extent->info.pages &&
		    !memcmp(other->pages, extent->pages,
			    array_size(extent->info.pages, sizeof(*extent->pages))))
			return other->run;
	}
	return NULL;
}

/*
 * Puts @run into the first gap that is large enough, like mtree_alloc_range(), which before 6.5
 * overlooks gaps.
 */
static int run_place(struct dart_extents *extents, struct dart_run *run)
{
	MA_STATE(mas, &extents->runs, 0, 0);
	int ret;

	mas_lock(&mas);
	ret = mas_empty_area(&mas, 0, dart_region_pages - 1, run->pages);
	if (!ret) {
		run->first = mas.index;
		ret = mas_store_gfp(&mas, run, GFP_KERNEL_ACCOUNT);
	}
	mas_unlock(&mas);
	return ret == -EBUSY ? -ENOSPC : ret;
}

static struct dart_run *run_new(struct dart_extents *extents, struct dart_extent *extent)
{
	struct dart_run *run;
	int ret;
	u32 i;

	run = kzalloc(struct_size(run, copy, extent->copy_pages), GFP_KERNEL_ACCOUNT);
	if (!run)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&run->extents);
	run->pages = extent->info.pages;
	run->copy_pages = extent->copy_pages;
	ret = run_place(extents, run);
	if (ret) {
		kfree(run);
		return ERR_PTR(ret);
	}

	for (i = 0; i < run->copy_pages; i++) {
		run->copy[i].run = run;
		run->copy[i].page = first_copy(extent)[i];
		hash_add(extents->by_page, &run->copy[i].link, (unsigned long)run->copy[i].page);
	}
	return run;
}

/* Frees the place for other runs.  May need memory. */
static int run_end(struct dart_extents *extents, struct dart_run *run)
{
	MA_STATE(mas, &extents->runs, run->first, run->first + run->pages - 1);
	int ret;
	u32 i;

	mas_lock(&mas);
	ret = mas_store_gfp(&mas, NULL, GFP_KERNEL_ACCOUNT);
	mas_unlock(&mas);
	if (ret)
		return ret;
	for (i = 0; i < run->copy_pages; i++)
		hash_del(&run->copy[i].link);
	return 0;
}

static struct dart_extent *find_payer(const struct dart_run *run, u64 payer)
{
	struct dart_extent *extent;

	list_for_each_entry(extent, &run->extents, same_run)
		if (extent->payer == payer)
			return extent;
	return NULL;
}

/*
 * True if one user, who may create namespaces at will, would take more than an eighth of the
 * region.  Pages that several users show count once for each of them.
 */
static bool is_over_quota(struct dart_extents *extents,
			  const struct dart_extent *added, bool is_charged)
{
	u64 pages = is_charged ? added->info.pages : 0;
	struct dart_extent *extent;
	u32 count = 1;

	if (!added->payer)
		return false;
	hash_for_each_possible(extents->by_payer, extent, by_payer,
			       added->payer) {
		if (extent->payer != added->payer)
			continue;
		count++;
		if (extent->is_charged)
			pages += extent->info.pages;
	}
	return count > DART_EXTENTS_MAX / 8 || pages > dart_region_pages / 8;
}

int dart_extents_add(struct dart_extents *extents, struct dart_extent *extent, u32 id, bool *is_new)
{
	struct dart_run *run;

	if (dart_extents_find_memory(extents, extent->memory))
		return -EEXIST;
	run = find_run(extents, extent);
	extent->is_charged = !run || !find_payer(run, extent->payer);
	if (is_over_quota(extents, extent, extent->is_charged))
		return -EDQUOT;
	if (extents->count == DART_EXTENTS_MAX)
		return -ENOSPC;
	*is_new = !run;
	if (!run)
		run = run_new(extents, extent);
	if (IS_ERR(run))
		return PTR_ERR(run);

	extent->run = run;
	extent->info.id = id;
	extent->info.offset = run->first << PAGE_SHIFT;
	extent->info.data += extent->info.offset;
	list_add_tail(&extent->same_run, &run->extents);
	hash_add(extents->by_id, &extent->by_id, id);
	hash_add(extents->by_memory, &extent->by_memory, (unsigned long)extent->memory);
	if (extent->payer)
		hash_add(extents->by_payer, &extent->by_payer, extent->payer);
	extents->count++;
	return 0;
}

static bool is_shown(struct dart_extents *extents, const struct page *page)
{
	const struct dart_run_page *shown;

	hash_for_each_possible(extents->by_page, shown, link, (unsigned long)page)
		if (shown->page == page)
			return true;
	return false;
}

/* The region itself may hold the pages that it continues to show. */
static void forget_shown(struct dart_extents *extents, struct dart_extent *extent)
{
	u64 at;
	u32 i;

	for (i = 0; i < extent->copy_pages; i++) {
		if (!is_shown(extents, first_copy(extent)[i]))
			continue;
		if (!dart_quarantine_may_omit(extent))
			return;
		for (at = i; at < extent->info.pages; at += extent->copy_pages)
			extent->pages[at] = NULL;
	}
}

int dart_extents_remove(struct dart_extents *extents, struct dart_extent *extent, bool *is_last)
{
	struct dart_run *run = extent->run;
	struct dart_extent *next_charged;
	int ret;

	*is_last = list_is_singular(&run->extents);
	if (*is_last) {
		ret = run_end(extents, run);
		if (ret)
			return ret;
	}

	list_del(&extent->same_run);
	hash_del(&extent->by_id);
	hash_del(&extent->by_memory);
	if (extent->payer)
		hash_del(&extent->by_payer);
	next_charged = extent->is_charged ? find_payer(run, extent->payer) : NULL;
	if (next_charged)
		next_charged->is_charged = true;
	extents->count--;
	extent->run = NULL;
	if (*is_last)
		kfree(run);
	forget_shown(extents, extent);
	return 0;
}
