// SPDX-License-Identifier: GPL-2.0-only
/* Pages of the region for gathered records. */
#include "record_pages.h"

#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <linux/dart_zero.h>

#include "extent.h"

#define PAGE_LINES	(PAGE_SIZE / DART_ZERO_RECORD_LINE)

struct dart_record_pages {
	refcount_t references;
	u32 page_count;
	u32 line_count;
	unsigned long *used;		/* by line */
	u32 sequence;			/* last sequence of all free lines */
	struct page *pages[];
};

static void pages_free(struct dart_record_pages *pages)
{
	u32 i;

	for (i = 0; i < pages->page_count; i++)
		__free_page(pages->pages[i]);
	bitmap_free(pages->used);
	kvfree(pages);
}

static void pages_put(void *held)
{
	struct dart_record_pages *pages = held;

	if (pages && refcount_dec_and_test(&pages->references))
		pages_free(pages);
}

static struct dart_record_pages *pages_new(u32 count)
{
	struct dart_record_pages *pages;
	struct page *page;

	pages = kvzalloc(struct_size(pages, pages, count), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	refcount_set(&pages->references, 1);
	pages->line_count = count * PAGE_LINES;
	pages->used = bitmap_zalloc(pages->line_count, GFP_KERNEL_ACCOUNT);
	if (!pages->used)
		goto err_pages;

	while (pages->page_count < count) {
		if (fatal_signal_pending(current))
			goto err_pages;
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			goto err_pages;
		pages->pages[pages->page_count++] = page;
		cond_resched();
	}
	return pages;

err_pages:
	pages_free(pages);
	return NULL;
}

static int pages_show(struct dart_extent *extent)
{
	const u32 count = extent->info.pages;
	struct dart_record_pages *pages = pages_new(count);

	if (!pages)
		return -ENOMEM;
	memcpy(extent->pages, pages->pages, array_size(count, sizeof(*pages->pages)));
	extent->held = pages;
	extent->memory = pages;
	extent->info.length = PAGE_SIZE;
	extent->info.stride = PAGE_SIZE;
	extent->info.copies = count;
	return 0;
}

static const struct dart_extent_kind records_kind = {
	.id = DART_ZERO_EXTENT_RECORDS,
	.show = pages_show,
	.release = pages_put,
};

struct dart_extent *dart_record_pages_open(u32 pages)
{
	return dart_extent_new(&records_kind, NULL, pages);
}

struct dart_record_pages *dart_record_pages_of(const struct dart_extent *extent)
{
	return extent->kind == &records_kind ? extent->held : NULL;
}

int dart_record_pages_take(struct dart_record_pages *pages, u32 lines, u32 *first, u32 *sequence)
{
	unsigned long at;

	at = bitmap_find_next_zero_area(pages->used, pages->line_count, 0, lines, 0);
	if (at >= pages->line_count)
		return -ENOSPC;
	bitmap_set(pages->used, at, lines);
	refcount_inc(&pages->references);
	*first = at;
	*sequence = pages->sequence;
	return 0;
}

void dart_record_pages_give(struct dart_record_pages *pages, u32 first, u32 lines, u32 sequence)
{
	/* Sequences wrap around: at an interval of 10 ms after 248 days. */
	const s32 ahead = sequence - pages->sequence;

	if (ahead > 0)
		pages->sequence = sequence;
	bitmap_clear(pages->used, first, lines);
	pages_put(pages);
}

struct dart_zero_record_line *
dart_record_pages_lines(const struct dart_record_pages *pages, u32 line, u32 *count)
{
	*count = min_t(u32, *count, PAGE_LINES - line % PAGE_LINES);
	return page_address(pages->pages[line / PAGE_LINES]) +
	       line % PAGE_LINES * DART_ZERO_RECORD_LINE;
}
